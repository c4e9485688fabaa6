package dhctl_test

import (
	"strings"
	"testing"

	authorization "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"commander/agents/dhctl/guest"
	"commander/internal/kubetest"
)

// TestTheAgentRunsInsideAClusterOfOthers attaches a real control plane where nothing runs agents
// beside clusters: the agent is put into the cluster, with what it needs and no more than one of it.
func TestTheAgentRunsInsideAClusterOfOthers(t *testing.T) {
	t.Parallel()
	plane := kubetest.StartAt(t, "127.0.0.1", "namespace-controller")
	kubeconfig := kubeconfigOf(t, plane.Config)
	api := kubernetes.NewForConfigOrDie(plane.Config)
	if _, refused := attach(t, serveReal(t, "", nil), id, kubeconfig, false); !strings.Contains(refused.GetErr(), "--agent-image") {
		t.Fatalf("without an image: got %q", refused.GetErr())
	}
	const image = "registry.example.com/commander-agent:v1"
	client := serveReal(t, image, nil)
	_, joined := attach(t, client, id, kubeconfig, false)
	if joined.GetErr() != "" {
		t.Fatal(joined.GetErr())
	}
	documents := found(t, joined)
	deployment, err := api.AppsV1().Deployments(guest.Namespace).Get(t.Context(), "commander-agent", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod := deployment.Spec.Template.Spec
	args := strings.Join(pod.Containers[0].Args, " ")
	if pod.Containers[0].Image != image || !strings.Contains(args, "--commander-url=https://localhost:8443") || strings.Contains(args, "secret") {
		t.Errorf("the agent: got image %s and arguments %s, want no token among them", pod.Containers[0].Image, args)
	}
	prefers := pod.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	if len(prefers) != 1 || prefers[0].Preference.MatchExpressions[0].Key != "node-role.kubernetes.io/control-plane" || pod.Tolerations[0].Operator != corev1.TolerationOpExists {
		t.Errorf("where it runs: got %+v and %+v, want the machines of the control plane", prefers, pod.Tolerations)
	}
	token, err := api.CoreV1().Secrets(guest.Namespace).Get(t.Context(), "auth-token", metav1.GetOptions{})
	if err != nil || string(token.Data["token"]) != "secret" {
		t.Errorf("token: got %v, %v", token.Data, err)
	}

	// The API server admits its pod under the rules of its namespace: it runs as nobody.
	admitted, err := api.CoreV1().Pods(guest.Namespace).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "agent", Labels: deployment.Spec.Template.Labels}, Spec: pod,
	}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil || admitted.Spec.ServiceAccountName != "commander-agent" {
		t.Errorf("its pod is not admitted: %v", err)
	}
	root := pod.DeepCopy()
	root.SecurityContext.RunAsNonRoot = nil
	if _, err := api.CoreV1().Pods(guest.Namespace).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "root"}, Spec: *root,
	}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); !apierrors.IsForbidden(err) {
		t.Errorf("another pod in its namespace: got %v, want that it is refused", err)
	}
	for _, needs := range []authorization.ResourceAttributes{
		{Verb: "patch", Group: "example.com", Resource: "shops", Namespace: "shop"},
		{Verb: "impersonate", Resource: "users"},
		{Verb: "create", Group: "rbac.authorization.k8s.io", Resource: "clusterrolebindings"},
	} {
		answer, err := api.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorization.SubjectAccessReview{
			Spec: authorization.SubjectAccessReviewSpec{User: "system:serviceaccount:" + guest.Namespace + ":commander-agent", ResourceAttributes: &needs},
		}, metav1.CreateOptions{})
		if err != nil || !answer.Status.Allowed {
			t.Errorf("%s %s: not allowed, %v", needs.Verb, needs.Resource, err)
		}
	}

	// Joining again, as after an interruption, changes nothing.
	if _, again := attach(t, client, id, kubeconfig, false); again.GetErr() != "" {
		t.Fatal(again.GetErr())
	}
	same, err := api.AppsV1().Deployments(guest.Namespace).Get(t.Context(), "commander-agent", metav1.GetOptions{})
	if err != nil || same.Generation != deployment.Generation {
		t.Errorf("again: generation %d became %d, %v", deployment.Generation, same.Generation, err)
	}

	if r := detach(t, client, id, documents.Actual.Cluster, joined.GetState()); r.GetErr() != "" {
		t.Fatal(r.GetErr())
	}
	if _, err := api.RbacV1().ClusterRoleBindings().Get(t.Context(), guest.Binding, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("its rights are left: %v", err)
	}
	if _, err := api.CoreV1().Namespaces().Get(t.Context(), guest.Namespace, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("its namespace is left: %v", err)
	}
}
