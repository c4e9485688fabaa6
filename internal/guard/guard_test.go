package guard_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"commander/internal/clock"
	"commander/internal/guard"
	"commander/internal/kubetest"
)

func attributes(namespace string) authorizationv1.ResourceAttributes {
	return authorizationv1.ResourceAttributes{
		Group: "apps", Resource: "daemonsets", Subresource: "prometheus-metrics", Name: "early-oom", Namespace: namespace, Verb: "get",
	}
}

// serve starts a guarded server with a certificate of its own and returns how to ask it.
func serve(t *testing.T, g *guard.Guard) func(token string) int {
	t.Helper()
	config, err := guard.TLS("", "", "early-oom", clock.System{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(g.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "secret") })))
	server.TLS = config
	server.StartTLS()
	t.Cleanup(server.Close)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // as Prometheus does
	return func(token string) int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		return answer.StatusCode
	}
}

// account makes a service account and returns a token for it.
func account(t *testing.T, client kubernetes.Interface, namespace, name string) string {
	t.Helper()
	accounts := client.CoreV1().ServiceAccounts(namespace)
	if _, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	token, err := accounts.CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return token.Status.Token
}

func TestOnlyWhoMayIsLetIn(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	client, err := kubernetes.NewForConfig(server.Config)
	if err != nil {
		t.Fatal(err)
	}
	namespace := server.Namespace(t)
	now := clock.At(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	ask := serve(t, guard.New(client, attributes(namespace), now))
	token := account(t, client, namespace, "prometheus")

	for name, test := range map[string]struct {
		token string
		want  int
	}{"no token": {"", 401}, "a made-up token": {"made-up", 401}, "an account without the right": {token, 403}} {
		if got := ask(test.token); got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
	}

	roles, bindings := client.RbacV1().Roles(namespace), client.RbacV1().RoleBindings(namespace)
	_, err = roles.Create(t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "scrape"},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"apps"}, Resources: []string{"daemonsets/prometheus-metrics"}, ResourceNames: []string{"early-oom"}, Verbs: []string{"get"},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = bindings.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "scrape"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "scrape"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: "prometheus", Namespace: namespace}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := ask(token); got != 403 {
		t.Errorf("within ten seconds: got %d, want the verdict that is known", got)
	}
	// The API server's own view of roles may lag by a moment, hence the loop.
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for got := 0; got != 200; {
		now.Advance(10 * time.Second)
		if got = ask(token); got == 200 {
			break
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("got %d, want 200 once the account has the right", got)
		case <-tick.C:
		}
	}
}

func TestClosedWhileNobodyCanJudge(t *testing.T) {
	t.Parallel()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "https://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	ask := serve(t, guard.New(client, attributes("x"), clock.System{}))
	if got := ask("any"); got != 503 {
		t.Errorf("got %d, want 503", got)
	}
}
