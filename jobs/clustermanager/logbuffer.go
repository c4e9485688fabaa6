package clustermanager

import (
	"sync"
	"time"
)

// logBuffer gathers lines and writes them in chunks, so that a chatty installer costs a few rows
// a second. One goroutine writes; stop waits for it.
type logBuffer struct {
	write func(part int, lines []string) error
	parts int        // that were written; of the goroutine
	mu    sync.Mutex // protects lines
	lines []string
	more  chan struct{}
	quit  chan struct{}
	done  chan struct{}
}

const (
	flushEvery = 150 * time.Millisecond
	// chunkLines bounds a chunk; mostLines bounds what waits while the database is away.
	chunkLines = 500
	mostLines  = 50_000
)

func newLogBuffer(write func(part int, lines []string) error) *logBuffer {
	b := &logBuffer{write: write, more: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
	go b.run()
	return b
}

func (b *logBuffer) add(lines []string) {
	b.mu.Lock()
	b.lines = append(b.lines, lines...)
	if over := len(b.lines) - mostLines; over > 0 {
		b.lines = append([]string{"… lines were left out here"}, b.lines[over+1:]...)
	}
	b.mu.Unlock()
	select {
	case b.more <- struct{}{}:
	default:
	}
}

// stop writes what is left and ends the goroutine.
func (b *logBuffer) stop() {
	close(b.quit)
	<-b.done
}

func (b *logBuffer) run() {
	defer close(b.done)
	for {
		select {
		case <-b.quit:
			b.flush()
			return
		case <-b.more:
		}
		b.flush()
		select {
		case <-b.quit:
			b.flush()
			return
		case <-time.After(flushEvery):
		}
	}
}

func (b *logBuffer) flush() {
	for {
		b.mu.Lock()
		lines := b.lines
		if len(lines) > chunkLines {
			lines = lines[:chunkLines]
		}
		b.lines = b.lines[len(lines):]
		b.mu.Unlock()
		if len(lines) == 0 {
			return
		}
		b.parts++
		if b.write(b.parts, lines) != nil {
			return // the attempt was superseded or ends: its log belongs to nobody
		}
	}
}
