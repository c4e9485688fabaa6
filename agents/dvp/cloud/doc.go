// Package cloud is the one way to DVP: all parts of the provider reach machines, disks and
// attachments of their project through it and act on its typed errors.
//
// # Errors are a contract
//
// Every error is, or wraps, an *Error whose Kind says what the caller may conclude:
//
//   - NotFound: DVP's API said that this very object does not exist. Only this answer, given again
//     after a pause (see Gone), permits to remove anything that stands for the object: a Node, a
//     finalizer, a record. A 404 that names another object or none, as proxies and an API without
//     the kind give it, is Unreachable.
//   - Quota: a quota or a limit is used up. Nothing was made. Worth a retry when somebody frees
//     something, so slowly; to be shown to a person.
//   - Conflict: somebody else changed or made the object first. Read it again, then decide.
//   - Forbidden: our credentials are refused or lack a right. A retry does not help before a person
//     does something. It says nothing about whether the object exists.
//   - Invalid: DVP understood the request and will never accept it as it is.
//   - Failed: DVP accepted the request and could not fulfil it; the object is in a state that it does
//     not leave by itself.
//   - Unreachable: everything else: no answer, an overloaded API, an answer that makes no sense.
//     Nothing is known; keep what is there and try again with a growing pause.
//
// The cause stays visible to errors.Is and errors.As: an ended context is context.DeadlineExceeded
// or context.Canceled inside an Unreachable.
package cloud
