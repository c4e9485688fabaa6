package fleet_test

import (
	"fmt"
	"strings"
	"testing"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/internal/fault"
	"commander/store"
	"commander/store/storetest"
)

// claimed is a task that a worker has.
func claimed(t *testing.T, b *fleettest.Bench) fleet.Delivery {
	t.Helper()
	_, task := b.Create(t, "talkative", nil)
	d := fleet.Delivery{TaskID: task.ID, Attempt: 1}
	if _, err := b.Claim(t.Context(), d, "worker"); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestALogHoldsLinesInOrderWithTheirNumbers(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	_, task := b.Create(t, "talkative", nil)
	d := fleet.Delivery{TaskID: task.ID, Attempt: 1}
	if err := b.AppendLog(t.Context(), d, 1, []string{"one", "two"}); err != nil {
		t.Fatal(err)
	}
	if err := b.AppendLog(t.Context(), d, 2, []string{"bad \xff and \x00"}); err != nil {
		t.Fatal(err)
	}
	chunks, err := b.TaskLog(t.Context(), b.Viewer, task.ID, 0, 10)
	if err != nil || len(chunks) != 2 || chunks[1].Line != 3 || chunks[1].Body != "bad \uFFFD and " {
		t.Errorf("got %+v, %v", chunks, err)
	}
	if _, err := b.TaskLog(t.Context(), b.Stranger, task.ID, 0, 10); !fault.Is(err, fault.NotFound) {
		t.Errorf("a stranger: got %v", err)
	}
}

// TestALogChunkIsWrittenOnce loses the answer of a commit: whoever writes the chunk again does not
// write it twice, and what follows has the numbers after it.
func TestALogChunkIsWrittenOnce(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	d := claimed(t, b)
	broken := *b.Fleet
	var relay *storetest.Relay
	broken.Store, relay = storetest.Through(t, b.Store)
	if err := broken.AppendLog(t.Context(), d, 1, []string{"one", "two"}); err != nil {
		t.Fatal(err)
	}
	relay.LoseAnswer("SELECT 1")
	if err := broken.AppendLog(t.Context(), d, 2, []string{"three"}); !fault.Is(err, fault.Unavailable) || !relay.Lost() {
		t.Fatalf("the answer is lost: got %v, lost %v", err, relay.Lost())
	}
	if chunks, err := b.TaskLog(t.Context(), b.Viewer, d.TaskID, 1, 10); err != nil || len(chunks) != 1 || chunks[0].Body != "three" {
		t.Fatalf("it was committed: got %+v, %v", chunks, err)
	}
	for part, lines := range [][]string{{"one", "two"}, {"three"}, {"four"}} {
		if err := broken.AppendLog(t.Context(), d, part+1, lines); err != nil {
			t.Fatalf("part %d: %v", part+1, err)
		}
	}
	chunks, err := b.TaskLog(t.Context(), b.Viewer, d.TaskID, 0, 10)
	if err != nil || len(chunks) != 3 || chunks[2].Line != 4 || chunks[2].Body != "four" {
		t.Errorf("got %+v, %v", chunks, err)
	}
}

// TestALogIsWrittenByTwoAtOnce lets a worker write while the checker explains the loss of its task.
func TestALogIsWrittenByTwoAtOnce(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	d := claimed(t, b)
	conn, err := b.Store.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "insert into task_logs (task_id, seq, line, lines, body) values ($1, 1, 1, 1, 'of somebody else')", d.TaskID); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- b.AppendLog(t.Context(), d, 1, []string{"mine"}) }()
	for waits := false; !waits; { // for the other's commit
		if err := b.Store.Pool.QueryRow(t.Context(), `select exists (select from pg_locks l join pg_stat_activity a using (pid)
			where a.datname = current_database() and l.locktype = 'transactionid' and not l.granted)`).Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	chunks, err := b.TaskLog(t.Context(), b.Viewer, d.TaskID, 0, 10)
	if err != nil || len(chunks) != 2 || chunks[1].Line != 2 || chunks[1].Body != "mine" {
		t.Errorf("got %+v, %v", chunks, err)
	}
}

