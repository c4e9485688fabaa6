package jobs

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/store"
)

// attempt works on a notification as River would.
func attempt(ctx context.Context, w *notifyWorker, id uuid.UUID, number int) error {
	return w.Work(ctx, &river.Job[fleet.NotifyArgs]{JobRow: &rivertype.JobRow{Attempt: number, MaxAttempts: fleet.NotifyAttempts}, Args: fleet.NotifyArgs{ID: id}})
}

func waiting(t *testing.T, b *fleettest.Bench) []uuid.UUID {
	t.Helper()
	rows, err := b.Store.Pool.Query(t.Context(), "select id from notifications where delivered_at is null and failed_at is null order by created_at")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var ids []uuid.UUID
	for rows.Next() {
		var id uuid.UUID
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

func TestAFailedTaskIsToldBySignedWebhook(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	var secret string
	answers := []int{http.StatusServiceUnavailable, http.StatusOK}
	var got []fleet.Notice
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if err := verify(secret, r.Header, body, b.Clock.Now()); err != nil {
			t.Error(err)
		}
		var n fleet.Notice
		if err := json.Unmarshal(body, &n); err != nil {
			t.Error(err)
		}
		got = append(got, n)
		w.WriteHeader(answers[0])
		answers = answers[1:]
	}))
	t.Cleanup(receiver.Close)
	channel, made, err := b.AddChannel(t.Context(), b.Admin, b.Workspace.ID, fleet.NewChannel{
		Name: "On call", Kind: fleet.ChannelWebhook, Address: receiver.URL, Events: []string{fleet.EventTaskFailed, fleet.EventTaskLost},
	})
	if err != nil {
		t.Fatal(err)
	}
	secret = made
	_, task := b.Create(t, "unlucky", nil)
	b.Run(t, task, store.TaskFailed)
	ids := waiting(t, b)
	if len(ids) != 1 {
		t.Fatalf("got %d notifications, want one", len(ids))
	}
	w := &notifyWorker{fleet: b.Fleet, client: newWebhookClient(loopback), limit: notifyLimit}
	if err := attempt(t.Context(), w, ids[0], 1); err == nil {
		t.Error("an answer of 503 counts as delivered")
	}
	rows, err := b.Channels(t.Context(), b.Viewer, b.Workspace.ID)
	if err != nil || !strings.Contains(rows[0].LastError, "503") || rows[0].LastFailed {
		t.Errorf("after the first try: got %+v, %v", rows, err)
	}
	if err := attempt(t.Context(), w, ids[0], 2); err != nil {
		t.Error(err)
	}
	if err := attempt(t.Context(), w, ids[0], 3); err != nil || len(got) != 2 {
		t.Errorf("a delivered one was sent again: %d, %v", len(got), err)
	}
	if n := got[1]; n.Event != fleet.EventTaskFailed || n.Cluster != "unlucky" || *n.TaskID != task.ID || n.ID != got[0].ID || !strings.HasSuffix(n.URL, "/tasks/"+task.ID.String()) {
		t.Errorf("got %+v", n)
	}
	if err := b.TestChannel(t.Context(), b.Admin, b.Workspace.ID, channel.ID); err != nil {
		t.Fatal(err)
	}
	w.client = &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF })}
	if err := attempt(t.Context(), w, waiting(t, b)[0], fleet.NotifyAttempts); err == nil {
		t.Error("nobody answered")
	}
	if rows, err = b.Channels(t.Context(), b.Viewer, b.Workspace.ID); err != nil || !rows[0].LastFailed {
		t.Errorf("the last try does not give up: %+v, %v", rows, err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestApprovalLossAndSilenceAreToldByMail(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	server, mails := mailServer(t, nil)
	if _, _, err := b.AddChannel(t.Context(), b.Admin, b.Workspace.ID, fleet.NewChannel{
		Name: "Team", Kind: fleet.ChannelMail, Address: "team@example.com", Events: fleet.Events,
	}); err != nil {
		t.Fatal(err)
	}
	cluster := b.Installed(t, "loud", nil)
	task, err := b.Converge(t.Context(), b.Admin, cluster.ID)
	if err != nil {
		t.Fatal(err)
	}
	d := fleet.Delivery{TaskID: task.ID, Attempt: 1}
	if _, err := b.Claim(t.Context(), d, "w"); err != nil {
		t.Fatal(err)
	}
	if err := b.Finish(t.Context(), d, fleet.Ending{Status: store.TaskWaitingApproval, ChangeID: "x"}); err != nil {
		t.Fatal(err)
	}
	_, lost := b.Create(t, "lost", nil)
	if _, err := b.Claim(t.Context(), fleet.Delivery{TaskID: lost.ID, Attempt: 1}, "w"); err != nil {
		t.Fatal(err)
	}
	b.Silence(t, lost.ID, time.Hour)
	if _, err := b.MarkLost(t.Context(), lost.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.TakeReport(t.Context(), cluster.ID, fleet.AgentReport{}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Store.Pool.Exec(t.Context(), "update agent_reports set reported_at = now() - interval '1 hour'"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int64{1, 0} { // a silence is told once
		if n, err := b.TellSilence(t.Context()); err != nil || n != want {
			t.Errorf("silences told: got %d, %v, want %d", n, err, want)
		}
	}
	w := &notifyWorker{fleet: b.Fleet, mail: Mail{Server: server, From: "commander@example.com"}, limit: notifyLimit}
	var told []string
	for _, id := range waiting(t, b) {
		if err := attempt(t.Context(), w, id, 1); err != nil {
			t.Fatal(err)
		}
		told = append(told, <-mails)
	}
	all := strings.Join(told, "\n")
	for _, want := range []string{"waits for approval: loud", "A task was lost: lost", "An agent is silent: loud", "To: <team@example.com>", "/tasks/" + task.ID.String()} {
		if !strings.Contains(strings.ReplaceAll(all, "=\r\n", ""), want) {
			t.Errorf("nobody is told %q in\n%s", want, all)
		}
	}
	if err := attempt(t.Context(), &notifyWorker{fleet: b.Fleet, limit: notifyLimit}, uuid.New(), 1); err != nil {
		t.Errorf("a notification that is gone: got %v", err)
	}
}
