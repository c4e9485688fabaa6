package csi

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"commander/agents/dvp/cloud"
)

// answer turns an error of DVP into the code that the CSI specification has for it.
func answer(err error) error {
	if err == nil {
		return nil
	}
	return status.Error(codeOf(err), err.Error())
}

func codeOf(err error) codes.Code {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return codes.DeadlineExceeded
	case errors.Is(err, context.Canceled):
		return codes.Canceled
	}
	switch cloud.KindOf(err) {
	case cloud.NotFound:
		return codes.NotFound
	case cloud.Quota:
		return codes.ResourceExhausted
	case cloud.Conflict:
		return codes.Aborted
	case cloud.Forbidden:
		return codes.PermissionDenied
	case cloud.Invalid:
		return codes.InvalidArgument
	case cloud.Failed:
		return codes.Internal
	case cloud.Unreachable:
		return codes.Unavailable
	}
	return codes.Unavailable
}
