package csi

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	csipb "github.com/container-storage-interface/spec/lib/go/csi"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/cloud"
)

var races = flag.Int("races", 400, "races for one disk between two nodes")

func labelsOf(all map[string]string) labels.Set { return all }

// way is what lies between one process of the driver and DVP: time, faults, and an end after so many
// requests, of which the last is carried out when nobody waits for it any more.
type way struct {
	*model
	left atomic.Int64
	dead chan struct{}
}

var errKilled = errors.New("the process was killed")

// pass does one request. Of the last of a process only what it changes counts, which is done late.
func (w *way) pass(ctx context.Context, do func() error, late func() error) error {
	w.mu.Lock()
	there, back, fails, kind := w.between(0, 400*time.Millisecond), w.between(0, 400*time.Millisecond), w.random.IntN(100) < 8, w.random.IntN(4)
	w.mu.Unlock()
	switch left := w.left.Add(-1); {
	case left < 0:
		return errKilled
	case left == 0:
		close(w.dead)
		if late != nil {
			time.AfterFunc(there, func() { _ = late() })
		}
		return errKilled
	}
	if err := pause(ctx, there); err != nil {
		return err
	}
	if fails {
		switch kind {
		case 0:
			return apierrors.NewTooManyRequestsError("later")
		case 1:
			return apierrors.NewInternalError(errors.New("its store is away"))
		case 2:
			return errors.New("connection refused")
		}
	}
	err := do()
	if lost := pause(ctx, back); lost != nil {
		return lost
	}
	if fails {
		return errors.New("the answer is lost")
	}
	return err
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func (w *way) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	return w.pass(ctx, func() error { return w.model.Get(ctx, key, o, options...) }, nil)
}

func (w *way) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return w.pass(ctx, func() error { return w.model.List(ctx, list, options...) }, nil)
}

func (w *way) Create(ctx context.Context, o client.Object, options ...client.CreateOption) error {
	sent := o.DeepCopyObject().(client.Object)
	return w.pass(ctx, func() error { return w.model.Create(ctx, o, options...) }, func() error { return w.model.Create(ctx, sent, options...) })
}

func (w *way) Delete(ctx context.Context, o client.Object, options ...client.DeleteOption) error {
	sent := o.DeepCopyObject().(client.Object)
	return w.pass(ctx, func() error { return w.model.Delete(ctx, o, options...) }, func() error { return w.model.Delete(ctx, sent, options...) })
}

func (w *way) Watch(ctx context.Context, list client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
	var made watch.Interface
	err := w.pass(ctx, func() (err error) { made, err = w.model.Watch(ctx, list, options...); return err }, nil)
	if err == nil {
		context.AfterFunc(ctx, made.Stop)
	}
	return made, err
}

// race is one: a driver that is killed again and again and started anew, and somebody who wants the
// disk on the one node, on the other, on both and on none, at random times.
type race struct {
	*model
	mu      sync.Mutex // protects driver, way
	driver  *Controller
	way     *way
	wants   map[string]*atomic.Bool
	calls   int64
	crashes int
	last    string // error of a call
	wrong   []string
}

// rebirth is how long a process is gone before the next one works: longer than its last request lives.
const rebirth = time.Second

func (r *race) live(ctx context.Context, mortal *atomic.Bool) {
	for {
		w := &way{model: r.model, dead: make(chan struct{})}
		r.model.mu.Lock()
		w.left.Store(int64(1 + r.random.IntN(60)))
		r.model.mu.Unlock()
		if !mortal.Load() {
			w.left.Store(1 << 40)
		}
		r.mu.Lock()
		r.driver, r.way = &Controller{Cloud: cloud.Over(w, "project", cluster)}, w
		r.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-w.dead:
		}
		r.crashes++
		if pause(ctx, rebirth) != nil {
			return
		}
	}
}

