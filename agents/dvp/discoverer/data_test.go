package discoverer

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func class(name string, age time.Duration, notes ...string) storagev1.StorageClass {
	c := storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{
		Name: name, CreationTimestamp: metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(-age)), Annotations: map[string]string{},
	}}
	for _, note := range notes {
		key, value, _ := strings.Cut(note, "=")
		c.Annotations[key] = value
	}
	return c
}

func TestMerge(t *testing.T) {
	t.Parallel()
	const ga, beta = "storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"
	old := StorageClass{Name: "old", VolumeBindingMode: "Immediate", ReclaimPolicy: "Retain", IsEnabled: true}
	isDefault := old
	isDefault.IsDefault = true
	told := func(name string, isDefault bool) StorageClass {
		return StorageClass{Name: name, VolumeBindingMode: "Immediate", ReclaimPolicy: "Delete", IsEnabled: true, IsDefault: isDefault}
	}
	for name, c := range map[string]struct {
		before  []StorageClass
		classes []storagev1.StorageClass
		want    []StorageClass
	}{
		"sorted by name":          {nil, []storagev1.StorageClass{class("b", 0), class("a", 0)}, []StorageClass{told("a", false), told("b", false)}},
		"the default of today":    {nil, []storagev1.StorageClass{class("a", 0, ga+"=true"), class("b", 0)}, []StorageClass{told("a", true), told("b", false)}},
		"the default of old":      {nil, []storagev1.StorageClass{class("a", 0, beta+"=true")}, []StorageClass{told("a", true)}},
		"no default":              {nil, []storagev1.StorageClass{class("a", 0, ga+"=false")}, []StorageClass{told("a", false)}},
		"the newest of defaults":  {nil, []storagev1.StorageClass{class("a", time.Hour, ga+"=true"), class("b", 0, ga+"=true")}, []StorageClass{told("a", false), told("b", true)}},
		"of one age the first":    {nil, []storagev1.StorageClass{class("b", 0, ga+"=true"), class("a", 0, ga+"=true")}, []StorageClass{told("a", true), told("b", false)}},
		"a vanished one stays":    {[]StorageClass{isDefault}, []storagev1.StorageClass{class("a", 0)}, []StorageClass{told("a", false), old}},
		"what changed is changed": {[]StorageClass{told("a", true)}, []storagev1.StorageClass{class("a", 0)}, []StorageClass{told("a", false)}},
		"a skipped one goes":      {[]StorageClass{old}, []storagev1.StorageClass{class("old", 0, annotationSkip+"=")}, nil},
		"a skipped default":       {nil, []storagev1.StorageClass{class("a", 0, ga+"=true", annotationSkip+"=true"), class("b", 0)}, []StorageClass{told("b", false)}},
		"skip said to be false":   {nil, []storagev1.StorageClass{class("a", 0, annotationSkip+"=false")}, []StorageClass{told("a", false)}},
	} {
		got := merge(Data{StorageClasses: c.before}, c.classes)
		if diff := cmp.Diff(Data{APIVersion: "deckhouse.io/v1", Kind: "DVPCloudDiscoveryData", Zones: []string{"default"}, StorageClasses: c.want}, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
	if got := merge(Data{Zones: []string{"b", "", "a", "b"}}, nil).Zones; !cmp.Equal(got, []string{"a", "b"}) {
		t.Errorf("got zones %v, want each once", got)
	}
}
