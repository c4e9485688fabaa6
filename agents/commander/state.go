package commander

import (
	"sync"
	"time"

	"commander/agents/agentapi"
)

// state is what the loops tell each other.
type state struct {
	mu     sync.Mutex // protects what follows
	config agentapi.Config
	known  bool // whether config was ever received or remembered
	last   outcome

	configChanged chan struct{} // wakes the sync
	infoChanged   chan struct{} // wakes the publisher
	outcomeCame   chan struct{} // wakes the report
}

// outcome is the result of one sync.
type outcome struct {
	etag    string
	at      time.Time
	objects []agentapi.ObjectResult
	problem string // why a sync could not be done at all
}

func newState() *state {
	return &state{
		configChanged: make(chan struct{}, 1),
		infoChanged:   make(chan struct{}, 1),
		outcomeCame:   make(chan struct{}, 1),
	}
}

// wake never blocks: one pending signal is enough.
func wake(signal chan struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}

func (s *state) setConfig(c agentapi.Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setLocked(c)
}

// remember takes the configuration of an earlier life if none has come yet.
func (s *state) remember(c agentapi.Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known {
		s.setLocked(c)
	}
}

func (s *state) setLocked(c agentapi.Config) {
	s.config, s.known = c, true
	wake(s.configChanged)
	wake(s.infoChanged)
}

func (s *state) target() (agentapi.Config, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config, s.known
}

func (s *state) setOutcome(o outcome) {
	s.mu.Lock()
	s.last = o
	s.mu.Unlock()
	wake(s.outcomeCame)
}

// setProblem keeps the objects of the last sync that could be done.
func (s *state) setProblem(problem string) {
	s.mu.Lock()
	s.last.problem = problem
	s.mu.Unlock()
	wake(s.outcomeCame)
}

func (s *state) outcome() outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}