// keep does for one node what is wanted there, as the attacher of Kubernetes does: one call at a time,
// given up after a while, and again until it succeeds.
func (r *race) keep(ctx context.Context, node string) {
	has, known := false, true // what is begun and not confirmed is not known
	for ctx.Err() == nil {
		want := r.wants[node].Load()
		if known && want == has {
			_ = pause(ctx, 50*time.Millisecond)
			continue
		}
		known = false
		r.mu.Lock()
		driver, w := r.driver, r.way
		r.mu.Unlock()
		call, cancel := context.WithTimeout(ctx, 15*time.Second)
		go func() { // nobody answers for a process that is gone
			select {
			case <-w.dead:
				cancel()
			case <-call.Done():
			}
		}()
		var err error
		if want {
			_, err = driver.ControllerPublishVolume(call, publishRequest("v", node))
		} else {
			_, err = driver.ControllerUnpublishVolume(call, &csipb.ControllerUnpublishVolumeRequest{VolumeId: "v", NodeId: node})
		}
		cancel()
		atomic.AddInt64(&r.calls, 1)
		select {
		case <-w.dead:
			err = errKilled // what it found out, it told nobody
		default:
		}
		if err != nil {
			r.mu.Lock()
			r.last = fmt.Sprintf("call for %s (want %v): %v", node, want, err)
			r.mu.Unlock()
			_ = pause(ctx, 500*time.Millisecond)
			continue
		}
		has, known = want, true
		r.model.mu.Lock()
		plugged := r.plugged()
		if want && fmt.Sprint(plugged) != fmt.Sprint([]string{node}) {
			r.wrong = append(r.wrong, fmt.Sprintf("published to %s, and plugged into %v", node, plugged))
		}
		if !want && fmt.Sprint(plugged) == fmt.Sprint([]string{node}) {
			r.wrong = append(r.wrong, fmt.Sprintf("unpublished from %s, and still plugged there", node))
		}
		r.model.mu.Unlock()
	}
}

// run goes through one race and ends with what broke a rule.
func (r *race) run(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mortal atomic.Bool
	mortal.Store(true)
	var all sync.WaitGroup
	all.Go(func() { r.live(ctx, &mortal) })
	synctest.Wait()
	for node, want := range r.wants {
		want.Store(true) // so that each has once tried
		all.Go(func() { r.keep(ctx, node) })
	}
	for range 8 {
		r.model.mu.Lock()
		wait, node, want := r.between(0, 10*time.Second), []string{"a", "b"}[r.random.IntN(2)], r.random.IntN(2) == 0
		r.model.mu.Unlock()
		_ = pause(ctx, wait)
		r.wants[node].Store(want)
	}
	for _, last := range []string{"a", "b", ""} { // and then it is to be on one, on the other, on none
		for node, want := range r.wants {
			want.Store(node == last)
		}
		mortal.Store(last == "b")
		if !r.settles(ctx, last) {
			r.wrong = append(r.wrong, fmt.Sprintf("never on %q alone, but on %v with %d attachments; the last error was: %s", last, r.plugged(), len(r.attachments()), r.last))
		}
	}
	r.model.mu.Lock()
	if left := r.attachments(); len(left) > 0 {
		r.wrong = append(r.wrong, fmt.Sprintf("%d attachments are left", len(left)))
	}
	r.model.mu.Unlock()
	cancel()
	all.Wait()
}

// settles waits until the disk is where it shall be, with nothing besides.
func (r *race) settles(ctx context.Context, where string) bool {
	for range 6000 {
		_ = pause(ctx, 100*time.Millisecond)
		r.model.mu.Lock()
		plugged, attachments := r.plugged(), r.attachments()
		is := where == "" && len(plugged) == 0 && len(attachments) == 0 ||
			len(plugged) == 1 && plugged[0] == where && len(attachments) == 1 && attachments[0].DeletionTimestamp.IsZero()
		r.model.mu.Unlock()
		if is {
			return true
		}
	}
	return false
}

// Two nodes race for a disk through a driver that is killed at any request, over a way with faults:
// who is told to have the disk has it, and has it alone, and in the end nothing is left.
func TestAttachmentRaces(t *testing.T) {
	t.Parallel()
	var calls, crashes int64
	for seed := range *races {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(seed), 0)) //nolint:gosec // nothing to guess
			r := &race{model: newModel(random), wants: map[string]*atomic.Bool{"a": new(atomic.Bool), "b": new(atomic.Bool)}}
			r.run(t)
			for _, wrong := range r.wrong {
				t.Errorf("seed %d: %s", seed, wrong)
			}
			calls, crashes = calls+r.calls, crashes+int64(r.crashes)
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%d races: %d calls, %d crashes, 0 double attachments, 0 left", *races, calls, crashes)
}
