package discoverer

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"commander/agents/dvp/cloud"
	"commander/internal/kubetest"
)

// faults refuses requests as a test wants.
type faults struct {
	next   http.RoundTripper
	refuse atomic.Pointer[func(*http.Request) bool]
	count  atomic.Int64 // of those that were refused
}

func (f *faults) RoundTrip(r *http.Request) (*http.Response, error) {
	if refuse := f.refuse.Load(); refuse != nil && (*refuse)(r) {
		f.count.Add(1)
		return nil, errors.New("refused by the test")
	}
	return f.next.RoundTrip(r)
}

func (f *faults) when(refuse func(*http.Request) bool) {
	f.refuse.Store(&refuse)
	f.count.Store(0)
}

func never(*http.Request) bool { return false }

// bench is a discoverer whose DVP and whose cluster are one API server, with faults for each.
type bench struct {
	*Discoverer
	t            *testing.T
	dvp, cluster *faults
	client       *kubernetes.Clientset // without faults
}

func newBench(t *testing.T) *bench {
	t.Helper()
	server := kubetest.Start(t)
	b := &bench{t: t, dvp: new(faults), cluster: new(faults)}
	through := func(f *faults) *rest.Config {
		config := rest.CopyConfig(server.Config)
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { f.next = next; return f })
		return config
	}
	c, err := cloud.New(through(b.dvp), server.Namespace(t), "11111111-2222-3333-4444-555555555555")
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(through(b.cluster))
	if err != nil {
		t.Fatal(err)
	}
	if b.client, err = kubernetes.NewForConfig(server.Config); err != nil {
		t.Fatal(err)
	}
	b.Discoverer = &Discoverer{Cloud: c, Client: client, Period: time.Hour, Pause: time.Millisecond, Log: slog.New(slog.DiscardHandler)}
	if err := b.Register(prometheus.NewRegistry()); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) look() error { return b.cycle(b.t.Context()) }

// written reads the data as its readers do.
func (b *bench) written() (*corev1.Secret, Data) {
	b.t.Helper()
	secret, err := b.client.CoreV1().Secrets("kube-system").Get(b.t.Context(), "d8-cloud-provider-discovery-data", metav1.GetOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	var data Data
	if err := json.Unmarshal(secret.Data["discovery-data.json"], &data); err != nil {
		b.t.Fatal(err)
	}
	if problems := Check(secret.Data["discovery-data.json"]); problems != nil {
		b.t.Errorf("against the schema: %v", problems)
	}
	return secret, data
}

func (b *bench) class(name string, notes map[string]string) {
	b.t.Helper()
	_, err := b.client.StorageV1().StorageClasses().Create(b.t.Context(), &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: notes}, Provisioner: "test"}, metav1.CreateOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
}

