package discoverer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	provisioner    = "csi.dvp.deckhouse.io"
	parameterClass = "dvpStorageClass" // of ours: the name that the class has in DVP
)

// ours marks what is made here, and what may be removed.
var ours = map[string]string{"heritage": "deckhouse", "module": "cloud-provider-dvp"}

// Offer makes DVP's storage classes those of the cluster: for each that the discovery data names, one
// of our CSI driver.
type Offer struct {
	Client   kubernetes.Interface // of the managed cluster
	Excluded []*regexp.Regexp     // of whole names in DVP
	Log      *slog.Logger
}

// Sync makes, changes and removes storage classes. Without readable discovery data all stay as they
// are: volumes ask for them.
func (o *Offer) Sync(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callBound)
	defer cancel()
	secret, err := o.Client.CoreV1().Secrets(namespace).Get(ctx, secretName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	} else if err != nil {
		return fmt.Errorf("read Secret %s: %w", secretName, err)
	}
	data, err := parse(secret.Data[secretKey])
	if err != nil {
		return err
	}
	if len(data.Zones) == 0 {
		return nil // not written yet
	}
	there, err := o.Client.StorageV1().StorageClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list storage classes: %w", err)
	}
	wanted := o.wanted(ctx, data, there.Items)
	var problems []error
	for _, class := range there.Items {
		if _, is := wanted[class.Name]; !is && class.Provisioner == provisioner && class.Labels["module"] == ours["module"] {
			problems = append(problems, o.remove(ctx, &class))
		}
	}
	for _, class := range wanted {
		problems = append(problems, o.apply(ctx, class, there.Items))
	}
	return errors.Join(problems...)
}

// wanted are the classes by their names in the cluster. A class that the cluster has by that name
// from elsewhere is left alone.
func (o *Offer) wanted(ctx context.Context, data Data, there []storagev1.StorageClass) map[string]*storagev1.StorageClass {
	foreignDefault := slices.ContainsFunc(there, func(c storagev1.StorageClass) bool {
		return c.Provisioner != provisioner && slices.ContainsFunc(annotationsDefault, func(note string) bool { return c.Annotations[note] == "true" })
	})
	all := map[string]*storagev1.StorageClass{}
	for _, class := range data.StorageClasses {
		name := sanitised(class.Name)
		taken := slices.ContainsFunc(there, func(c storagev1.StorageClass) bool { return c.Name == name && c.Provisioner != provisioner })
		switch excluded := slices.ContainsFunc(o.Excluded, func(r *regexp.Regexp) bool { return r.MatchString(class.Name) }); {
		case !class.IsEnabled || excluded:
			continue
		case name == "" || all[name] != nil || taken:
			o.Log.WarnContext(ctx, "a storage class of DVP is not offered: its name is taken", "class", class.Name, "name", name)
			continue
		}
		reclaim := corev1.PersistentVolumeReclaimPolicy(class.ReclaimPolicy)
		if reclaim == "" {
			reclaim = corev1.PersistentVolumeReclaimDelete
		}
		all[name] = &storagev1.StorageClass{
			ObjectMeta:  metav1.ObjectMeta{Name: name, Labels: ours},
			Provisioner: provisioner, Parameters: map[string]string{parameterClass: class.Name}, ReclaimPolicy: &reclaim,
			// A disk is made where its machine is, whatever the class in DVP says.
			VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer), AllowVolumeExpansion: new(class.AllowVolumeExpansion),
		}
		if class.IsDefault && !foreignDefault {
			all[name].Annotations = map[string]string{annotationsDefault[0]: "true"}
		}
	}
	return all
}

// apply makes a class. What cannot be changed of the one that is there needs another; volumes that
// exist do not look at it again.
func (o *Offer) apply(ctx context.Context, class *storagev1.StorageClass, there []storagev1.StorageClass) error {
	classes := o.Client.StorageV1().StorageClasses()
	i := slices.IndexFunc(there, func(c storagev1.StorageClass) bool { return c.Name == class.Name })
	if i >= 0 {
		has := &there[i]
		if alike(has, class) {
			if equal(has.AllowVolumeExpansion, class.AllowVolumeExpansion) && has.Annotations[annotationsDefault[0]] == class.Annotations[annotationsDefault[0]] {
				return nil
			}
			has.AllowVolumeExpansion = class.AllowVolumeExpansion
			delete(has.Annotations, annotationsDefault[0])
			if class.Annotations != nil {
				metav1.SetMetaDataAnnotation(&has.ObjectMeta, annotationsDefault[0], "true")
			}
			if _, err := classes.Update(ctx, has, metav1.UpdateOptions{}); err != nil {
				return fmt.Errorf("change storage class %s: %w", class.Name, err)
			}
			return nil
		}
		if err := o.remove(ctx, has); err != nil {
			return err
		}
	}
	if _, err := classes.Create(ctx, class, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("make storage class %s: %w", class.Name, err)
	}
	return nil
}

// alike says whether two classes are the same in what cannot be changed.
func alike(a, b *storagev1.StorageClass) bool {
	return a.Parameters[parameterClass] == b.Parameters[parameterClass] && len(a.Parameters) == len(b.Parameters) &&
		equal(a.ReclaimPolicy, b.ReclaimPolicy) && equal(a.VolumeBindingMode, b.VolumeBindingMode)
}

func equal[T comparable](a, b *T) bool { return a != nil && b != nil && *a == *b }

func (o *Offer) remove(ctx context.Context, class *storagev1.StorageClass) error {
	err := o.Client.StorageV1().StorageClasses().Delete(ctx, class.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &class.UID}})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete storage class %s: %w", class.Name, err)
	}
	return nil
}

var unfit = regexp.MustCompile(`[^a-z0-9.-]+`)

// sanitised is a name that Kubernetes takes, as close to DVP's as can be.
func sanitised(name string) string {
	return strings.Trim(unfit.ReplaceAllString(strings.ToLower(name), "-"), "-.")
}
