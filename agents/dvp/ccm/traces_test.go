package ccm

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	kubetesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/cloud-provider/controllers/nodelifecycle"
	controllersmetrics "k8s.io/component-base/metrics/prometheus/controllers"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
	"commander/agents/dvp/emulator/emulatortest"
)

var traces = flag.Int("traces", 200, "traces of answers that the lives of Nodes are decided by")

// recording is what API servers answered once, by names, and can answer again.
type recording struct {
	mu      sync.Mutex // protects answers
	answers map[string]recorded
	next    http.RoundTripper
	trace   atomic.Pointer[trace] // plays answers instead of asking
}

type recorded struct {
	code   int
	header http.Header
	body   []byte
}

func (a recorded) to(r *http.Request) *http.Response {
	return &http.Response{StatusCode: a.code, Header: a.header.Clone(), Body: io.NopCloser(bytes.NewReader(a.body)), Request: r}
}

func (rec *recording) RoundTrip(r *http.Request) (*http.Response, error) {
	if playing := rec.trace.Load(); playing != nil {
		return playing.answer(r)
	}
	answer, err := rec.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	a := recorded{answer.StatusCode, answer.Header, body}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.answers[r.URL.Path+"?"+r.URL.Query().Get("labelSelector")] = a
	return a.to(r), nil
}

// last takes the answer whose address has these words.
func (rec *recording) last(t *testing.T, words ...string) recorded {
	t.Helper()
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for address, a := range rec.answers {
		fits := true
		for _, word := range words {
			fits = fits && strings.Contains(address, word)
		}
		if fits {
			return a
		}
	}
	t.Fatalf("no answer with %v was recorded", words)
	return recorded{}
}

// faultsOf are answers that say nothing about a machine, recorded or as proxies and tired API servers
// give them. None may lead to a conclusion.
func faultsOf(t *testing.T, rec *recording, honest recorded) []recorded {
	t.Helper()
	text, object := http.Header{"Content-Type": {"text/html"}}, http.Header{"Content-Type": {"application/json"}}
	all := []recorded{
		rec.last(t, "/namespaces/elsewhere/"), // 403
		rec.last(t, "/v1alpha9/"),             // a kind that is not served: 404 without a word about the object
		rec.last(t, "/virtualmachines/other"), // 404 of another object
		{http.StatusNotFound, text, []byte("<html>no such page</html>")},
		{http.StatusNotFound, object, []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","message":"namespaces \"project\" not found","details":{"name":"project","kind":"namespaces"},"code":404}`)},
		{http.StatusOK, text, []byte("<html>maintenance</html>")},
		{http.StatusOK, object, []byte("{}")},
		{http.StatusOK, object, []byte(`{"kind":"Status","apiVersion":"v1","status":"Success"}`)},
		{http.StatusOK, honest.header, honest.body[:len(honest.body)/2]},
		{http.StatusOK, honest.header, nil},
	}
	for _, code := range []int{401, 408, 409, 410, 429, 500, 502, 503, 504} {
		all = append(all, recorded{code, object, fmt.Appendf(nil, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"a fault","code":%d}`, code)})
	}
	return all
}

// trace is what DVP answers in the life of one Node: the truth, faults, and now and then for a moment
// what an API server says that has an old view.
type trace struct {
	random       *rand.Rand
	there, gone  recorded
	faults       []recorded
	end          time.Time // of the machine
	honest       time.Time // when the faults end
	stale, fresh time.Time // an old view in which the machine is not there yet, which comes again
	mu           sync.Mutex
}

// viewBound is how long an old view may last; the controllers ask again after longer than that.
const viewBound = 1900 * time.Millisecond

func (tr *trace) answer(r *http.Request) (*http.Response, error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	now := time.Now()
	if now.After(tr.fresh) && tr.random.IntN(30) == 0 && now.Sub(tr.fresh) > 10*time.Second {
		tr.stale, tr.fresh = now, now.Add(time.Duration(tr.random.Int64N(int64(viewBound))))
	}
	switch {
	case now.Before(tr.honest) && tr.random.IntN(10) < 4:
		switch kind := tr.random.IntN(len(tr.faults) + 3); {
		case kind < len(tr.faults):
			return tr.faults[kind].to(r), nil
		case kind == len(tr.faults):
			return nil, errors.New("connection refused")
		case kind == len(tr.faults)+1:
			return nil, io.ErrUnexpectedEOF
		default:
			<-r.Context().Done() // it hangs
			return nil, r.Context().Err()
		}
	case !now.Before(tr.end), now.Before(tr.honest) && now.Before(tr.fresh):
		return tr.gone.to(r), nil
	}
	return tr.there.to(r), nil
}