// The Secret is one for the whole cluster, so all is told in one test, in order.
func TestDiscovery(t *testing.T) {
	b := newBench(t)
	secrets := b.client.CoreV1().Secrets("kube-system")
	seed := `{"apiVersion": "deckhouse.io/v1", "kind": "DVPCloudDiscoveryData", "zones": ["north"], "layout": "Standard", "storageClasses": [{"name": "seed"}]}`
	_, err := secrets.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "d8-provider-cluster-configuration"}, Data: map[string][]byte{"cloud-provider-discovery-data.json": []byte(seed)}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b.class("second", nil)
	b.class("first", map[string]string{"storageclass.kubernetes.io/is-default-class": "true"})
	b.class("hidden", map[string]string{"dvp-provider.deckhouse.io/skip-storage-class": "true"})
	names := func(d Data) string {
		var all []string
		for _, c := range d.StorageClasses {
			all = append(all, c.Name)
			if c.IsDefault {
				all[len(all)-1] += "*"
			}
		}
		return d.Kind + " " + d.APIVersion + " " + strings.Join(d.Zones, ",") + " " + strings.Join(all, " ")
	}

	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }() // whose first look is at once: the period is an hour
	deadline := time.After(30 * time.Second)
	for apierrors.IsNotFound(func() error { _, err := secrets.Get(t.Context(), secretName, metav1.GetOptions{}); return err }()) {
		select {
		case <-deadline:
			t.Fatal("nothing was written")
		case <-time.After(20 * time.Millisecond):
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	first, data := b.written()
	if got, want := names(data), "DVPCloudDiscoveryData deckhouse.io/v1 north first* second seed"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	if err := b.look(); err != nil {
		t.Fatal(err)
	}
	if again, _ := b.written(); again.ResourceVersion != first.ResourceVersion {
		t.Error("it was written although nothing changed")
	}

	b.dvp.when(func(*http.Request) bool { return true })
	if err := b.look(); !cloud.Is(err, cloud.Unreachable) || testutil.ToFloat64(b.cloudError.WithLabelValues("discovery_data")) != 1 {
		t.Errorf("got %v and metric %v, want both to tell of DVP", err, testutil.ToFloat64(b.cloudError))
	}
	if kept, _ := b.written(); kept.ResourceVersion != first.ResourceVersion {
		t.Error("what was known was not kept")
	}
	b.dvp.when(never)
	if err := b.client.StorageV1().StorageClasses().Delete(t.Context(), "first", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := b.look(); err != nil || testutil.ToFloat64(b.cloudError.WithLabelValues("discovery_data")) != 0 {
		t.Errorf("got %v, want it to be well again", err)
	}
	if _, data := b.written(); names(data) != "DVPCloudDiscoveryData deckhouse.io/v1 north first second seed" {
		t.Errorf("got %s, want the vanished class to stay, and no default", names(data))
	}

	b.class("third", nil)
	b.cluster.when(func(r *http.Request) bool { return r.Method == http.MethodPut })
	if err := b.look(); err == nil || b.cluster.count.Load() != 15 || testutil.ToFloat64(b.updateError) != 1 {
		t.Errorf("got %v after %d attempts and metric %v, want 15 and 1", err, b.cluster.count.Load(), testutil.ToFloat64(b.updateError))
	}
	b.cluster.when(func(r *http.Request) bool { return r.Method == http.MethodPut && b.cluster.count.Load() < 3 })
	if err := b.look(); err != nil || testutil.ToFloat64(b.updateError) != 0 {
		t.Errorf("got %v and metric %v, want the fourth attempt to succeed", err, testutil.ToFloat64(b.updateError))
	}
	if _, data := b.written(); !strings.HasSuffix(names(data), " third") {
		t.Errorf("got %s, want the new class", names(data))
	}

	spoilt, _ := b.written()
	spoilt.Data["discovery-data.json"] = []byte("{")
	if _, err := secrets.Update(t.Context(), spoilt, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := b.look(); err != nil {
		t.Fatal(err)
	}
	if _, data := b.written(); names(data) != "DVPCloudDiscoveryData deckhouse.io/v1 north second seed third" {
		t.Errorf("got %s, want it made anew from the seed", names(data))
	}
}

func TestSchema(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, words string }{
		"no zones":         {`{"apiVersion": "deckhouse.io/v1", "kind": "DVPCloudDiscoveryData", "zones": []}`, "zones"},
		"a zone twice":     {`{"apiVersion": "deckhouse.io/v1", "kind": "DVPCloudDiscoveryData", "zones": ["a", "a"]}`, "zones"},
		"another kind":     {`{"apiVersion": "deckhouse.io/v1", "kind": "Other", "zones": ["a"]}`, "kind"},
		"an unknown key":   {`{"apiVersion": "deckhouse.io/v1", "kind": "DVPCloudDiscoveryData", "zones": ["a"], "layout": "x"}`, "layout"},
		"a nameless class": {`{"apiVersion": "deckhouse.io/v1", "kind": "DVPCloudDiscoveryData", "zones": ["a"], "storageClasses": [{"isDefault": true}]}`, "name"},
		"no object":        {`[]`, "object"},
		"no JSON":          {`{`, "JSON"},
	} {
		if err := Check([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: got %v, want %q", name, err, c.words)
		}
	}
}
