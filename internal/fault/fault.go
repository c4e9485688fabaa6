// Package fault is the one error type from the bottom to the edge: a kind that decides the
// answer, a key that is translated where people read it, and a cause that only the log sees.
package fault

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Kind says what an error means for whoever asked.
type Kind string

// The kinds, each with one place in the table of HTTP answers.
const (
	Invalid         Kind = "invalid"         // the request can be mended by the asker: 422 for pages, 400 or 422 for the API
	NotFound        Kind = "not_found"       // unknown, or not the asker's to know about: 404
	Conflict        Kind = "conflict"        // somebody was faster, or the state forbids it now: 409
	Forbidden       Kind = "forbidden"       // known asker without the right: 403
	Unauthenticated Kind = "unauthenticated" // unknown asker: 401
	Unavailable     Kind = "unavailable"     // something this depends on is away; asking again helps: 503
	Internal        Kind = "internal"        // a fault of ours: 500
)

// Message is a text that is translated at the edge: a key of the message catalog and its arguments.
type Message struct {
	Key  string `json:"key"`
	Args []any  `json:"args,omitempty"`
}

// Error is a fault on its way to the edge.
type Error struct {
	Kind Kind
	Message
	// Fields holds a problem a form field or parameter, by the field's key.
	Fields map[string]Message
	// Cause is what happened below; it is logged and never shown.
	Cause error
}

// New makes a fault of a kind with a message key and its arguments.
func New(kind Kind, key string, args ...any) *Error {
	return &Error{Kind: kind, Message: Message{Key: key, Args: args}}
}

// Wrap makes a fault of a kind out of a cause.
func Wrap(kind Kind, cause error, key string, args ...any) *Error {
	return &Error{Kind: kind, Message: Message{Key: key, Args: args}, Cause: cause}
}

// Fields makes an Invalid fault that names what is wrong with each field.
func Fields(fields map[string]Message) *Error {
	return &Error{Kind: Invalid, Message: Message{Key: "fault.fields"}, Fields: fields}
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Key)
	if len(e.Args) > 0 {
		fmt.Fprintf(&b, "%v", e.Args)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Fields)) {
		fmt.Fprintf(&b, "; %s: %s%v", name, e.Fields[name].Key, e.Fields[name].Args)
	}
	if e.Cause != nil {
		b.WriteString(": ")
		b.WriteString(e.Cause.Error())
	}
	return b.String()
}

// Unwrap gives the cause to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Cause }

// KindOf tells the kind of an error; what is not a fault is Internal, and nil has no kind.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	var f *Error
	if errors.As(err, &f) {
		return f.Kind
	}
	return Internal
}

// Is reports whether an error is a fault of the kind.
func Is(err error, kind Kind) bool { return err != nil && KindOf(err) == kind }
