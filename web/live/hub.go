// Package live keeps open pages current: one WebSocket a page, over which the parts of the page
// that changed are sent again.
//
// It works by levels, not edges. A change marks topics as dirty; each page has a goroutine of its
// own that takes what is dirty and renders it from the store as its viewer may see it now. A slow
// page therefore skips to the newest state, and there is no queue that could overflow. A page
// that connects, or comes back, finds all its topics dirty and gets the current state first.
//
// The codes with which a page's socket is closed:
//
//	1008  the viewer is not signed in any more: the browser goes to the sign-in page
//	1011  an error of ours; the browser connects again, with a growing pause
//	1012  the server stops or has too many pages; likewise
package live

import (
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/a-h/templ"
	"github.com/gorilla/websocket"
	"github.com/prometheus/client_golang/prometheus"

	"commander/fleet"
	"commander/store"
)

// Renderer draws what a topic means to a page.
type Renderer interface {
	// Render draws a topic as the person may see it. Each component is one message and has one
	// root element. The cursor is what the page knows already (paths.Live), next what it knows
	// afterwards. NotFound and Forbidden mean that the person sees nothing of the topic.
	Render(ctx context.Context, person fleet.Person, topic string, cursor int64) (components []templ.Component, next int64, err error)
}

// Options of a Hub. Person and Renderer are needed, the rest has defaults.
type Options struct {
	// Person tells who sits before the page, by the session of the request that opened it. It is
	// asked before each rendering, and fails with Unauthenticated when the session is over.
	Person func(ctx context.Context, r *http.Request) (fleet.Person, error)
	// Viewer puts into a context what components ask it for, such as the language and the moment.
	Viewer   func(ctx context.Context, r *http.Request, person fleet.Person) context.Context
	Renderer Renderer
	Log      *slog.Logger
	Metrics  prometheus.Registerer
	// MaxPages bounds the open pages of this process, MaxTopics the topics of one page.
	MaxPages, MaxTopics int
}

const (
	// pause between two renderings of a page: people do not read faster than four states a second.
	pause = 250 * time.Millisecond
	// retryAfter is the pause after the store was away.
	retryAfter = 2 * time.Second
	// writeLimit is how long a page may take to accept one message.
	writeLimit = 10 * time.Second
	// goodbye is how long a page may still take once the server stops.
	goodbye = time.Second
	// pingEvery keeps proxies from cutting a silent socket; a page whose answers stay away twice
	// is dead.
	pingEvery = 25 * time.Second
	silence   = 2*pingEvery + writeLimit
	// readLimit bounds what a page may say; it has nothing to say.
	readLimit = 512

	defaultMaxPages  = 2_000
	defaultMaxTopics = 8
)

// Hub knows the open pages and what each shows.
type Hub struct {
	options  Options
	upgrader websocket.Upgrader
	metrics  metrics
	// rendering bounds how many pages render at once, so that news for everybody does not take
	// every connection to the database.
	rendering chan struct{}
	after     func(time.Duration) <-chan time.Time

	mu       sync.Mutex // protects what follows
	pages    map[*page]struct{}
	byTopic  map[string]map[*page]struct{}
	stopping bool
	// owned counts the pages whose goroutines still run.
	owned sync.WaitGroup
}

// New makes a hub; Run must run for it to end in order.
func New(o Options) *Hub {
	if o.Viewer == nil {
		o.Viewer = func(ctx context.Context, _ *http.Request, _ fleet.Person) context.Context { return ctx }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.MaxPages == 0 {
		o.MaxPages = defaultMaxPages
	}
	if o.MaxTopics == 0 {
		o.MaxTopics = defaultMaxTopics
	}
	return &Hub{
		options: o,
		upgrader: websocket.Upgrader{
			HandshakeTimeout: writeLimit, ReadBufferSize: 1 << 10, WriteBufferSize: 4 << 10,
			// An idle page then holds no buffer for writing.
			WriteBufferPool: &sync.Pool{},
		},
		metrics:   newMetrics(o.Metrics),
		rendering: make(chan struct{}, 4*runtime.GOMAXPROCS(0)),
		after:     time.After,
		pages:     map[*page]struct{}{},
		byTopic:   map[string]map[*page]struct{}{},
	}
}

// Heard marks topics as changed; store.Everything marks all. It never waits.
func (h *Hub) Heard(topics ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, topic := range topics {
		if topic == store.Everything {
			for p := range h.pages {
				p.mark(p.topics...)
			}
			return
		}
		for p := range h.byTopic[topic] {
			p.mark(topic)
		}
	}
}

// Run waits until the context ends, then closes every page with 1012 and waits for their goroutines.
func (h *Hub) Run(ctx context.Context) error {
	<-ctx.Done()
	h.mu.Lock()
	h.stopping = true
	for p := range h.pages {
		p.stop()
	}
	h.mu.Unlock()
	h.owned.Wait()
	return nil
}

// join adds a page, unless there are too many or the hub stops.
func (h *Hub) join(p *page) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopping || len(h.pages) >= h.options.MaxPages {
		return false
	}
	h.pages[p] = struct{}{}
	for _, topic := range p.topics {
		if h.byTopic[topic] == nil {
			h.byTopic[topic] = map[*page]struct{}{}
		}
		h.byTopic[topic][p] = struct{}{}
	}
	h.owned.Add(1) // under the lock, so that Run does not begin to wait in between
	h.metrics.pages.Inc()
	p.mark(p.topics...)
	return true
}

func (h *Hub) leave(p *page) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.pages, p)
	for _, topic := range p.topics {
		delete(h.byTopic[topic], p)
		if len(h.byTopic[topic]) == 0 {
			delete(h.byTopic, topic)
		}
	}
	h.metrics.pages.Dec()
	h.owned.Done()
}
