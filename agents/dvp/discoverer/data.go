package discoverer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// Data is what is written: kind DVPCloudDiscoveryData of deckhouse.io/v1. Nothing else may be in it.
type Data struct {
	APIVersion     string         `json:"apiVersion"`
	Kind           string         `json:"kind"`
	Zones          []string       `json:"zones"` // at least one, each once
	StorageClasses []StorageClass `json:"storageClasses,omitempty"`
}

// StorageClass is a storage class of DVP as clusters may use it.
type StorageClass struct {
	Name                 string `json:"name"`
	VolumeBindingMode    string `json:"volumeBindingMode,omitempty"`
	ReclaimPolicy        string `json:"reclaimPolicy,omitempty"`
	AllowVolumeExpansion bool   `json:"allowVolumeExpansion"`
	IsEnabled            bool   `json:"isEnabled"`
	IsDefault            bool   `json:"isDefault"` // of at most one
}

const (
	dataVersion = "deckhouse.io/v1"
	dataKind    = "DVPCloudDiscoveryData"

	// defaultZone is the only one of a cluster that was not told any.
	defaultZone = "default"

	// annotationSkip on a storage class of DVP hides it from clusters.
	annotationSkip = "dvp-provider.deckhouse.io/skip-storage-class"
)

// annotationsDefault mark the default class, in the form of today and that of old clusters.
var annotationsDefault = []string{"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"}

// parse reads data that was written before, by us or by who installed the cluster. Nothing is empty data.
func parse(text []byte) (Data, error) {
	var d Data
	if len(text) == 0 {
		return d, nil
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return Data{}, fmt.Errorf("read discovery data: %w", err)
	}
	return d, nil
}

// merge is what shall be written: the classes that DVP has, and those that it had when the data
// before was written. A class that vanished stays, since volumes of it may exist; it is no default
// any more. The order depends on nothing but the names.
func merge(before Data, classes []storagev1.StorageClass) Data {
	found := map[string]StorageClass{}
	for _, old := range before.StorageClasses {
		old.IsDefault = false
		found[old.Name] = old
	}
	chosen := defaultOf(classes)
	for i := range classes {
		c := &classes[i]
		if skipped(c) {
			delete(found, c.Name)
			continue
		}
		found[c.Name] = describe(c, c.Name == chosen)
	}
	after := Data{APIVersion: dataVersion, Kind: dataKind, Zones: zones(before.Zones)}
	for _, c := range found {
		after.StorageClasses = append(after.StorageClasses, c)
	}
	slices.SortFunc(after.StorageClasses, func(a, b StorageClass) int { return cmp.Compare(a.Name, b.Name) })
	return after
}

// describe tells a class with the values that Kubernetes takes for what is left out.
func describe(c *storagev1.StorageClass, isDefault bool) StorageClass {
	told := StorageClass{
		Name: c.Name, VolumeBindingMode: string(storagev1.VolumeBindingImmediate), ReclaimPolicy: string(corev1.PersistentVolumeReclaimDelete),
		IsEnabled: true, IsDefault: isDefault,
	}
	if c.VolumeBindingMode != nil {
		told.VolumeBindingMode = string(*c.VolumeBindingMode)
	}
	if c.ReclaimPolicy != nil {
		told.ReclaimPolicy = string(*c.ReclaimPolicy)
	}
	if c.AllowVolumeExpansion != nil {
		told.AllowVolumeExpansion = *c.AllowVolumeExpansion
	}
	return told
}

// zones are each once and at least one.
func zones(told []string) []string {
	sorted := slices.Compact(slices.Sorted(slices.Values(told)))
	sorted = slices.DeleteFunc(sorted, func(zone string) bool { return zone == "" })
	if len(sorted) == 0 {
		return []string{defaultZone}
	}
	return sorted
}

// skipped says whether a class is hidden. The annotation counts by being there, so that a value
// that nobody thought of does not show what shall not be seen.
func skipped(c *storagev1.StorageClass) bool {
	value, there := c.Annotations[annotationSkip]
	return there && value != "false"
}

// defaultOf names the default class of DVP, or nothing. Of several Kubernetes takes the newest, and
// of those the first by name.
func defaultOf(classes []storagev1.StorageClass) string {
	var best *storagev1.StorageClass
	for i := range classes {
		c := &classes[i]
		if skipped(c) || !slices.ContainsFunc(annotationsDefault, func(key string) bool { return c.Annotations[key] == "true" }) {
			continue
		}
		if best == nil || cmp.Or(c.CreationTimestamp.Compare(best.CreationTimestamp.Time), cmp.Compare(best.Name, c.Name)) > 0 {
			best = c
		}
	}
	if best == nil {
		return ""
	}
	return best.Name
}
