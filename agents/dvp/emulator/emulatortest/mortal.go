package emulatortest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// lifeVariable tells a test binary that it is a program, and for how long.
const lifeVariable = "TEST_LIFE_OF_PROGRAM"

// Life is that of one process of a program: it kills itself, as kill -9 does, with so many requests to
// either API server, of which the last is carried out and never answered. The ways to both have faults.
type Life struct {
	Tenant, DVP string // kubeconfigs
	Project     string // namespace in DVP
	Namespace   string // in the cluster, for programs that look at one
	Seed        uint64
	Requests    int64
}

// Live makes the test binary the program if it was started so, and does not return then; TestMain
// calls it first. The program gets its ways to the cluster and to DVP.
func Live(program func(ctx context.Context, l Life, tenant, dvp *rest.Config) error) {
	text := os.Getenv(lifeVariable)
	if text == "" {
		return
	}
	if err := live(text, program); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func live(text string, program func(context.Context, Life, *rest.Config, *rest.Config) error) error {
	var l Life
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return err
	}
	var left atomic.Int64
	left.Store(l.Requests)
	dvp, problem := l.way(l.DVP, &left, 0.1)
	tenant, err := l.way(l.Tenant, &left, 0.05)
	if err := errors.Join(problem, err); err != nil {
		return err
	}
	return program(context.Background(), l, tenant, dvp)
}

// way leads to an API server, with faults in that part of all requests.
func (l Life) way(kubeconfig string, left *atomic.Int64, part float64) (*rest.Config, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig([]byte(kubeconfig))
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	config = Faulty(config, l.Seed, part)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			answer, err := next.RoundTrip(r)
			if left.Add(-1) == 0 {
				return nil, syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
			return answer, err
		})
	})
	return config, nil
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Mortals are processes of a program, each of which is killed after a random number of requests and
// followed by another.
type Mortals struct {
	random *rand.Rand
	killed atomic.Int64
	output bytes.Buffer // of all of them, one after the other
	end    func()
}

// RunMortals starts them, until End or the end of the test. A life is at least as long as a start needs.
func RunMortals(t *testing.T, first Life, least, most int) *Mortals {
	t.Helper()
	m := &Mortals{random: rand.New(rand.NewPCG(1, 2))} //nolint:gosec // nothing to guess
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for l := first; ctx.Err() == nil; l.Seed++ {
			l.Requests = int64(least + m.random.IntN(most-least))
			if !m.once(ctx, t, l) {
				return
			}
		}
	})
	m.end = sync.OnceFunc(func() {
		cancel()
		running.Wait()
		if t.Failed() {
			t.Log(m.output.String()[max(0, m.output.Len()-4000):])
		}
	})
	t.Cleanup(m.end)
	return m
}

func (m *Mortals) once(ctx context.Context, t *testing.T, l Life) bool {
	text, err := json.Marshal(l)
	if err != nil {
		t.Error(err)
		return false
	}
	process := exec.CommandContext(ctx, os.Args[0])
	process.Env, process.Stdout, process.Stderr = append(os.Environ(), lifeVariable+"="+string(text)), &m.output, &m.output
	var ended *exec.ExitError
	if err := process.Run(); ctx.Err() == nil && !errors.As(err, &ended) {
		t.Errorf("a process ended with %v, want it killed", err)
		return false
	}
	if ended != nil && ended.ExitCode() == -1 { // others met a fault at their start, and are started again
		m.killed.Add(1)
	}
	return true
}

// End ends the last of them, and says how many there were and what the race detector found, if the
// test is built with it. Reports with one of the words to ignore are about others' code.
func (m *Mortals) End(ignore string) (killed int, races []string) {
	m.end()
	for _, report := range strings.Split(m.output.String(), "==================") {
		if strings.Contains(report, "DATA RACE") && (ignore == "" || !strings.Contains(report, ignore)) {
			races = append(races, report)
		}
	}
	return int(m.killed.Load()), races
}