// nodes are those of one trace, of which one is deleted or not.
type nodes struct {
	coreinformers.NodeInformer
	indexer cache.Indexer
}

func (n nodes) Lister() corelisters.NodeLister { return corelisters.NewNodeLister(n.indexer) }

// life plays one trace through the controller of Kubernetes, and says when the Node was deleted.
func (tr *trace) life(t *testing.T, p *Provider, node *corev1.Node, lasts time.Duration) (deleted time.Time) {
	list := nodes{indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)}
	if err := list.indexer.Add(node); err != nil {
		t.Fatal(err)
	}
	client := new(fake.Clientset)
	client.AddReactor("*", "*", func(action kubetesting.Action) (bool, runtime.Object, error) {
		if event, is := action.(kubetesting.CreateAction); is {
			return true, event.GetObject(), nil
		}
		deleted = time.Now()
		return true, nil, list.indexer.Delete(node)
	})
	controller, err := nodelifecycle.NewCloudNodeLifecycleController(list, client, p, 5*time.Second, 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), lasts)
	defer cancel()
	controller.Run(ctx, controllersmetrics.NewControllerManagerMetrics("traces"))
	return deleted
}

// Whatever DVP, proxies and networks answer, a Node is deleted only when its machine is gone, and then
// it is.
func TestNodesUnderTraces(t *testing.T) {
	t.Parallel()
	d := emulatortest.Start(t)
	rec := &recording{answers: map[string]recorded{}}
	config := rest.CopyConfig(d.Access)
	config.QPS = -1
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { rec.next = next; return rec })
	dvp, err := cloud.New(config, d.Namespace, uuid)
	if err != nil {
		t.Fatal(err)
	}
	vm := d.Machine("mine", "mine")
	vm.Labels = map[string]string{cloud.LabelHostname: "mine", cloud.LabelClusterUUID: uuid}
	d.Make(d.Disk("mine", emulatortest.Immediate, "1Gi"))
	d.Make(vm)
	emulatortest.AwaitPhase(d, vm, v1alpha2.MachineRunning)
	p := New(dvp)
	for _, name := range []string{"mine", "gone", "other"} { // what is answered is recorded
		_, _ = dvp.Machine(t.Context(), name)
		_, _ = dvp.MachineOfNode(t.Context(), name)
	}
	for _, path := range []string{"/apis/virtualization.deckhouse.io/v1alpha2/namespaces/elsewhere/virtualmachines/mine", "/apis/virtualization.deckhouse.io/v1alpha9/virtualmachines"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		client, err := rest.HTTPClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close() // it was recorded
	}

	one := "/namespaces/" + d.Namespace + "/virtualmachines"
	byID := trace{there: rec.last(t, one+"/mine?"), gone: rec.last(t, one+"/gone?")}
	byID.gone.body = bytes.ReplaceAll(byID.gone.body, []byte("gone"), []byte("mine"))
	byName := trace{there: rec.last(t, one+"?", "=mine"), gone: rec.last(t, one+"?", "=gone")}
	byID.faults, byName.faults = faultsOf(t, rec, byID.there), faultsOf(t, rec, byName.there)
	wrong, kept := 0, 0
	for seed := range *traces {
		synctest.Test(t, func(t *testing.T) {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "mine", UID: "1"}, Spec: corev1.NodeSpec{ProviderID: "dvp://mine"}}
			tr := &trace{there: byID.there, gone: byID.gone, faults: byID.faults}
			if seed%4 == 0 { // a Node that has no id yet is found by its name
				node.Spec.ProviderID = ""
				tr.there, tr.gone, tr.faults = byName.there, byName.gone, byName.faults
			}
			tr.random = rand.New(rand.NewPCG(uint64(seed), 0)) //nolint:gosec // nothing to guess
			begin := time.Now()
			tr.honest = begin.Add(3 * time.Minute)
			tr.end = begin.Add(time.Hour)
			if seed%2 == 0 {
				tr.end = begin.Add(time.Duration(tr.random.Int64N(int64(3 * time.Minute))))
			}
			rec.trace.Store(tr)
			deleted := tr.life(t, p, node, 5*time.Minute)
			switch {
			case !deleted.IsZero() && deleted.Before(tr.end):
				wrong++
				t.Errorf("seed %d: the Node was deleted after %s, its machine is there until %s", seed, deleted.Sub(begin), tr.end.Sub(begin))
			case deleted.IsZero() && seed%2 == 0:
				kept++
				t.Errorf("seed %d: the Node was never deleted", seed)
			}
		})
		if wrong+kept > 3 {
			return
		}
	}
	t.Logf("%d traces: %d wrong deletions, %d Nodes kept without a machine", *traces, wrong, kept)
}
