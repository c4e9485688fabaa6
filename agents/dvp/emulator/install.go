package emulator

import (
	"context"
	"fmt"
	"slices"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"commander/agents/dvp/api/virtualization"
	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// establishBound is how long the API may take to serve a new kind.
const establishBound = time.Minute

// installKinds makes the API serve DVP's kinds.
func installKinds(ctx context.Context, c client.Client) error {
	all, err := virtualization.Definitions()
	if err != nil {
		return err
	}
	for _, want := range all {
		crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: want.Name}}
		_, err := controllerutil.CreateOrUpdate(ctx, c, crd, func() error {
			crd.Labels, crd.Annotations, crd.Spec = want.Labels, want.Annotations, want.Spec
			return nil
		})
		if err != nil {
			return fmt.Errorf("install %s: %w", want.Name, err)
		}
	}
	for _, want := range all {
		err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, establishBound, true, func(ctx context.Context) (bool, error) {
			crd := new(apiextensionsv1.CustomResourceDefinition)
			if err := c.Get(ctx, client.ObjectKeyFromObject(want), crd); err != nil {
				return false, err
			}
			return slices.ContainsFunc(crd.Status.Conditions, func(condition apiextensionsv1.CustomResourceDefinitionCondition) bool {
				return condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue
			}), nil
		})
		if err != nil {
			return fmt.Errorf("wait for %s: %w", want.Name, err)
		}
	}
	return nil
}

// installNodes makes the nodes that machines run on.
func installNodes(ctx context.Context, c client.Client, names []string) error {
	for _, name := range names {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}}
		if err := c.Create(ctx, node); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("make node %s: %w", name, err)
		}
	}
	return nil
}

// installWebhooks sends the API server to our webhooks for DVP's kinds.
func installWebhooks(ctx context.Context, c client.Client, address string, authority []byte) error {
	none, fail := admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.Fail
	rule := func(resources ...string) []admissionregistrationv1.RuleWithOperations {
		return []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{v1alpha2.GroupVersion.Group}, APIVersions: []string{v1alpha2.GroupVersion.Version}, Resources: resources,
			},
		}}
	}
	at := func(path string) admissionregistrationv1.WebhookClientConfig {
		url := "https://" + address + path
		return admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: authority}
	}
	mutating := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "dvp-emulator"}}
	_, err := controllerutil.CreateOrUpdate(ctx, c, mutating, func() error {
		mutating.Webhooks = []admissionregistrationv1.MutatingWebhook{{
			Name: "default.emulator.dvp", ClientConfig: at(pathDefault), Rules: rule("virtualmachines"),
			SideEffects: &none, FailurePolicy: &fail, AdmissionReviewVersions: []string{"v1"},
		}}
		return nil
	})
	if err != nil {
		return fmt.Errorf("install webhooks: %w", err)
	}
	validating := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "dvp-emulator"}}
	_, err = controllerutil.CreateOrUpdate(ctx, c, validating, func() error {
		validating.Webhooks = []admissionregistrationv1.ValidatingWebhook{{
			Name: "validate.emulator.dvp", ClientConfig: at(pathValidate), Rules: rule("*"),
			SideEffects: &none, FailurePolicy: &fail, AdmissionReviewVersions: []string{"v1"},
		}}
		return nil
	})
	if err != nil {
		return fmt.Errorf("install webhooks: %w", err)
	}
	return nil
}
