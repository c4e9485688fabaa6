package charts

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	"commander/agents/node/bashible/input"
	"commander/internal/kubetest"
)

// ticks is the CPU time of a process, in the kernel's hundredths of a second, and its resident memory.
func used(t *testing.T, process *os.Process) (cpu time.Duration, resident float64) {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	user, _ := strconv.Atoi(fields[11])   // the kernel writes numbers
	system, _ := strconv.Atoi(fields[12]) // likewise
	pages, _ := strconv.Atoi(fields[21])  // likewise
	return time.Duration(user+system) * 10 * time.Millisecond, float64(pages) * 4 / 1024
}

// Five hundred groups, and nodes that ask five thousand times a minute, through the API server and
// with certificates of nodes.
func TestFigureOfTheServer(t *testing.T) {
	kubetest.Figures(t)
	c := newCluster(t)
	c.describe()
	const groups, perMinute, bounded = 500, 5000, time.Minute
	in := input.Cluster{
		Domain: "cluster.local", DNSAddress: "10.222.0.10", KubernetesVersion: "1.37", CA: c.ca, APIServerEndpoints: []string{"10.0.0.1:6443"},
		PackagesProxy: input.PackagesProxy{Addresses: []string{"10.0.0.1:4219"}, Token: "t"},
	}
	for i := range groups {
		in.NodeGroups = append(in.NodeGroups, input.Group{"name": fmt.Sprint("g", i), "nodeType": "CloudPermanent", "kubernetesVersion": "1.37", "cri": map[string]any{"type": "Containerd"}})
	}
	text, err := in.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	c.create(secret(namespace, input.Secret, map[string]string{input.Key: string(text)}))
	began := time.Now()
	server := c.startServer()
	checksums := new(corev1.Secret)
	c.eventually("all are rendered", func(ctx context.Context) bool {
		return c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: api.ChecksumsSecret}, checksums) == nil && len(checksums.Data) == groups
	})
	t.Logf("%d groups rendered and published %s after the start", groups, time.Since(began).Round(time.Millisecond))
	const nodes = 20
	var clients []*http.Client
	for i := range nodes {
		name := fmt.Sprint("node-", i)
		c.create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{api.LabelGroup: fmt.Sprint("g", i)}}})
		made, err := rest.HTTPClientFor(c.server.As(t, "system:node:"+name, "system:nodes"))
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, made)
	}
	ask := func(i int, kind string) (time.Duration, error) {
		began := time.Now()
		answer, err := clients[i].Get(fmt.Sprintf("%s/apis/bashible.deckhouse.io/v1alpha1/%s/g%d", c.server.Config.Host, kind, i))
		if err != nil {
			return 0, err
		}
		defer answer.Body.Close()
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
			return 0, fmt.Errorf("%s: %v", answer.Status, err) //nolint:errorlint // there may be none
		}
		return time.Since(began), nil
	}
	for i := range nodes {
		c.eventually("node is answered", func(context.Context) bool { _, err := ask(i, "nodegroupbundles"); return err == nil })
	}
	before, _ := used(t, server)
	var mu sync.Mutex
	var took []time.Duration
	var asked sync.WaitGroup
	started := time.Now()
	pace := time.NewTicker(bounded / perMinute)
	defer pace.Stop()
	for n := range perMinute {
		<-pace.C
		asked.Go(func() {
			// As a node does: the script each time, the steps after a change.
			d, err := ask(n%nodes, []string{"bashibles", "nodegroupbundles"}[n%2])
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			took = append(took, d)
		})
	}
	asked.Wait()
	elapsed := time.Since(started)
	after, resident := used(t, server)
	t.Logf("%d GETs in %s: median %s, p99 %s; CPU of the server %.1f %% of a core; %.0f MiB resident", len(took), elapsed.Round(time.Second),
		kubetest.At(took, 0.5), kubetest.At(took, 0.99), 100*float64(after-before)/float64(elapsed), resident)
}

// What psi-monitor holds in memory when nothing happens.
func TestFigureOfPSIMonitor(t *testing.T) {
	kubetest.Figures(t)
	c := newCluster(t)
	monitor := c.start("psi-monitor", "early-oom", "--node-name=n", "--available=0.001", "--listen=127.0.0.1:0", "--health-listen=127.0.0.1:0")
	c.eventually("it follows pods", func(context.Context) bool { return c.witness.used("early-oom", right{"", "", "pods", "watch", ""}) })
	before, _ := used(t, monitor)
	time.Sleep(20 * time.Second)
	after, resident := used(t, monitor)
	t.Logf("%.1f MiB resident, CPU %.2f %% of a core", resident, 100*float64(after-before)/float64(20*time.Second))
}
