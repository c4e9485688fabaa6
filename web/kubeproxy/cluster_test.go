package kubeproxy

import (
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"commander/fleet"
	"commander/internal/kubetest"
	"commander/store"
)

// agent plays the far end of the tunnel before a real API server: it puts its own credentials in.
func agent(t *testing.T, config *rest.Config) http.Handler {
	t.Helper()
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return &httputil.ReverseProxy{Transport: transport, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
}

// kubectl is a client with the kubeconfig that people get.
func (b *bench) kubectl(t *testing.T) *kubernetes.Clientset {
	t.Helper()
	body, err := Kubeconfig(b.URL, "", fleet.KubeToken{Secret: "good", Cluster: store.Cluster{ID: clusterID, Name: "test"}})
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(body)
	if err != nil {
		t.Fatal(err)
	}
	config.Insecure = true // the certificate is of this test alone
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// bind gives the groups what the agent's resource group commander-access gives them.
func bind(t *testing.T, admin *kubernetes.Clientset, role store.Role, clusterRole string) {
	t.Helper()
	_, err := admin.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "d8:commander:" + string(role)},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: clusterRole},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: fleet.KubeGroup(role)}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRolesAgainstARealAPIServer(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	space := server.Namespace(t)
	admin, err := kubernetes.NewForConfig(server.Config)
	if err != nil {
		t.Fatal(err)
	}
	bind(t, admin, store.RoleFull, "cluster-admin")
	bind(t, admin, store.RoleReadOnly, "view")
	for _, rule := range viewRules(t, admin) { // the rights of people rest on this
		for _, name := range []string{"secrets", "pods/exec", "pods/portforward", "pods/attach", "pods/proxy", "services/proxy", "*"} {
			if slices.Contains(rule.Resources, name) {
				t.Errorf("view has %s: %v", name, rule)
			}
		}
	}
	b := start(t, agent(t, server.Config))
	client := b.kubectl(t)
	ctx := t.Context()

	if version, err := client.Discovery().ServerVersion(); err != nil || version.Major != "1" {
		t.Fatalf("version: got %v, error %v", version, err)
	}
	if _, lists, err := client.Discovery().ServerGroupsAndResources(); err != nil || len(lists) < 10 {
		t.Fatalf("discovery: got %d lists, error %v", len(lists), err)
	}
	watch, err := client.CoreV1().Secrets(space).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	made, err := client.CoreV1().Secrets(space).Create(ctx, secret, metav1.CreateOptions{FieldManager: "kubectl"})
	if err != nil {
		t.Fatalf("the full role cannot make a secret: %v", err)
	}
	if event := <-watch.ResultChan(); event.Object.(*corev1.Secret).UID != made.UID {
		t.Errorf("watch: got %+v, want the new secret", event)
	}

	b.rights.become(store.RoleReadOnly, nil)
	if _, err := client.CoreV1().Pods(space).List(ctx, metav1.ListOptions{}); err != nil {
		t.Errorf("the read-only role cannot list pods: %v", err)
	}
	path := "/api/v1/namespaces/" + space + "/pods/a/"
	for name, err := range map[string]error{
		"read secrets":    second(client.CoreV1().Secrets(space).List(ctx, metav1.ListOptions{})),
		"make configmaps": second(client.CoreV1().ConfigMaps(space).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})),
		"exec":            client.CoreV1().RESTClient().Post().AbsPath(path + "exec").Do(ctx).Error(),
		"port-forward":    client.CoreV1().RESTClient().Post().AbsPath(path + "portforward").Do(ctx).Error(),
		"proxy":           client.CoreV1().RESTClient().Get().AbsPath(path + "proxy").Do(ctx).Error(),
		"impersonate": client.CoreV1().RESTClient().Get().AbsPath("/api/v1/namespaces/"+space+"/secrets").
			SetHeader("Impersonate-User", "x").SetHeader("Impersonate-Group", "system:masters").Do(ctx).Error(),
	} {
		if !errors.IsForbidden(err) || !strings.Contains(err.Error(), "commander:user:ann@example.com") {
			t.Errorf("the read-only role may %s: got %v, want a refusal of the person", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// viewRules are what Kubernetes collects into its role view, and fills it as its controller does,
// which these tests run without.
func viewRules(t *testing.T, admin *kubernetes.Clientset) []rbacv1.PolicyRule {
	t.Helper()
	parts, err := admin.RbacV1().ClusterRoles().List(t.Context(), metav1.ListOptions{LabelSelector: "rbac.authorization.k8s.io/aggregate-to-view=true"})
	if err != nil {
		t.Fatal(err)
	}
	view, err := admin.RbacV1().ClusterRoles().Get(t.Context(), "view", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	view.Rules = nil
	for _, part := range parts.Items {
		view.Rules = append(view.Rules, part.Rules...)
	}
	if _, err := admin.RbacV1().ClusterRoles().Update(t.Context(), view, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if len(view.Rules) == 0 {
		t.Fatal("view has no rules")
	}
	return view.Rules
}
