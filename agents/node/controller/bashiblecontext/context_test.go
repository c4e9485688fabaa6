package bashiblecontext

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	"commander/agents/node/api/apitest"
	v1 "commander/agents/node/api/v1"
	"commander/agents/node/bashible/input"
	"commander/internal/clock"
	"commander/internal/kubetest"
)

const configurationText = `
clusterType: Cloud
cloud: {provider: DVP, prefix: x}
podSubnetNodeCIDRPrefix: "24"
serviceSubnetCIDR: 10.222.0.0/16
kubernetesVersion: Automatic
clusterDomain: cluster.local
defaultCRI: ContainerdV2
proxy: {httpProxy: "http://p:3128", noProxy: [local]}
`

func TestContextOfARealCluster(t *testing.T) {
	t.Parallel()
	_, c := apitest.Start(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	port, name := int32(6443), "https"
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: api.Namespace}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: systemNamespace, Name: clusterSecret}, Data: map[string][]byte{clusterKey: []byte(configurationText)}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: systemNamespace, Name: identityMap}, Data: map[string]string{identityKey: "u-u-i-d"}},
		&discoveryv1.EndpointSlice{
			ObjectMeta:  metav1.ObjectMeta{Namespace: "default", Name: "kubernetes", Labels: map[string]string{discoveryv1.LabelServiceName: "kubernetes"}},
			AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: &name, Port: &port}},
			Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.2"}}, {Addresses: []string{"10.0.0.1"}}},
		},
		&v1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "worker"}, Spec: v1.NodeGroupSpec{NodeType: v1.CloudPermanent}},
	} {
		must(c.Create(t.Context(), o))
	}
	fake := clock.At(time.Now())
	r := &Reconciler{Client: c, Direct: c, Clock: fake, Version: func() (string, error) { return "1.37", nil }}
	read := func() input.Cluster {
		t.Helper()
		_, err := r.Reconcile(t.Context(), ctrl.Request{})
		must(err)
		secret := new(corev1.Secret)
		must(c.Get(t.Context(), client.ObjectKey{Namespace: api.Namespace, Name: input.Secret}, secret))
		parsed, err := input.Parse(secret.Data[input.Key])
		must(err)
		return parsed
	}
	if _, err := r.Reconcile(t.Context(), ctrl.Request{}); err == nil || !strings.Contains(err.Error(), authorityMap) {
		t.Fatalf("without the cluster's authority: got %v, want an error that names what is missing", err)
	}
	must(c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: systemNamespace, Name: authorityMap}, Data: map[string]string{authorityKey: "PEM"}}))
	got := read()
	if got.DNSAddress != "10.222.0.10" || got.KubernetesVersion != "1.37" || got.CA != "PEM" || got.UUID != "u-u-i-d" ||
		got.CloudProvider["type"] != "dvp" || got.Proxy.HTTP != "http://p:3128" || got.Domain != "cluster.local" ||
		strings.Join(got.APIServerEndpoints, " ") != "10.0.0.1:6443 10.0.0.2:6443" {
		t.Errorf("got %+v", got)
	}
	group := got.NodeGroups[0]
	if cri, _ := group["cri"].(map[string]any); group.Name() != "worker" || group["kubernetesVersion"] != "1.37" || cri["type"] != "ContainerdV2" {
		t.Errorf("got group %v, want what it leaves open decided", group)
	}
	token := got.BootstrapTokens["worker"]
	again := read()
	if again.BootstrapTokens["worker"] != token {
		t.Error("a good token was replaced")
	}
	fake.Set(fake.Now().Add(tokenLife - tokenLeft + time.Minute))
	if read().BootstrapTokens["worker"] == token {
		t.Error("a token that soon expires is still given to machines")
	}
	// The token opens the API: as what the machine's group is known by.
	made := new(corev1.Secret)
	id, _, _ := strings.Cut(token, ".")
	must(c.Get(t.Context(), client.ObjectKey{Namespace: systemNamespace, Name: "bootstrap-token-" + id}, made))
	if made.Labels[api.LabelTokenGroup] != "worker" {
		t.Errorf("token has labels %v, want its group", made.Labels)
	}
	machine, err := client.New(kubetest.Start(t).WithToken(token), client.Options{Scheme: apitest.Scheme(t)})
	must(err)
	if err := machine.List(t.Context(), new(corev1.NodeList)); err == nil || !strings.Contains(err.Error(), `User "system:bootstrap:`+id) {
		t.Errorf("got %v, want the token known and without rights", err)
	}
}
