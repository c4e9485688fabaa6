package apiserver

import (
	"bytes"
	"sync"
)

// lines is a log that can be read while it is written.
type lines struct {
	mu   sync.Mutex // protects text
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
