package config

import (
	"encoding"
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// option is one field of a configuration; it is a flag.Value that writes to the field.
type option struct {
	name, env, help, fallback string
	required, secret          bool
	oneof                     []string
	field                     reflect.Value
}

// optionsOf lists the fields with a flag tag in the struct that into points to.
func optionsOf(prefix string, into any) ([]*option, error) {
	v := reflect.ValueOf(into)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil, fmt.Errorf("read configuration: %T is no struct", into)
	}
	return walk(prefix, v), nil
}

func walk(prefix string, v reflect.Value) []*option {
	var found []*option
	for i := range v.NumField() {
		field, tag := v.Field(i), v.Type().Field(i).Tag
		name, tagged := tag.Lookup("flag")
		if !tagged {
			if field.Kind() == reflect.Struct {
				found = append(found, walk(prefix, field)...)
			}
			continue
		}
		o := &option{
			name: name, env: tag.Get("env"), help: tag.Get("help"), fallback: tag.Get("default"),
			required: tag.Get("required") == "true", secret: tag.Get("secret") == "true",
			oneof: strings.Fields(tag.Get("oneof")), field: field,
		}
		if o.env == "" {
			o.env = prefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		}
		found = append(found, o)
	}
	return found
}

// Set parses a value into the field.
func (o *option) Set(value string) error {
	if text, ok := o.field.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return text.UnmarshalText([]byte(value))
	}
	var err error
	switch target := o.field.Addr().Interface().(type) {
	case *string:
		*target = value
	case *bool:
		*target, err = strconv.ParseBool(value)
	case *int:
		*target, err = strconv.Atoi(value)
	case *int64:
		*target, err = strconv.ParseInt(value, 10, 64)
	case *float64:
		*target, err = strconv.ParseFloat(value, 64)
	case *time.Duration:
		*target, err = time.ParseDuration(value)
	case *[]string:
		*target = nil
		for item := range strings.SplitSeq(value, ",") {
			if item = strings.TrimSpace(item); item != "" {
				*target = append(*target, item)
			}
		}
	default:
		err = fmt.Errorf("type %s cannot be configured", o.field.Type())
	}
	return err
}

// String is the present value, empty if it was never set.
func (o *option) String() string {
	if o == nil || !o.field.IsValid() || o.field.IsZero() {
		return ""
	}
	if list, ok := o.field.Interface().([]string); ok {
		return strings.Join(list, ",")
	}
	return fmt.Sprint(o.field.Interface())
}

// IsBoolFlag lets the flag package accept --name without a value.
func (o *option) IsBoolFlag() bool { return o.field.Kind() == reflect.Bool }

func (o *option) printable() string {
	value := o.String()
	if o.secret && value != "" {
		return "***"
	}
	if address, err := url.Parse(value); err == nil && address.User != nil {
		return address.Redacted()
	}
	return value
}
