package charts

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"
)

// right is one thing that an account may do or did.
type right struct {
	namespace string // empty means everywhere
	group     string
	resource  string // with its subresource
	verb      string
	name      string // empty means any
}

func (r right) String() string {
	return fmt.Sprintf("%s %s.%s %q in namespace %q", r.verb, r.resource, r.group, r.name, r.namespace)
}

// covers says whether doing is one of what may be done.
func (r right) covers(doing right) bool {
	return (r.namespace == "" || r.namespace == doing.namespace) && r.group == doing.group && r.resource == doing.resource &&
		r.verb == doing.verb && (r.name == "" || r.name == doing.name)
}

// granted lists what the chart lets an account do by roles of the chart's own.
func granted(t *testing.T, objects rendered, account string) []right {
	t.Helper()
	roles := map[string][]rbacv1.PolicyRule{}
	var all []right
	for _, o := range objects {
		if o.GetKind() == "Role" || o.GetKind() == "ClusterRole" {
			role := new(rbacv1.ClusterRole)
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, role); err != nil {
				t.Fatal(err)
			}
			roles[nameOf(o)] = role.Rules
		}
	}
	for _, o := range objects {
		if o.GetKind() != "RoleBinding" && o.GetKind() != "ClusterRoleBinding" {
			continue
		}
		binding := new(rbacv1.RoleBinding)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, binding); err != nil {
			t.Fatal(err)
		}
		if binding.Subjects[0].Kind != rbacv1.ServiceAccountKind || binding.Subjects[0].Name != account {
			continue
		}
		role := binding.RoleRef.Kind + "/" + binding.RoleRef.Name
		if binding.RoleRef.Kind == "Role" {
			role = binding.RoleRef.Kind + "/" + binding.Namespace + "/" + binding.RoleRef.Name
		}
		for _, rule := range roles[role] {
			names := rule.ResourceNames
			if len(names) == 0 {
				names = []string{""}
			}
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						for _, name := range names {
							all = append(all, right{binding.Namespace, group, resource, verb, name})
						}
					}
				}
			}
		}
	}
	return all
}

// rights are what was done.
type rights = sets.Set[right]

// witness stands between programs and the API server, lets each act as its account and writes down
// what it does.
type witness struct {
	t      *testing.T
	server *rest.Config

	mu      sync.Mutex // protects what follows
	done    map[string]rights
	refused map[string]rights
}

// as is an API server for one account, to which its requests are forwarded. The node is where its
// pod would run.
func (w *witness) as(account, node string) *rest.Config {
	w.t.Helper()
	target, err := url.Parse(w.server.Host)
	if err != nil {
		w.t.Fatal(err)
	}
	transport, err := rest.TransportFor(w.server)
	if err != nil {
		w.t.Fatal(err)
	}
	requests := &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	forward := &httputil.ReverseProxy{
		FlushInterval: -1, Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Set("Impersonate-User", "system:serviceaccount:"+namespace+":"+account)
			r.Out.Header["Impersonate-Group"] = []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"}
			if node != "" {
				r.Out.Header["Impersonate-Extra-Authentication.kubernetes.io%2fnode-Name"] = []string{node}
			}
		},
		ModifyResponse: func(answer *http.Response) error {
			info, err := requests.NewRequestInfo(answer.Request)
			if err != nil || !info.IsResourceRequest {
				return err
			}
			did := right{info.Namespace, info.APIGroup, info.Resource, info.Verb, info.Name}
			if info.Subresource != "" {
				did.resource += "/" + info.Subresource
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			into := w.done
			if answer.StatusCode == http.StatusForbidden {
				into = w.refused
			}
			if into[account] == nil {
				into[account] = rights{}
			}
			into[account].Insert(did)
			return nil
		},
	}
	front := httptest.NewServer(forward)
	w.t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
	return &rest.Config{Host: front.URL, QPS: 1000, Burst: 1000}
}

// used says whether an account has done what a right lets it do. Who watches has to be able to
// list: that is what clients fall back to where a server does not send a list as a watch.
func (w *witness) used(account string, may right) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	watch := may
	watch.verb = "watch"
	for did := range w.done[account] {
		if may.covers(did) || may.verb == "list" && watch.covers(did) {
			return true
		}
	}
	return false
}

// judge tells of each request that was refused and each right that was not used.
func (w *witness) judge(objects rendered, account string) {
	w.t.Helper()
	for _, may := range granted(w.t, objects, account) {
		if !w.used(account, may) {
			w.t.Errorf("%s may %s, but never does", account, may)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.done[account]) == 0 {
		w.t.Errorf("%s did nothing", account)
	}
	refused := slices.SortedFunc(maps.Keys(w.refused[account]), func(a, b right) int { return cmp.Compare(a.String(), b.String()) })
	for _, did := range refused {
		w.t.Errorf("%s was refused to %s", account, did)
	}
}

// kubeconfig is how a program is told of such an API server.
func kubeconfig(t *testing.T, config *rest.Config) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "x",
		"clusters": []any{map[string]any{"name": "c", "cluster": map[string]any{"server": config.Host}}},
		"users":    []any{map[string]any{"name": "u", "user": map[string]any{}}},
		"contexts": []any{map[string]any{"name": "x", "context": map[string]any{"cluster": "c", "user": "u"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return file(t, "kubeconfig", string(text))
}

// The right that nobody needs, and what is done without one, are both seen.
func TestRightsAreJudged(t *testing.T) {
	t.Parallel()
	may := right{"", "", "pods", "list", ""}
	for did, covered := range map[right]bool{
		{"a", "", "pods", "list", ""}: true, {"a", "", "pods", "get", "x"}: false, {"", "", "pods", "list", ""}: true, {"", "apps", "pods", "list", ""}: false,
	} {
		if got := may.covers(did); got != covered {
			t.Errorf("%s covers %s: %t, want %t", may, did, got, covered)
		}
	}
	named := right{"a", "", "secrets", "get", "one"}
	if named.covers(right{"a", "", "secrets", "get", "two"}) || named.covers(right{"b", "", "secrets", "get", "one"}) || !named.covers(named) {
		t.Error("a right on one object in one namespace covers another")
	}
	objects, err := render(t, nodeManager, namespace, needed(nil))
	if err != nil {
		t.Fatal(err)
	}
	if all := granted(t, objects, "fencing-controller"); !slices.ContainsFunc(all, func(r right) bool {
		return r == right{"", "", "nodes", "delete", ""}
	}) || strings.Contains(fmt.Sprint(all), "secrets") {
		t.Errorf("the fencing controller may %v", all)
	}
}
