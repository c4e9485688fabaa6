package webhook

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	v1 "commander/agents/node/api/v1"
	"commander/agents/node/api/v1alpha1"
	"commander/agents/node/api/v1alpha2"
)

// Setup adds the judge (/validate-deckhouse-io-v1-nodegroup) and the conversion (/convert) to the
// server of a manager, whose scheme must know all versions of NodeGroup.
func Setup(manager ctrl.Manager) error {
	direct := manager.GetAPIReader()
	converter := conversion.NewHubSpokeConverter(&v1.NodeGroup{}, oldest(direct), old(direct))
	err := ctrl.NewWebhookManagedBy(manager, &v1.NodeGroup{}).
		WithValidator(&Validator{direct}).WithConverter(converter).Complete()
	if err != nil {
		return fmt.Errorf("set up webhooks: %w", err)
	}
	return nil
}

func oldest(direct client.Reader) conversion.SpokeConverter[*v1.NodeGroup] {
	return conversion.NewSpokeConverter(&v1alpha1.NodeGroup{},
		func(_ context.Context, from *v1.NodeGroup, to *v1alpha1.NodeGroup) error { to.FromV1(from); return nil },
		func(ctx context.Context, from *v1alpha1.NodeGroup, to *v1.NodeGroup) error {
			cloud, err := readProvider(ctx, direct)
			if err == nil {
				from.ToV1(to, cloud.makes)
			}
			return err
		})
}

func old(direct client.Reader) conversion.SpokeConverter[*v1.NodeGroup] {
	return conversion.NewSpokeConverter(&v1alpha2.NodeGroup{},
		func(_ context.Context, from *v1.NodeGroup, to *v1alpha2.NodeGroup) error { to.FromV1(from); return nil },
		func(ctx context.Context, from *v1alpha2.NodeGroup, to *v1.NodeGroup) error {
			cloud, err := readProvider(ctx, direct)
			if err == nil {
				from.ToV1(to, cloud.makes)
			}
			return err
		})
}
