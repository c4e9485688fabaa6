package console

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/store"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/tasks"
	"commander/views/ui"
)

const (
	// logTail is how many lines of a log a page shows at once.
	logTail = 1000
	// logAround is how many lines a page shows before the one that was asked for.
	logAround = 200
	// logChunks is how many chunks are read from the database at once.
	logChunks = 200
)

// logPart is what a page shows of a log.
type logPart struct {
	lines []ui.Line
	later bool
	found int
	seq   int64 // of the last chunk, where live pages go on
}

// earlier is how many lines stand before the part.
func (p logPart) earlier() int {
	if len(p.lines) == 0 {
		return 0
	}
	return p.lines[0].N - 1
}

// eachChunk reads a log from its beginning to its end.
func (c *Console) eachChunk(ctx context.Context, who fleet.Actor, task uuid.UUID, take func(store.TaskLog)) error {
	for after := 0; ; {
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

// logAfter reads what a log has after a chunk, its end if that is too much.
func (c *Console) logAfter(ctx context.Context, who fleet.Actor, task uuid.UUID, after int64) (logPart, error) {
	p := logPart{seq: after}
	chunks, err := c.Fleet.TaskLogEnd(ctx, who, task, int(after), logTail)
	for _, chunk := range chunks {
		p.lines, p.seq = append(p.lines, linesOf(chunk)...), int64(chunk.Seq)
	}
	p.lines = p.lines[max(0, len(p.lines)-logTail):]
	return p, err
}

// logAsked reads the part of a log that a page's address asks for: what stands around a line, what
// comes from a line on, or the end.
func (c *Console) logAsked(ctx context.Context, who fleet.Actor, task uuid.UUID, asked url.Values) (logPart, error) {
	end, err := c.logAfter(ctx, who, task, 0)
	if err != nil || len(end.lines) == 0 {
		return end, err
	}
	first, found := lineNumber(asked.Get("from")), lineNumber(asked.Get("line"))
	if found > 0 {
		first = max(1, found-logAround)
	}
	last := end.lines[len(end.lines)-1].N
	if first <= 0 || first > last || found > last {
		return end, nil
	}
	p := logPart{seq: end.seq, found: found}
	if first > end.earlier() {
		p.lines = end.lines[first-end.lines[0].N:]
		if found > 0 {
			p.lines = end.lines
		}
		return p, nil
	}
	chunks, err := c.Fleet.TaskLogFrom(ctx, who, task, first, logTail)
	for _, chunk := range chunks {
		for _, line := range linesOf(chunk) {
			if line.N >= first && line.N < first+logTail {
				p.lines = append(p.lines, line)
			}
		}
	}
	p.later = len(p.lines) > 0 && p.lines[len(p.lines)-1].N < last
	return p, err
}

// lineNumber reads a number of an address, 0 for what is none.
func lineNumber(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// linesOf are the lines of a chunk with their numbers.
func linesOf(chunk store.TaskLog) []ui.Line {
	texts := strings.Split(chunk.Body, "\n")
	lines := make([]ui.Line, len(texts))
	for i, text := range texts {
		lines[i] = ui.Line{N: chunk.Line + i, At: chunk.At, Text: text, Error: fleet.Troubled(text)}
	}
	return lines
}

// TaskTrouble leads to the first line of a log that tells of an error.
func (c *Console) TaskTrouble(w http.ResponseWriter, r *http.Request) error {
	task, err := id(r)
	if err != nil {
		return err
	}
	line, err := c.Fleet.FirstTrouble(r.Context(), actor(r), task)
	if err != nil {
		return err
	}
	to := paths.Task(task.String())
	if line > 0 {
		to = paths.TaskLine(task.String(), line)
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// SearchTaskLog finds lines in the whole of a log.
func (c *Console) SearchTaskLog(w http.ResponseWriter, r *http.Request) error {
	taskID, err := id(r)
	if err != nil {
		return err
	}
	view, err := c.Fleet.Task(r.Context(), actor(r), taskID)
	if err != nil {
		return err
	}
	asked := r.URL.Query()
	hits := tasks.Hits{ID: taskID.String(), Text: strings.TrimSpace(asked.Get("q")), From: lineNumber(asked.Get("from"))}
	found, next, err := c.Fleet.SearchTaskLog(r.Context(), actor(r), taskID, hits.Text, hits.From)
	if err != nil {
		return err
	}
	hits.Next = next
	for _, hit := range found {
		hits.Lines = append(hits.Lines, ui.Line{N: hit.Line, At: hit.At, Text: shortened(hit.Text)})
	}
	return c.show(w, r, http.StatusOK, page{
		title: i18n.M("log.search_title"), section: layout.SectionTasks, workspace: &view.Workspace,
		content: tasks.SearchBody(ui.TaskKind(string(view.Kind)), view.Cluster.Name, hits), fragment: tasks.LogHits(hits),
	})
}

// longestHit bounds what is shown of a line that a search has found, in characters.
const longestHit = 400

func shortened(text string) string {
	runes := []rune(text)
	if len(runes) <= longestHit {
		return text
	}
	return string(runes[:longestHit]) + "…"
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
	return c.eachChunk(r.Context(), actor(r), task, func(chunk store.TaskLog) {
		stamp := chunk.At.UTC().Format(time.RFC3339) + " "
		for line := range strings.SplitSeq(chunk.Body, "\n") {
			_, _ = w.Write([]byte(stamp + line + "\n")) // an error here is a browser that went away
		}
	})
}
