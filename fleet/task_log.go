package fleet

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"commander/store"
)

var troubled = regexp.MustCompile(`(?i)\b(error|fatal|panic|failed)\b`)

// Troubled reports whether a line of a log tells of an error.
func Troubled(line string) bool { return troubled.MatchString(line) }

// chunkTries is how often a chunk is written when somebody else writes to the same log at the same
// moment and takes its place: the task checker does, once in the life of an attempt.
const chunkTries = 3

// AppendLog adds lines to the log of an attempt's task; they must have passed a Redactor. The parts
// of an attempt's log have numbers from 1, and one that is there already is not written again: a
// caller that did not get an answer repeats the same lines under the same number.
func (f *Fleet) AppendLog(ctx context.Context, d Delivery, part int, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	// PostgreSQL's text holds no NUL, and must be valid UTF-8.
	body := strings.ToValidUTF8(strings.ReplaceAll(strings.Join(lines, "\n"), "\x00", ""), "\uFFFD")
	lines = strings.Split(body, "\n")
	chunk := store.AppendTaskLogParams{
		TaskID: d.TaskID, Attempt: d.Attempt, Lines: len(lines), Body: body, Part: &part,
		Troubled: slices.IndexFunc(lines, Troubled) + 1,
	}
	var err error
	for range chunkTries {
		if _, err = f.Store.AppendTaskLog(ctx, chunk); !store.Unique(err, "task_logs_pkey") && !store.Unique(err, "task_logs_line") {
			break
		}
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrSuperseded
	}
	if err != nil {
		return fmt.Errorf("write the log of task %s: %w", d.TaskID, store.AsFault(err))
	}
	f.Store.Publish(store.TaskTopic(d.TaskID))
	return nil
}

// mayRead fails for who may not see a task, and with that its log.
func (f *Fleet) mayRead(ctx context.Context, actor Actor, task uuid.UUID) error {
	row, err := f.Store.Task(ctx, task)
	if err != nil {
		return store.AsFault(err)
	}
	return Allowed(actor, TasksView, row.Task.WorkspaceID)
}

// TaskLog reads the log of a task after a chunk, oldest first. The permission is that of Task.
func (f *Fleet) TaskLog(ctx context.Context, actor Actor, id uuid.UUID, afterSeq, chunks int) ([]store.TaskLog, error) {
	if err := f.mayRead(ctx, actor, id); err != nil {
		return nil, err
	}
	log, err := f.Store.TaskLog(ctx, store.TaskLogParams{TaskID: id, AfterSeq: afterSeq, Chunks: chunks})
	return log, store.AsFault(err)
}

// logChunks is how many chunks of a log are read at once.
const logChunks = 200

// TaskLogEnd reads the last chunks of a log after one, oldest first, enough for a number of lines.
func (f *Fleet) TaskLogEnd(ctx context.Context, actor Actor, id uuid.UUID, afterSeq, lines int) ([]store.TaskLog, error) {
	if err := f.mayRead(ctx, actor, id); err != nil {
		return nil, err
	}
	var found []store.TaskLog
	const last = 1<<31 - 1
	for before := last; lines > 0; {
		chunks, err := f.Store.TaskLogEnd(ctx, store.TaskLogEndParams{TaskID: id, BeforeSeq: before, Chunks: logChunks})
		if err != nil {
			return nil, store.AsFault(err)
		}
		for _, chunk := range chunks {
			if chunk.Seq <= afterSeq || lines <= 0 {
				lines = 0
				break
			}
			found = append(found, chunk)
			before, lines = chunk.Seq, lines-chunk.Lines
		}
		if len(chunks) < logChunks {
			break
		}
	}
	slices.Reverse(found)
	return found, nil
}

// TaskLogFrom reads the chunks of a log from the one that has a line, oldest first, enough for a
// number of lines from that line.
func (f *Fleet) TaskLogFrom(ctx context.Context, actor Actor, id uuid.UUID, line, lines int) ([]store.TaskLog, error) {
	if err := f.mayRead(ctx, actor, id); err != nil {
		return nil, err
	}
	var found []store.TaskLog
	for from, end := line, line+lines; from < end; {
		chunks, err := f.Store.TaskLogFrom(ctx, store.TaskLogFromParams{TaskID: id, FirstLine: from, Chunks: logChunks})
		if err != nil {
			return nil, store.AsFault(err)
		}
		for _, chunk := range chunks {
			if chunk.Line >= end {
				break
			}
			found = append(found, chunk)
			from = chunk.Line + chunk.Lines
		}
		if len(chunks) < logChunks {
			break
		}
	}
	return found, nil
}

// TaskLogLines tells how many lines a log has.
func (f *Fleet) TaskLogLines(ctx context.Context, actor Actor, id uuid.UUID) (int, error) {
	if err := f.mayRead(ctx, actor, id); err != nil {
		return 0, err
	}
	lines, err := f.Store.TaskLogLines(ctx, id)
	return lines, store.AsFault(err)
}

// FirstTrouble is the number of the first line of a log that tells of an error, 0 when none does.
func (f *Fleet) FirstTrouble(ctx context.Context, actor Actor, id uuid.UUID) (int, error) {
	if err := f.mayRead(ctx, actor, id); err != nil {
		return 0, err
	}
	chunk, err := f.Store.FirstTroubledChunk(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return chunk.Line + chunk.Troubled - 1, store.AsFault(err)
}

// LogHit is a line of a log that holds what was searched for.
type LogHit struct {
	Line int
	At   time.Time
	Text string
}

const (
	// mostHits is how many lines one search finds.
	mostHits = 100
	// searchLines is how many lines one search looks at, so that its time has a bound: a search
	// that finds nothing in so many takes about a third of a second.
	searchLines = 200_000
)

// SearchTaskLog finds lines that hold a text, whatever its case, from a line on. next is the line
// from which a further search goes on, 0 at the end of the log.
func (f *Fleet) SearchTaskLog(ctx context.Context, actor Actor, id uuid.UUID, text string, from int) (hits []LogHit, next int, err error) {
	if err := f.mayRead(ctx, actor, id); err != nil {
		return nil, 0, err
	}
	total, err := f.Store.TaskLogLines(ctx, id)
	if err != nil || text == "" {
		return nil, 0, store.AsFault(err)
	}
	runes := []rune(strings.ToLower(text))
	text = string(runes[:min(len(runes), longestSearch)])
	from = max(from, 1)
	until := from + searchLines
	chunks, err := f.Store.SearchTaskLog(ctx, store.SearchTaskLogParams{
		TaskID: id, FirstLine: from, UntilLine: until, Text: text, Chunks: mostHits + 1,
	})
	if err != nil {
		return nil, 0, store.AsFault(err)
	}
	for _, chunk := range chunks {
		for i, line := range strings.Split(chunk.Body, "\n") {
			if chunk.Line+i < from || !strings.Contains(strings.ToLower(line), text) {
				continue
			}
			if len(hits) == mostHits {
				return hits, chunk.Line + i, nil
			}
			hits = append(hits, LogHit{chunk.Line + i, chunk.At, line})
		}
	}
	if until <= total {
		return hits, until, nil
	}
	return hits, 0, nil
}
