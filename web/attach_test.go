package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"commander/fleet"
	"commander/internal/kubetest"
	"commander/store"
	"commander/views/clusters"
	"commander/views/paths"
)

// reaching is the kubeconfig of a control plane.
func reaching(t *testing.T, config *rest.Config) string {
	t.Helper()
	config = rest.CopyConfig(config)
	require.NoError(t, rest.LoadTLSFiles(config))
	file := api.NewConfig()
	file.Clusters["x"] = &api.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	file.AuthInfos["x"] = &api.AuthInfo{Token: config.BearerToken, ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}
	file.Contexts["x"] = &api.Context{Cluster: "x", AuthInfo: "x"}
	file.CurrentContext = "x"
	out, err := clientcmd.Write(*file)
	require.NoError(t, err)
	return string(out)
}

const attached = "apiVersion: deckhouse.io/v1\nkind: ClusterConfiguration\nclusterType: Static\nkubernetesVersion: \"1.37\"\npodSubnetCIDR: 10.1.0.0/16\nserviceSubnetCIDR: 10.2.0.0/16\n"

// TestAClusterOfOthersIsAttachedAndDetached goes the whole way from the form to the archive and back.
func TestAClusterOfOthersIsAttachedAndDetached(t *testing.T) {
	t.Parallel()
	plane := kubetest.Start(t)
	good := reaching(t, plane.Config)
	s := newSite(t)
	b := s.as("ann", store.RoleFull)
	form := b.get(paths.AttachCluster("demo"))
	require.Equal(t, http.StatusOK, form.StatusCode)
	send := func(name, kubeconfig string) answer {
		return b.post(paths.AttachCluster("demo"), form.fill(t, "main form", clusters.FieldName, name, clusters.FieldKubeconfig, kubeconfig))
	}
	for about, c := range map[string]struct{ kubeconfig, problem string }{
		"nothing":      {"", "Paste a kubeconfig."},
		"not one":      {"a: b", "not a kubeconfig"},
		"a program":    {strings.Replace(good, "  user:\n", "  user:\n    exec: {command: /bin/true}\n", 1), "names programs"},
		"no HTTPS":     {strings.Replace(good, "https://", "http://", 1), "not an https:// address"},
		"nobody there": {strings.Replace(good, plane.Config.Host, "https://127.0.0.1:1", 1), "cannot be reached"},
		"wrong token":  {strings.Replace(good, plane.Config.BearerToken, "nonsense", 1), "refuses the user"},
		"another CA":   {reaching(t, &rest.Config{Host: plane.Config.Host, BearerToken: "x", TLSClientConfig: rest.TLSClientConfig{CAData: []byte(s.CABundle)}}), "kubeconfig"},
	} {
		got := send("taken", c.kubeconfig)
		require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode, about)
		require.Contains(t, got.Find("#f-kubeconfig-problem").Text(), c.problem, about)
	}
	require.Contains(t, send("Not A Name", good).Find("#f-name-problem").Text(), "lower-case")
	require.Zero(t, b.get(paths.Clusters("demo")).Find("main tbody tr").Length(), "nothing is saved")

	client := kubernetes.NewForConfigOrDie(plane.Config)
	mark := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "d8-commander-uuid", Namespace: "kube-system"}, Data: map[string]string{"commander-uuid": uuid.NewString()}}
	_, err := client.CoreV1().ConfigMaps("kube-system").Create(t.Context(), mark, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Contains(t, send("taken", good).Find("#f-kubeconfig-problem").Text(), "managed by another Commander")
	require.NoError(t, client.CoreV1().ConfigMaps("kube-system").Delete(t.Context(), "d8-commander-uuid", metav1.DeleteOptions{}))

	saved := send("taken", good)
	require.Equal(t, http.StatusSeeOther, saved.StatusCode, saved.text)
	at := saved.Header.Get("Location")
	require.Equal(t, at, send("taken", good).Header.Get("Location"), "a form that is sent twice makes one cluster")
	page := b.get(at)
	require.Equal(t, "Ready to join", page.Find("main .chips .chip").First().Text())
	id := strings.TrimPrefix(at, "/clusters/")
	require.Equal(t, paths.ClusterJoining(id), page.Find(".notice[data-kind=next] form").AttrOr("action", ""))

	task := s.tasked(b.post(paths.ClusterJoining(id), nil))
	require.Equal(t, "Joining", b.get(at).Find("main .chips .chip").First().Text())
	d := fleet.Delivery{TaskID: task.ID, Attempt: task.Attempt}
	work, err := s.Claim(t.Context(), d, "worker")
	require.NoError(t, err)
	require.Contains(t, string(work.Kubeconfig), plane.Config.BearerToken)
	require.NotEmpty(t, work.AgentToken)
	require.NoError(t, s.AppendLog(t.Context(), d, 1, []string{"it broke half way"}))
	require.NoError(t, s.Finish(t.Context(), d, fleet.Ending{Status: store.TaskFailed, Error: "no"}))
	require.Equal(t, "Ready to join", b.get(at).Find("main .chips .chip").First().Text(), "a failure can be tried again")
	require.Contains(t, b.get(paths.TaskLog(task.ID.String())).text, "it broke half way")

	task = s.tasked(b.post(paths.TaskRetry(task.ID.String()), nil))
	s.end(task, fleet.Ending{Status: store.TaskSucceeded, State: []byte(`{}`), Actual: &store.Actual{ClusterConfiguration: attached}})
	page = b.get(at)
	require.Equal(t, "Ready", page.Find("main .chips .chip").First().Text())
	require.Contains(t, page.Find("aside").Text(), "No template")
	require.Zero(t, page.Find(".drift").Length())
	unmade := b.get(paths.ClusterConfiguration(id))
	require.Contains(t, unmade.Find("main .section").Text(), "podSubnetCIDR: 10.1.0.0/16")
	first := unmade.Find("main .choices a").First().AttrOr("href", "")
	require.Equal(t, 1, b.get(first).Find(clusterForm).Length(), "it may have a template from now on")
	require.Equal(t, http.StatusConflict, b.post(paths.ClusterDeletion(id), map[string][]string{"name": {"taken"}}).StatusCode, "its machines are not ours")

	ask := b.get(paths.ClusterDetachment(id))
	require.Contains(t, ask.Find("main").Text(), "runs on")
	task = s.tasked(b.post(paths.ClusterDetachment(id), nil))
	require.Equal(t, "Detaching", b.get(at).Find("main .chips .chip").First().Text())
	s.end(task, fleet.Ending{Status: store.TaskSucceeded})
	archived, err := s.Store.Cluster(t.Context(), uuid.MustParse(id))
	require.NoError(t, err)
	require.NotNil(t, archived.ArchivedAt)
	require.Equal(t, store.ClusterDetached, archived.Status)
	_, err = s.Store.ClusterState(t.Context(), archived.ID)
	require.Error(t, err, "what reached it is forgotten")
	form = b.get(paths.AttachCluster("demo"))
	require.Equal(t, http.StatusSeeOther, send("taken", good).StatusCode, "and attached again")
}

