package emulatortest

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// What docs/dvp.md asks for: in the project, and in the whole DVP.
var (
	inProject = []rbacv1.PolicyRule{
		{APIGroups: []string{"virtualization.deckhouse.io"}, Resources: []string{
			"virtualmachines", "virtualdisks", "virtualmachineblockdeviceattachments", "virtualmachineipaddresses", "virtualmachineoperations",
		}, Verbs: []string{"*"}},
		{APIGroups: []string{""}, Resources: []string{"secrets", "services"}, Verbs: []string{"*"}},
		{APIGroups: []string{"networking.k8s.io"}, Resources: []string{"networkpolicies"}, Verbs: []string{"*"}},
		{APIGroups: []string{"network.deckhouse.io"}, Resources: []string{"servicewithhealthchecks"}, Verbs: []string{"*"}},
		{APIGroups: []string{"virtualization.deckhouse.io"}, Resources: []string{"virtualimages"}, Verbs: []string{"get"}},
	}
	inAll = []rbacv1.PolicyRule{
		{APIGroups: []string{"virtualization.deckhouse.io"}, Resources: []string{"virtualmachineclasses", "clustervirtualimages"}, Verbs: []string{"get"}},
		{APIGroups: []string{"storage.k8s.io"}, Resources: []string{"storageclasses"}, Verbs: []string{"list"}},
	}
)

// access makes an account with these rights.
func (d *DVP) access() *rest.Config {
	d.t.Helper()
	ctx := d.t.Context()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: "provider"}}
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: d.Namespace, Name: account.Name}}
	for _, o := range []client.Object{
		account,
		&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: "provider"}, Rules: inProject},
		&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: "provider"}, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "provider"}},
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "provider"}, Rules: inAll},
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "provider-" + d.Namespace}, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "provider"}},
	} {
		if err := d.Create(ctx, o); err != nil && !apierrors.IsAlreadyExists(err) {
			d.t.Fatal(err)
		}
	}
	owner, err := kubernetes.NewForConfig(d.Config)
	if err != nil {
		d.t.Fatal(err)
	}
	token, err := owner.CoreV1().ServiceAccounts(d.Namespace).CreateToken(ctx, account.Name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		d.t.Fatal(err)
	}
	config := rest.CopyConfig(d.Config)
	config.BearerToken = token.Status.Token
	its, err := kubernetes.NewForConfig(config)
	if err != nil {
		d.t.Fatal(err)
	}
	// The API server's own view of roles lags behind by a moment.
	for _, may := range []authorizationv1.ResourceAttributes{
		{Namespace: d.Namespace, Verb: "create", Group: "virtualization.deckhouse.io", Resource: "virtualmachines"},
		{Verb: "list", Group: "storage.k8s.io", Resource: "storageclasses"},
	} {
		d.Eventually("the account has its rights", func(ctx context.Context) bool {
			answer, err := its.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &may}}, metav1.CreateOptions{})
			return err == nil && answer.Status.Allowed
		})
	}
	return config
}