// TestALongLogIsFoundIn looks for lines anywhere in a log of 200,000.
func TestALongLogIsFoundIn(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	d := claimed(t, b)
	const lines, chunk = 200_000, 500
	for part := range lines / chunk {
		body := make([]string, chunk)
		for i := range body {
			body[i] = fmt.Sprintf("step %d of the installation goes as it should", part*chunk+i+1)
		}
		switch part {
		case 77:
			body[8] = "ERROR: there is no Quota for it"
		case 300:
			body[9] = "failed: no quota again"
		}
		if err := b.AppendLog(t.Context(), d, part+1, body); err != nil {
			t.Fatal(err)
		}
	}
	if line, err := b.FirstTrouble(t.Context(), b.Viewer, d.TaskID); err != nil || line != 77*chunk+9 {
		t.Errorf("first trouble: got line %d, %v", line, err)
	}
	if _, err := b.FirstTrouble(t.Context(), b.Stranger, d.TaskID); !fault.Is(err, fault.NotFound) {
		t.Errorf("a stranger: got %v", err)
	}
	hits, next, err := b.SearchTaskLog(t.Context(), b.Viewer, d.TaskID, "QUOTA", 0)
	if err != nil || next != 0 || len(hits) != 2 || hits[0].Line != 77*chunk+9 || hits[1].Line != 300*chunk+10 || hits[1].Text != "failed: no quota again" {
		t.Errorf("got %+v, next %d, %v", hits, next, err)
	}
	if hits, _, _ := b.SearchTaskLog(t.Context(), b.Viewer, d.TaskID, "quota", 77*chunk+10); len(hits) != 1 {
		t.Errorf("from the line after the first: got %+v", hits)
	}
	seen := map[int]bool{}
	for from, pages := 1, 0; from != 0; pages++ {
		hits, next, err := b.SearchTaskLog(t.Context(), b.Viewer, d.TaskID, "step 1999", from)
		if err != nil || pages > 20 {
			t.Fatalf("page %d: %v", pages, err)
		}
		for _, hit := range hits {
			if seen[hit.Line] {
				t.Errorf("line %d is found twice", hit.Line)
			}
			seen[hit.Line] = true
		}
		from = next
	}
	if want := 1 + 10 + 100; len(seen) != want { // 1999, 19990 to 19999, 199900 to 199999
		t.Errorf("found %d lines, want %d", len(seen), want)
	}
	for _, at := range []int{1, 499, 500, 501, 199_999} {
		chunks, err := b.TaskLogFrom(t.Context(), b.Viewer, d.TaskID, at, 1)
		if err != nil || len(chunks) != 1 || at < chunks[0].Line || at >= chunks[0].Line+chunks[0].Lines {
			t.Errorf("line %d: got %d chunks, %v", at, len(chunks), err)
		}
	}
	end, err := b.TaskLogEnd(t.Context(), b.Viewer, d.TaskID, 0, 1000)
	if err != nil || len(end) != 2 || !strings.HasSuffix(end[1].Body, "step 200000 of the installation goes as it should") {
		t.Errorf("the end: got %d chunks, %v", len(end), err)
	}
	if end, err := b.TaskLogEnd(t.Context(), b.Viewer, d.TaskID, end[0].Seq, 1000); err != nil || len(end) != 1 {
		t.Errorf("the end after a chunk: got %d chunks, %v", len(end), err)
	}
	_, other := b.Create(t, "quiet", nil)
	if _, err := b.Store.Pool.Exec(t.Context(), `insert into task_logs (task_id, seq, line, lines, body)
		select $1, n, n, 1, 'a line of another log' from generate_series(1, 50000) n`, other.ID); err != nil {
		t.Fatal(err)
	}
	byIndexOnly(t, b.Store, d)
}

// byIndexOnly fails for a question about a log that reads the table from its beginning to its end.
func byIndexOnly(t *testing.T, s *store.Store, d fleet.Delivery) {
	t.Helper()
	if _, err := s.Pool.Exec(t.Context(), "analyze task_logs"); err != nil {
		t.Fatal(err)
	}
	for _, where := range []string{
		"task_id = $1 and troubled > 0 order by seq limit 1",
		"task_id = $1 and seq < 2147483647 order by seq desc limit 200",
		"task_id = $1 and line >= coalesce((select max(l.line) from task_logs l where l.task_id = $1 and l.line <= 777), 0) order by line limit 200",
		`task_id = $1 and line >= coalesce((select max(l.line) from task_logs l where l.task_id = $1 and l.line <= 777), 0)
			and line < 1777 and strpos(lower(body), 'quota') > 0 order by line limit 100`,
	} {
		var plan string
		if err := s.Pool.QueryRow(t.Context(), "explain (format json) select * from task_logs where "+where, d.TaskID).Scan(&plan); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(plan, `"Seq Scan"`) {
			t.Errorf("%s: the plan is\n%s", where, plan)
		}
	}
}
