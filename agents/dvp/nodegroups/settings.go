package nodegroups

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The Secret by which the provider makes itself known, and what is in it.
const (
	settingsNamespace = "kube-system"
	settingsName      = "d8-node-manager-cloud-provider"
)

// settings are what the provider says for all groups.
type settings struct {
	zones       []string
	clusterName string // of the Cluster of Cluster API
	sshKey      string
	vmLabels    map[string]string
	class       string // StorageClass for disks of which none is asked for; may be empty
}

func readSettings(ctx context.Context, c client.Reader) (*settings, error) {
	secret := new(corev1.Secret)
	if err := c.Get(ctx, client.ObjectKey{Namespace: settingsNamespace, Name: settingsName}, secret); err != nil {
		return nil, fmt.Errorf("read Secret %s: %w", settingsName, err)
	}
	s := &settings{clusterName: string(secret.Data["capiClusterName"]), sshKey: string(secret.Data["sshPublicKey"])}
	if s.clusterName == "" {
		return nil, fmt.Errorf("read Secret %s: it has no capiClusterName", settingsName)
	}
	if text := secret.Data["zones"]; len(text) > 0 {
		if err := json.Unmarshal(text, &s.zones); err != nil {
			return nil, fmt.Errorf("read zones of Secret %s: %w", settingsName, err)
		}
	}
	if text := secret.Data["dvp"]; len(text) > 0 {
		var own struct {
			AdditionalVMLabels map[string]string `json:"additionalVMLabels"`
		}
		if err := json.Unmarshal(text, &own); err != nil {
			return nil, fmt.Errorf("read dvp of Secret %s: %w", settingsName, err)
		}
		s.vmLabels = own.AdditionalVMLabels
	}
	return s, s.readDefault(ctx, c)
}

// readDefault reads which StorageClass is DVP's default from what the discoverer wrote.
func (s *settings) readDefault(ctx context.Context, c client.Reader) error {
	secret := new(corev1.Secret)
	err := c.Get(ctx, client.ObjectKey{Namespace: settingsNamespace, Name: "d8-cloud-provider-discovery-data"}, secret)
	if err != nil || len(secret.Data["discovery-data.json"]) == 0 {
		return client.IgnoreNotFound(err)
	}
	var data struct {
		StorageClasses []struct {
			Name      string `json:"name"`
			IsDefault bool   `json:"isDefault"`
		} `json:"storageClasses"`
	}
	if err := json.Unmarshal(secret.Data["discovery-data.json"], &data); err != nil {
		return fmt.Errorf("read discovery data: %w", err)
	}
	for _, class := range data.StorageClasses {
		if class.IsDefault {
			s.class = class.Name
		}
	}
	return nil
}
