package render

import "reflect"

var errorType = reflect.TypeFor[error]()

// weighed is a function whose arguments and result are paid for. Some must be paid for before they
// are made: bound tells how large the result will be, and is nil where it is about as large as what
// goes in.
func (b *Budget) weighed(function any, bound func(args []any) int) any {
	return wrapped(function, func(args []reflect.Value, variadic bool) error {
		for _, arg := range args {
			if err := b.weigh(arg); err != nil {
				return err
			}
		}
		if bound == nil {
			return nil
		}
		return b.pay(bound(flat(args, variadic)))
	}, b.weigh)
}

// counted is a function that is paid for by the number of values in its lists and dictionaries.
func (b *Budget) counted(function any) any {
	return wrapped(function, func(args []reflect.Value, variadic bool) error {
		total := 0
		for _, arg := range flat(args, variadic) {
			total += 1 + length([]any{arg}, 0)
		}
		return b.pay(total)
	}, func(reflect.Value) error { return nil })
}

// wrapped is a function that is called after something was paid, and whose result is checked.
func wrapped(function any, pay func(args []reflect.Value, variadic bool) error, check func(reflect.Value) error) any {
	f := reflect.ValueOf(function)
	kind := f.Type()
	in := make([]reflect.Type, kind.NumIn())
	for i := range in {
		in[i] = kind.In(i)
	}
	made := kind.Out(0)
	return reflect.MakeFunc(reflect.FuncOf(in, []reflect.Type{made, errorType}, kind.IsVariadic()), func(args []reflect.Value) []reflect.Value {
		fail := func(err error) []reflect.Value {
			return []reflect.Value{reflect.Zero(made), reflect.ValueOf(&err).Elem()}
		}
		if err := pay(args, kind.IsVariadic()); err != nil {
			return fail(err)
		}
		var out []reflect.Value
		if kind.IsVariadic() {
			out = f.CallSlice(args)
		} else {
			out = f.Call(args)
		}
		if len(out) > 1 && !out[1].IsNil() {
			return out
		}
		if err := check(out[0]); err != nil {
			return fail(err)
		}
		return []reflect.Value{out[0], reflect.Zero(errorType)}
	}).Interface()
}

// flat are the arguments of a call one by one.
func flat(args []reflect.Value, variadic bool) []any {
	var out []any
	for i, arg := range args {
		if variadic && i == len(args)-1 {
			for k := range arg.Len() {
				out = append(out, arg.Index(k).Interface())
			}
			continue
		}
		out = append(out, arg.Interface())
	}
	return out
}
