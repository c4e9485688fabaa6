package csi

import (
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// locks keep calls about one volume apart. The zero value is ready to use.
type locks struct {
	mu   sync.Mutex // protects held
	held map[string]bool
}

// take begins work on a volume. It does not wait: who comes second is told so and comes again.
func (l *locks) take(volume string) (release func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[volume] {
		return nil, status.Errorf(codes.Aborted, "another call about volume %s is not finished", volume)
	}
	if l.held == nil {
		l.held = map[string]bool{}
	}
	l.held[volume] = true
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.held, volume)
	}, nil
}
