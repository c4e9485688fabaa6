package live

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"commander/internal/fault"
	"commander/views/paths"
)

// page is one open page. Its writer goroutine owns the socket's writing and the cursors; a second
// one reads, because pongs and the browser's goodbye come that way.
type page struct {
	hub     *Hub
	request *http.Request
	ws      *websocket.Conn
	topics  []string
	cursors map[string]int64

	// news says that dirty is not empty; it has room for one.
	news     chan struct{}
	stopping chan struct{}
	stopOnce sync.Once

	mu    sync.Mutex // protects dirty
	dirty map[string]struct{}
}

// mark makes topics dirty and wakes the page.
func (p *page) mark(topics ...string) {
	p.mu.Lock()
	for _, topic := range topics {
		p.dirty[topic] = struct{}{}
	}
	p.mu.Unlock()
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// take returns what is dirty, in the order of the page's topics.
func (p *page) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var taken []string
	for _, topic := range p.topics {
		if _, is := p.dirty[topic]; is {
			taken = append(taken, topic)
		}
	}
	clear(p.dirty)
	return taken
}

// stop lets the page say goodbye. The reader is given little time then, and its end cuts a
// write that hangs.
func (p *page) stop() {
	p.stopOnce.Do(func() {
		close(p.stopping)
		_ = p.ws.SetReadDeadline(time.Now().Add(goodbye))
	})
}

// told says whether the page was told to stop.
func (p *page) told() bool {
	select {
	case <-p.stopping:
		return true
	default:
		return false
	}
}

// ServeHTTP upgrades a request for paths.Live and stays until its page is gone. Who is not signed
// in is told by close code, since a browser cannot see the status of a refused upgrade.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	since, topics := paths.ParseLive(r.URL.Query())
	slices.Sort(topics)
	topics = slices.Compact(topics)
	if len(topics) == 0 || len(topics) > h.options.MaxTopics {
		http.Error(w, "want some topics, but not too many", http.StatusBadRequest)
		return
	}
	ws, err := h.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has answered
	}
	p := &page{
		hub: h, request: r, ws: ws, topics: topics, cursors: map[string]int64{}, dirty: map[string]struct{}{},
		news: make(chan struct{}, 1), stopping: make(chan struct{}),
	}
	for _, topic := range topics {
		p.cursors[topic] = since
	}
	if !h.join(p) {
		p.close(websocket.CloseServiceRestart, dropOverload)
		_ = ws.Close()
		return
	}
	defer h.leave(p)
	// The request's context may end with the server, before the page was told why.
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	var reading sync.WaitGroup
	reading.Go(func() {
		defer cancel()
		p.read()
		_ = ws.Close()
	})
	p.write(ctx)
	_ = ws.Close()
	reading.Wait()
}

// read takes what the browser sends until the socket is gone or silent.
func (p *page) read() {
	p.ws.SetReadLimit(readLimit)
	alive := func(string) error {
		if p.told() {
			return nil
		}
		return p.ws.SetReadDeadline(time.Now().Add(silence))
	}
	p.ws.SetPongHandler(alive)
	if alive("") != nil {
		return
	}
	for {
		if _, _, err := p.ws.NextReader(); err != nil {
			if isTimeout(err) && !p.told() {
				p.hub.metrics.drops.WithLabelValues(dropSilent).Inc()
			}
			return
		}
	}
}

// write renders what is dirty, at most once a pause, until the page ends or is told to.
func (p *page) write(ctx context.Context) {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	news := p.news // nil while the page pauses
	var resume <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.stopping:
			p.close(websocket.CloseServiceRestart, "")
			return
		case <-ping.C:
			if err := p.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeLimit)); err != nil {
				return
			}
		case <-resume:
			news, resume = p.news, nil
		case <-news:
			wait, ok := p.refresh(ctx)
			if !ok {
				return
			}
			news, resume = nil, p.hub.after(wait)
		}
	}
}

// refresh sends what is dirty and tells how long to pause; false means that the page has ended.
func (p *page) refresh(ctx context.Context) (wait time.Duration, ok bool) {
	topics := p.take()
	messages, left, err := p.render(ctx, topics)
	if sent := p.send(messages); sent != nil {
		if isTimeout(sent) {
			p.hub.metrics.drops.WithLabelValues(dropSlow).Inc()
		}
		return 0, false
	}
	switch {
	case ctx.Err() != nil:
		return 0, false
	case fault.Is(err, fault.Unauthenticated):
		p.close(websocket.ClosePolicyViolation, dropSignOut)
		return 0, false
	case fault.Is(err, fault.Unavailable):
		p.mark(left...)
		return retryAfter, true
	case err != nil:
		p.hub.options.Log.Error("render a live page", "topics", left, "error", err)
		p.close(websocket.CloseInternalServerErr, dropError)
		return 0, false
	}
	return pause, true
}

func (p *page) send(messages [][]byte) error {
	for _, message := range messages {
		if err := p.ws.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
			return err
		}
		if err := p.ws.WriteMessage(websocket.TextMessage, message); err != nil {
			return err
		}
	}
	return nil
}

// close says goodbye with a code; a drop is counted under its reason.
func (p *page) close(code int, drop string) {
	if drop != "" {
		p.hub.metrics.drops.WithLabelValues(drop).Inc()
	}
	// A page that is gone cannot be told.
	_ = p.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(writeLimit))
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}
