package capdvp

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/configuration"
	configurationv1 "commander/agents/dvp/api/configuration/v1"
	"commander/agents/dvp/api/configuration/v1alpha1"
	"commander/agents/dvp/api/virtualization/v1alpha2"
)

const (
	// permanentPause is from one look at the nodes that OpenTofu made to the next.
	permanentPause = time.Minute
	// failurePause is before a disk whose move failed is moved again.
	failurePause = time.Hour

	installedNamespace = "kube-system"
	installedName      = "d8-provider-cluster-configuration"
	installedKey       = "cloud-provider-cluster-configuration.yaml"

	labelNodeGroup = "node.deckhouse.io/group"
	masters        = "master"
)

// Permanent moves disks of nodes that are no machines of Cluster API, as their groups' configuration
// says. OpenTofu, which made them, leaves their storage classes alone.
type Permanent struct {
	*Provider
	Live client.Reader // the configuration has secrets in it and is not kept in memory
	Log  *slog.Logger
}

// NeedLeaderElection says that one of all replicas does this.
func (p *Permanent) NeedLeaderElection() bool { return true }

// Start looks after the disks until the context ends.
func (p *Permanent) Start(ctx context.Context) error {
	tick := time.NewTicker(permanentPause)
	defer tick.Stop()
	for {
		if err := p.move(ctx); err != nil && ctx.Err() == nil {
			p.Log.ErrorContext(ctx, "disks of permanent nodes are not moved", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// move begins to move at most one disk, and none while one is moving.
func (p *Permanent) move(ctx context.Context) error {
	secret := new(corev1.Secret)
	if err := p.Live.Get(ctx, client.ObjectKey{Namespace: installedNamespace, Name: installedName}, secret); err != nil {
		return client.IgnoreNotFound(err) // a cluster without such nodes
	}
	if len(secret.Data[installedKey]) == 0 {
		return nil
	}
	c, err := configuration.Parse(secret.Data[installedKey])
	if err != nil {
		return fmt.Errorf("read %s of Secret %s: %w", installedKey, installedName, err)
	}
	var nodes corev1.NodeList
	if err := p.Live.List(ctx, &nodes, client.HasLabels{labelNodeGroup}); err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	var due *v1alpha2.VirtualDisk
	var class string
	for _, node := range nodes.Items {
		group := node.Labels[labelNodeGroup]
		if group != masters && !slices.ContainsFunc(c.NodeGroups, func(g configurationv1.NodeGroup) bool { return g.Name == group }) {
			continue
		}
		disks, err := p.Cloud.Disks(ctx, node.Name)
		if err != nil {
			return err
		}
		for i := range disks {
			disk := &disks[i]
			if disk.Status.Phase == v1alpha2.DiskPhaseMigrating {
				return nil
			}
			wanted := classOf(c, group, disk.Name)
			if due == nil && wanted != "" && disk.Status.StorageClassName != "" && disk.Status.StorageClassName != wanted && !p.failedJustNow(disk) {
				due, class = disk, wanted
			}
		}
	}
	if due == nil {
		return nil
	}
	classes, err := p.Cloud.StorageClasses(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(classes, func(c storagev1.StorageClass) bool { return c.Name == class }) {
		return fmt.Errorf("move %s: DVP has no storage class %s", due.Name, class)
	}
	p.Log.InfoContext(ctx, "a disk is moved", "disk", due.Name, "class", class)
	return p.Cloud.MoveDisk(ctx, due, class)
}

func (p *Permanent) failedJustNow(disk *v1alpha2.VirtualDisk) bool {
	state := disk.Status.MigrationState
	return state != nil && state.Result == v1alpha2.MigrationFailed && state.EndTimestamp != nil && p.Clock.Now().Sub(state.EndTimestamp.Time) < failurePause
}

// classOf is the storage class that a group's configuration asks for a disk, which says by its name
// what it is. Empty means any.
func classOf(c *configurationv1.DVPClusterConfiguration, group, disk string) string {
	root, more := c.MasterNodeGroup.InstanceClass.RootDisk, c.MasterNodeGroup.InstanceClass.AdditionalDisks
	if group != masters {
		i := slices.IndexFunc(c.NodeGroups, func(g configurationv1.NodeGroup) bool { return g.Name == group })
		root, more = c.NodeGroups[i].InstanceClass.RootDisk, c.NodeGroups[i].InstanceClass.AdditionalDisks
	}
	if strings.Contains(disk, "-kubernetes-data-") {
		return c.MasterNodeGroup.InstanceClass.EtcdDisk.StorageClass
	}
	if _, after, found := strings.Cut(disk, "-additional-disk-"); found {
		return additional(more, after)
	}
	return root.StorageClass
}

func additional(disks []v1alpha1.Disk, number string) string {
	number, _, _ = strings.Cut(number, "-")
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(disks) {
		return ""
	}
	return disks[i].StorageClass
}