// tasked is the task that an answer leads to.
func (s *site) tasked(a answer) store.Task {
	s.t.Helper()
	id, err := uuid.Parse(strings.TrimPrefix(a.Header.Get("Location"), "/tasks/"))
	require.NoError(s.t, err, a.text)
	row, err := s.Store.Task(s.t.Context(), id)
	require.NoError(s.t, err)
	return row.Task
}

func TestDetachWorksFromStatesThatWait(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.as("ann", store.RoleFull)
	waiting := s.installed("waiting")
	_, err := s.SetClusterSettings(t.Context(), fleet.System, waiting.ID, fleet.ClusterSettings{Mode: store.SyncManual, CheckEvery: 1})
	require.NoError(t, err)
	s.check(waiting, fleet.Ending{OutOfSync: true})
	asking := s.installed("asking")
	task, err := s.Converge(t.Context(), fleet.System, asking.ID)
	require.NoError(t, err)
	s.end(task, fleet.Ending{Status: store.TaskWaitingApproval, ChangeID: "x"})
	for name, c := range map[string]store.Cluster{"pending changes": waiting, "destructive changes": asking} {
		require.Equal(t, 1, b.get(paths.Cluster(c.ID.String())).Find(`main .menu a[href="`+paths.ClusterDetachment(c.ID.String())+`"]`).Length(), name)
		s.end(s.tasked(b.post(paths.ClusterDetachment(c.ID.String()), nil)), fleet.Ending{Status: store.TaskSucceeded})
		after, err := s.Store.Cluster(t.Context(), c.ID)
		require.NoError(t, err)
		require.Equal(t, store.ClusterDetached, after.Status, name)
	}
	protected := s.installed("protected")
	_, err = s.LockCluster(t.Context(), fleet.System, protected.ID, true)
	require.NoError(t, err)
	require.Equal(t, http.StatusConflict, b.post(paths.ClusterDetachment(protected.ID.String()), nil).StatusCode)
}
