package live

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/gorilla/websocket"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/views/paths"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is what pages show: a text a topic, which counts how often it was drawn.
type world struct {
	mu     sync.Mutex
	texts  map[string]string
	drawn  map[string]int
	person error
	topic  error
	gate   chan struct{} // unless nil, each Render takes one from it
	during chan struct{} // unless nil, each Render puts one into it as it begins
}

func (w *world) set(topic, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts[topic] = text
}

func (w *world) fail(person, topic error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.person, w.topic = person, topic
}

func (w *world) who(context.Context, *http.Request) (fleet.Person, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fleet.Person{User: store.User{Name: "ann"}}, w.person
}

func (w *world) Render(_ context.Context, person fleet.Person, topic string, cursor int64) ([]templ.Component, int64, error) {
	if w.during != nil {
		w.during <- struct{}{}
	}
	if w.gate != nil {
		<-w.gate
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drawn[topic]++
	text := fmt.Sprintf("%s %s %s %d", person.Name, topic, w.texts[topic], cursor)
	draw := templ.ComponentFunc(func(_ context.Context, out io.Writer) error {
		_, err := io.WriteString(out, text)
		return err
	})
	return []templ.Component{draw}, cursor + 1, w.topic
}

type bench struct {
	*Hub
	world   *world
	url     string
	stop    func()
	metrics *prometheus.Registry
	// resume lets a page that pauses go on; wait is how long it meant to.
	resume chan time.Time
	wait   chan time.Duration
}

func start(t *testing.T, change func(*Options, *world)) *bench {
	t.Helper()
	b := &bench{
		world:   &world{texts: map[string]string{}, drawn: map[string]int{}},
		metrics: prometheus.NewRegistry(), resume: make(chan time.Time), wait: make(chan time.Duration, 100),
	}
	o := Options{Renderer: b.world, Person: b.world.who, Metrics: b.metrics}
	if change != nil {
		change(&o, b.world)
	}
	b.Hub = New(o)
	b.after = func(d time.Duration) <-chan time.Time {
		b.wait <- d
		return b.resume
	}
	server := httptest.NewServer(b)
	b.url = "ws" + strings.TrimPrefix(server.URL, "http")
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- b.Run(ctx) }()
	var once sync.Once
	b.stop = func() { once.Do(func() { cancel(); <-ran }) }
	t.Cleanup(func() { b.stop(); server.Close() })
	return b
}

