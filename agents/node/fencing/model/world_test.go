package model

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
	controller "commander/agents/node/controller/fencing"
	"commander/agents/node/fencing"
	"commander/internal/clock"
)

// renewEvery is kubelet's.
const renewEvery = 10 * time.Second

// lookEvery is the controller's.
const lookEvery = 10 * time.Second

// reach is whether an agent gets an answer of the API server.
type reach int

const (
	yes   reach = iota
	no          // never
	flap        // every third time
	still       // the agent itself stands still and feeds nobody; its watchdog runs on
)

var errAway = errors.New("connection refused")

// machine is a node with its kubelet and its agent.
type machine struct {
	w       *world
	name    string
	clock   *clock.Fake // its own, which may be off and run at another speed
	speed   time.Duration
	kubelet bool // reaches the API server
	agent   reach
	looks   int
	dead    bool // it was reset, and does not come back
	gone    bool // from the API

	guard  *fencing.Agent
	dog    *dog
	peers  *peers
	ticked time.Duration // by the world's time

	// What the API server has of it.
	renewed time.Time
	vouched time.Time
	labeled bool
	total   int
}

// world is a cluster and its one group.
type world struct {
	now      time.Duration
	start    time.Time
	timeout  time.Duration
	step     time.Duration
	away     bool // the API server, for all
	blocked  bool // the controller does not reach it
	machines []*machine
	cut      map[[2]int]bool // pairs that do not hear each other
	clock    *clock.Fake     // the controller's
	sight    *controller.Sight
	released map[string]time.Duration
	faults   faults
}

// faults are planted in what is judged, to see that they are found.
type faults struct {
	early    time.Duration // releases so much too early
	deaf     bool          // agents do not hear that they are lost
	trusting bool          // the controller does not count blind agents
	grown    bool          // the controller counts nodes that an agent behind a cut cannot know of
}

func newWorld(size int, timeout, step time.Duration) *world {
	w := &world{start: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), timeout: timeout, step: step, cut: map[[2]int]bool{}, released: map[string]time.Duration{}}
	w.clock = clock.At(w.start)
	w.sight = controller.NewSight(w.clock)
	for range size {
		w.add()
	}
	return w
}

// add makes a machine that is well.
func (w *world) add() *machine {
	m := &machine{w: w, name: "n" + strconv.Itoa(len(w.machines)), clock: clock.At(w.start.Add(w.now)), speed: 1000, kubelet: true, ticked: w.now}
	m.renewed = m.clock.Now()
	m.dog = &dog{timeout: w.timeout, clock: m.clock}
	w.machines = append(w.machines, m)
	m.boot()
	return m
}

// boot starts the agent, with nothing in its memory. It takes an API server that answers.
func (m *machine) boot() {
	m.vouched = time.Time{}
	m.peers = &peers{m: m, words: map[string]bool{}}
	m.dog.held = false // the device was closed without the letter that disarms it
	m.guard = &fencing.Agent{
		Node: m.name, Timeout: m.w.timeout, APIBound: time.Second, Cluster: cluster{m}, Peers: m.peers, Watchdog: m.dog,
		Clock: m.clock, Log: slog.New(slog.DiscardHandler),
	}
}

func (w *world) hear(a, b *machine) bool {
	i, j := a.index(), b.index()
	return a == b || !a.dead && !b.dead && a.agent != still && b.agent != still && !w.cut[[2]int{min(i, j), max(i, j)}]
}

func (m *machine) index() int {
	n, _ := strconv.Atoi(m.name[1:]) // made by add
	return n
}

// pass lets time go by, and says what went wrong.
func (w *world) pass(by time.Duration) error {
	for end := w.now + by; w.now < end; {
		w.now += w.step
		w.clock.Advance(w.step)
		for _, m := range w.machines {
			m.clock.Advance(w.step * m.speed / 1000)
			m.live()
		}
		if w.now%lookEvery < w.step {
			if err := w.look(); err != nil {
				return err
			}
		}
	}
	return nil
}

// live is what a machine does at one moment.
func (m *machine) live() {
	if m.dead || m.dog.expired() {
		m.dead = true
		return
	}
	if m.kubelet && !m.w.away && !m.gone && m.w.now%renewEvery < m.w.step {
		m.renewed = m.clock.Now()
	}
	if m.agent == still || m.w.now-m.ticked < fencing.TickOf(m.w.timeout) {
		return
	}
	m.ticked = m.w.now
	m.looks++
	m.peers.meet()
	if err := m.guard.Tick(context.Background()); err != nil {
		panic(err) // a watchdog in memory does not fail
	}
	m.dead = m.dog.expired()
}

// look is what the controller does every time, with production's sight and judgement.
func (w *world) look() error {
	if w.away || w.blocked {
		w.sight.Failed()
		return nil
	}
	kubelets, agents := map[string]time.Time{}, map[string]time.Time{}
	var members []corev1.Node
	for _, m := range w.machines {
		if m.gone {
			continue
		}
		kubelets[m.name], agents[m.name] = m.renewed, m.vouched
		members = append(members, m.node())
	}
	w.sight.Observe(kubelets, agents)
	for i := range members {
		view := w.sight.View(&members[i], nil, members)
		view.Age, view.LostFor = view.Age+w.faults.early, view.LostFor+w.faults.early
		if w.faults.trusting {
			view.Blind = 0
		}
		if controller.Judge(view) != controller.Lost {
			continue
		}
		for _, m := range w.machines {
			if m.name != members[i].Name {
				continue
			}
			if _, before := w.released[m.name]; !before {
				w.released[m.name] = w.now
			}
			if !m.dead && !m.dog.expired() {
				return fmt.Errorf("%s is released at %s while it runs", m.name, w.now)
			}
		}
	}
	return nil
}

// node is what the API has of a machine.
func (m *machine) node() corev1.Node {
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: m.name, Labels: map[string]string{}, Annotations: map[string]string{}}}
	if m.labeled {
		n.Labels[api.LabelFencingEnabled], n.Labels[api.LabelFencingMode] = "", string(v1.FencingWatchdog)
		n.Annotations[api.AnnotationFencingTimeout] = m.w.timeout.String()
		n.Annotations[api.AnnotationFencingTotal] = strconv.Itoa(m.total)
		if m.w.faults.grown {
			n.Annotations[api.AnnotationFencingTotal] = strconv.Itoa(len(m.w.machines))
		}
	}
	return n
}

func (w *world) resets() int {
	count := 0
	for _, m := range w.machines {
		if m.dead {
			count++
		}
	}
	return count
}
