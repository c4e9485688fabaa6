package cloud

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kind is what a caller may conclude from an error; see the package comment.
type Kind string

// The kinds of errors.
const (
	NotFound    Kind = "not found"
	Quota       Kind = "quota"
	Conflict    Kind = "conflict"
	Forbidden   Kind = "forbidden"
	Invalid     Kind = "invalid"
	Failed      Kind = "failed"
	Unreachable Kind = "unreachable"
)

// Error is an error with what may be concluded from it.
type Error struct {
	Kind  Kind
	Doing string // what was done to which object, such as: read VirtualDisk "a"
	Cause error
}

// Error tells what was done, and the cause in its own words.
func (e *Error) Error() string { return e.Doing + ": " + e.Cause.Error() }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// KindOf says what may be concluded: of an error that is not ours, that nothing is known. It is
// empty for nil.
func KindOf(err error) Kind {
	var known *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &known):
		return known.Kind
	}
	return Unreachable
}

// Is says whether an error is of a kind.
func Is(err error, kind Kind) bool { return KindOf(err) == kind }

// failf makes an error of our own judgement.
func failf(kind Kind, doing, format string, args ...any) error {
	return &Error{kind, doing, fmt.Errorf(format, args...)}
}

// judge gives an answer of the API its kind. Resource and name are the object that was asked for.
func judge(err error, doing, resource, name string) error {
	if err == nil {
		return nil
	}
	return &Error{kindOf(err, resource, name), doing, err}
}

func kindOf(err error, resource, name string) Kind {
	switch reason, text := apierrors.ReasonForError(err), err.Error(); {
	case reason == metav1.StatusReasonNotFound && names(err, resource, name):
		return NotFound
	case reason == metav1.StatusReasonAlreadyExists, reason == metav1.StatusReasonConflict:
		return Conflict
	case reason == metav1.StatusReasonForbidden && strings.Contains(text, "exceeded quota"):
		return Quota
	case strings.Contains(text, "denied the request"): // a webhook's, whatever code it chose
		return Invalid
	case reason == metav1.StatusReasonForbidden, reason == metav1.StatusReasonUnauthorized:
		return Forbidden
	case reason == metav1.StatusReasonInvalid, reason == metav1.StatusReasonBadRequest:
		return Invalid
	}
	return Unreachable
}

// names says whether an answer speaks of this very object. Of one that does not come from an API
// server, such as the page of a proxy, the client makes an error that names what was asked for.
func names(err error, resource, name string) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || apierrors.IsUnexpectedServerError(err) {
		return false
	}
	details := status.Status().Details
	return details != nil && details.Kind == resource && details.Name == name
}
