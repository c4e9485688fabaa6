package console

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/store"
	"commander/views/ui"
)

const (
	// logTail is how many lines of a log a page begins with; the rest is in the download.
	logTail = 1000
	// logChunks is how many chunks are read from the database at once.
	logChunks = 200
)

// troubled marks lines that "jump to first error" leads to.
var troubled = regexp.MustCompile(`(?i)\b(error|fatal|panic|failed)\b`)

// tail is the end of a log.
type tail struct {
	lines   []ui.Line
	earlier int
	seq     int64 // of the last chunk, where live pages go on
}

// eachChunk reads a log from after a chunk to its end.
func (c *Console) eachChunk(ctx context.Context, who fleet.Actor, task uuid.UUID, after int, take func(store.TaskLog)) error {
	for {
		chunks, err := c.Fleet.TaskLog(ctx, who, task, after, logChunks)
		if err != nil {
			return err
		}
		for _, chunk := range chunks {
			take(chunk)
			after = chunk.Seq
		}
		if len(chunks) < logChunks {
			return nil
		}
	}
}

func (c *Console) tail(ctx context.Context, who fleet.Actor, task uuid.UUID) (tail, error) {
	return c.logAfter(ctx, who, task, 0)
}

// logAfter reads what a log has after a chunk, its end if that is too much.
func (c *Console) logAfter(ctx context.Context, who fleet.Actor, task uuid.UUID, after int64) (tail, error) {
	t := tail{seq: after}
	err := c.eachChunk(ctx, who, task, int(after), func(chunk store.TaskLog) {
		t.lines = append(t.lines, linesOf(chunk)...)
		if extra := len(t.lines) - logTail; extra > 0 {
			t.lines, t.earlier = t.lines[extra:], t.earlier+extra
		}
		t.seq = int64(chunk.Seq)
	})
	return t, err
}

// linesOf are the lines of a chunk with their numbers.
func linesOf(chunk store.TaskLog) []ui.Line {
	texts := strings.Split(chunk.Body, "\n")
	lines := make([]ui.Line, len(texts))
	for i, text := range texts {
		lines[i] = ui.Line{N: chunk.Line + i, At: chunk.At, Text: text, Error: troubled.MatchString(text)}
	}
	return lines
}

// TaskLog answers with the whole log of a task as a text file.
func (c *Console) TaskLog(w http.ResponseWriter, r *http.Request) error {
	task, err := id(r)
	if err != nil {
		return err
	}
	if _, err := c.Fleet.Task(r.Context(), actor(r), task); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="task-`+task.String()+`.log"`)
	h.Set("Cache-Control", "no-store")
	return c.eachChunk(r.Context(), actor(r), task, 0, func(chunk store.TaskLog) {
		stamp := chunk.At.UTC().Format(time.RFC3339) + " "
		for line := range strings.SplitSeq(chunk.Body, "\n") {
			_, _ = w.Write([]byte(stamp + line + "\n")) // an error here is a browser that went away
		}
	})
}
