package runner_test

import (
	"context"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	"commander/agents/node/api/apitest"
	"commander/internal/kubetest"
)

// The API server that kubelet uses is gone; one of the others is sick, another well.
func TestOtherAPIServers(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "stranded")
	m.publish("one", nil)
	m.settled("one")
	config := kubetest.Start(t).Config
	var asked []string
	sick := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		http.Error(w, "etcd is gone", http.StatusInternalServerError)
	}))
	gone := httptest.NewTLSServer(http.NotFoundHandler())
	gone.Close()
	// The authority of the sick one must be known too, else it is simply not trusted.
	ca, err := os.ReadFile(config.CAFile)
	m.must(err)
	m.put("ca.pem", string(ca)+string(encodeCertificate(sick.Certificate().Raw)))
	m.put("kubelet.conf", "clusters:\n- cluster: {server: '"+gone.URL+"', certificate-authority: '"+m.path("ca.pem")+"'}\n")
	m.env = append(m.env, "BASHIBLE_API_SERVERS="+strings.TrimPrefix(sick.URL, "https://")+","+strings.TrimPrefix(config.Host, "https://"))
	m.runs(0, "--max-retries=1")
	sick.Close() // all that it was asked is written down
	if len(asked) == 0 || asked[0] != "/healthz" || strings.Join(asked, "") != strings.Repeat("/healthz", len(asked)) {
		t.Errorf("the sick one was asked for %v, want only whether it is well", asked)
	}
	if got := m.node().Annotations[api.AnnotationChecksum]; got != "one" {
		t.Errorf("the node told %q, want its checksum", got)
	}
}

func TestStepsSpeakToTheAPIServer(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "speaking")
	m.settled("old")
	m.annotate(`{"` + api.UpdateApproved + `":"","gone":""}`)
	m.publish("new", map[string]string{"010_speak.sh": `
bb-curl-kube-healthz
bb-curl-kube /api/v1/nodes/speaking | grep -q '"name":"speaking"'
bb-curl-kube /api/v1/nodes/speaking -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"metadata":{"annotations":{"direct":"yes"}}}' >/dev/null
bb-curl-helper-patch-node-metadata "$(bb-d8-node-name)" annotations helped=a=b gone-
bb-curl-helper-patch-node-metadata speaking labels mine=yes
! bb-curl-kube /api/v1/nodes/stranger
`})
	m.runs(0, "--max-retries=1")
	m.expectAnnotations(api.AnnotationChecksum, api.UpdateApproved, "direct", "helped")
	if n := m.node(); n.Annotations["helped"] != "a=b" || n.Labels["mine"] != "yes" {
		t.Errorf("annotations %v, labels %v", n.Annotations, n.Labels)
	}
}

// The group's checksum changes: a run is started, and none for other groups.
func TestWatchStartsARun(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "watching")
	m.settled("one")
	tell := func(values string) {
		t.Helper()
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: api.Namespace, Name: api.ChecksumsSecret}}
		m.must(client.IgnoreAlreadyExists(m.client.Create(t.Context(), s)))
		m.must(m.client.Patch(t.Context(), s, client.RawPatch("application/merge-patch+json", []byte(`{"stringData":`+values+`}`))))
	}
	tell(`{"watching":"one","other":"one"}`)
	self, err := os.Executable()
	m.must(err)
	wait, kill := m.start(self, "watch")
	t.Cleanup(func() { kill(); wait() })
	const started = "start --no-block bashible.service\n"
	tell(`{"other":"two"}`)
	tell(`{"watching":"two"}`)
	apitest.Eventually(t, "a run is started", func(context.Context) bool { return m.read("systemctl.log") == started })
	m.put("state/configuration_checksum", "two\n") // it ended well
	tell(`{"other":"three"}`)
	tell(`{"watching":"three"}`)
	apitest.Eventually(t, "another run is started", func(context.Context) bool { return m.read("systemctl.log") == started+started })
}

func encodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