func (b *bench) open(t *testing.T, since int64, topics ...string) *websocket.Conn {
	t.Helper()
	ws, answer, err := websocket.DefaultDialer.DialContext(t.Context(), b.url+paths.Live(since, topics...), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	t.Cleanup(func() { _ = ws.Close() })
	_ = ws.SetReadDeadline(time.Now().Add(time.Minute)) // a test that hangs ends
	return ws
}

func want(t *testing.T, ws *websocket.Conn, messages ...string) {
	t.Helper()
	for _, message := range messages {
		_, got, err := ws.ReadMessage()
		if err != nil || string(got) != message {
			t.Fatalf("message: got %q, error %v, want %q", got, err, message)
		}
	}
}

func wantClose(t *testing.T, ws *websocket.Conn, code int) {
	t.Helper()
	if _, got, err := ws.ReadMessage(); !websocket.IsCloseError(err, code) {
		t.Fatalf("got %q, error %v, want the close code %d", got, err, code)
	}
}

func TestJoinSendsAllAndAChangeSendsOne(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	ws := b.open(t, 7, "b", "a", "b")
	want(t, ws, "ann a  7", "ann b  7")
	b.world.set("b", "new")
	b.Heard("b", "nobody's")
	b.resume <- time.Time{}
	want(t, ws, "ann b new 8")
	b.Heard(store.Everything)
	b.resume <- time.Time{}
	want(t, ws, "ann a  8", "ann b new 9")
	if got := <-b.wait; got != pause {
		t.Errorf("pause: got %v, want %v", got, pause)
	}
}

func TestPauseCollapsesChangesIntoTheNewest(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	ws := b.open(t, 0, "a")
	want(t, ws, "ann a  0")
	for i := range 100 {
		b.world.set("a", fmt.Sprint(i))
		b.Heard("a")
	}
	b.resume <- time.Time{}
	want(t, ws, "ann a 99 1")
	<-b.wait
	<-b.wait // it pauses again, so whatever would have been sent is sent
	if got := testutil.ToFloat64(b.Hub.metrics.renders); got != 2 {
		t.Errorf("renders: got %v, want 2", got)
	}
}

func TestChangeDuringARenderIsNotLost(t *testing.T) {
	t.Parallel()
	b := start(t, func(_ *Options, w *world) { w.gate, w.during = make(chan struct{}), make(chan struct{}) })
	ws := b.open(t, 0, "a")
	<-b.world.during
	b.Heard("a")
	b.world.gate <- struct{}{}
	want(t, ws, "ann a  0")
	b.resume <- time.Time{}
	<-b.world.during
	b.world.gate <- struct{}{}
	want(t, ws, "ann a  1")
}

func TestWhoLosesRightsGetsNothingMore(t *testing.T) {
	t.Parallel()
	for _, kind := range []fault.Kind{fault.NotFound, fault.Forbidden} {
		b := start(t, nil)
		ws := b.open(t, 0, "a")
		want(t, ws, "ann a  0")
		b.world.fail(nil, fault.New(kind, "fault."+string(kind)))
		b.Heard("a")
		b.resume <- time.Time{}
		<-b.wait
		<-b.wait // rendered, and nothing sent
		b.world.fail(fault.New(fault.Unauthenticated, "fault.session"), nil)
		b.Heard("a")
		b.resume <- time.Time{}
		wantClose(t, ws, websocket.ClosePolicyViolation)
	}
}

func TestStoreThatIsAwayIsAskedAgain(t *testing.T) {
	t.Parallel()
	away := fault.New(fault.Unavailable, "fault.database_away")
	b := start(t, func(_ *Options, w *world) { w.person = away })
	ws := b.open(t, 0, "a", "b")
	if got := <-b.wait; got != retryAfter {
		t.Errorf("pause: got %v, want %v", got, retryAfter)
	}
	b.world.fail(nil, away)
	b.resume <- time.Time{}
	<-b.wait
	b.world.fail(nil, nil)
	b.resume <- time.Time{}
	want(t, ws, "ann a  0", "ann b  0")
}

func TestErrorOfOursLetsThePageComeBack(t *testing.T) {
	t.Parallel()
	b := start(t, func(_ *Options, w *world) { w.topic = io.ErrUnexpectedEOF })
	wantClose(t, b.open(t, 0, "a"), websocket.CloseInternalServerErr)
}

func TestOverloadAndShutdownCloseWithRestart(t *testing.T) {
	t.Parallel()
	b := start(t, func(o *Options, _ *world) { o.MaxPages = 1 })
	first := b.open(t, 0, "a")
	want(t, first, "ann a  0")
	wantClose(t, b.open(t, 0, "a"), websocket.CloseServiceRestart)
	if got := testutil.ToFloat64(b.Hub.metrics.drops.WithLabelValues(dropOverload)); got != 1 {
		t.Errorf("drops by overload: got %v, want 1", got)
	}
	b.stop()
	wantClose(t, first, websocket.CloseServiceRestart)
	wantClose(t, b.open(t, 0, "a"), websocket.CloseServiceRestart)
	if got := testutil.ToFloat64(b.Hub.metrics.pages); got != 0 {
		t.Errorf("open pages: got %v, want 0", got)
	}
}

func TestShutdownDoesNotWaitForAPageThatDoesNotRead(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	b.world.set("a", strings.Repeat("x", 64<<20)) // more than the sockets hold
	b.open(t, 0, "a")
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !b.written() {
		<-tick.C
	}
	for range 1000 {
		b.Heard("a", store.Everything) // never waits for the page
	}
	b.stop()
}

// written tells whether the page's first state was drawn.
func (b *bench) written() bool {
	b.world.mu.Lock()
	defer b.world.mu.Unlock()
	return b.world.drawn["a"] > 0
}

func TestForeignOriginAndManyTopicsAreRefused(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	many := make([]string, defaultMaxTopics+1)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for _, c := range []struct {
		name, origin string
		topics       []string
		status       int
	}{
		{"another site", "https://elsewhere.example", []string{"a"}, http.StatusForbidden},
		{"no topic", "", nil, http.StatusBadRequest},
		{"too many topics", "", many, http.StatusBadRequest},
	} {
		header := http.Header{}
		if c.origin != "" {
			header.Set("Origin", c.origin)
		}
		ws, answer, err := websocket.DefaultDialer.DialContext(t.Context(), b.url+paths.Live(0, c.topics...), header)
		if err == nil {
			_ = ws.Close()
			t.Fatalf("%s: accepted", c.name)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != c.status {
			t.Errorf("%s: got %d, want %d", c.name, answer.StatusCode, c.status)
		}
	}
}
