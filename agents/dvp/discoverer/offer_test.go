package discoverer

import (
	"encoding/json"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"commander/internal/kubetest"
)

func TestStorageClassesAreOffered(t *testing.T) {
	t.Parallel()
	client, err := kubernetes.NewForConfig(kubetest.StartOwn(t).Config)
	if err != nil {
		t.Fatal(err)
	}
	o := &Offer{Client: client, Excluded: []*regexp.Regexp{regexp.MustCompile("^(?:slow.*)$")}, Log: slog.New(slog.DiscardHandler)}
	sync := func() map[string]storagev1.StorageClass {
		t.Helper()
		if err := o.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		list, err := client.StorageV1().StorageClasses().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]storagev1.StorageClass{}
		for _, class := range list.Items {
			all[class.Name] = class
		}
		return all
	}
	names := func(all map[string]storagev1.StorageClass) []string { return slices.Sorted(maps.Keys(all)) }
	create := func(class *storagev1.StorageClass) {
		t.Helper()
		if _, err := client.StorageV1().StorageClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	create(&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "local"}, Provisioner: "other"})
	// As an older version made it: at once, where nobody knows whether a machine can reach it.
	create(&storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: "fast", Labels: ours}, Provisioner: provisioner, Parameters: map[string]string{parameterClass: "fast"},
		VolumeBindingMode: new(storagev1.VolumeBindingImmediate),
	})
	if got := names(sync()); !slices.Equal(got, []string{"fast", "local"}) {
		t.Errorf("without discovery data got %v, want all as they were", got)
	}

	data := Data{APIVersion: dataVersion, Kind: dataKind, Zones: []string{"default"}, StorageClasses: []StorageClass{
		{Name: "Fast SSD_1", IsEnabled: true, ReclaimPolicy: "Retain", AllowVolumeExpansion: true},
		{Name: "fast", IsEnabled: true, VolumeBindingMode: "Immediate", IsDefault: true},
		{Name: "local", IsEnabled: true},
		{Name: "off"},
		{Name: "slow-1", IsEnabled: true},
	}}
	write := func() {
		t.Helper()
		text, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: secretName}, Data: map[string][]byte{secretKey: text}}
		if _, err = client.CoreV1().Secrets(namespace).Update(t.Context(), secret, metav1.UpdateOptions{}); err != nil {
			_, err = client.CoreV1().Secrets(namespace).Create(t.Context(), secret, metav1.CreateOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write()
	all := sync()
	if got := names(all); !slices.Equal(got, []string{"fast", "fast-ssd-1", "local"}) {
		t.Fatalf("got %v", got)
	}
	ssd, fast := all["fast-ssd-1"], all["fast"]
	if ssd.Parameters[parameterClass] != "Fast SSD_1" || *ssd.ReclaimPolicy != corev1.PersistentVolumeReclaimRetain || !*ssd.AllowVolumeExpansion || *ssd.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer {
		t.Errorf("got %+v", ssd)
	}
	if *fast.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer || fast.Annotations[annotationsDefault[0]] != "true" || all["local"].Provisioner != "other" {
		t.Errorf("got %+v and %+v", fast, all["local"])
	}
	if again := sync(); again["fast"].ResourceVersion != fast.ResourceVersion || again["fast-ssd-1"].ResourceVersion != ssd.ResourceVersion {
		t.Error("classes that are as wanted were written")
	}

	data.StorageClasses[0].AllowVolumeExpansion, data.StorageClasses[1].IsEnabled = false, false
	write()
	if all = sync(); !slices.Equal(names(all), []string{"fast-ssd-1", "local"}) || *all["fast-ssd-1"].AllowVolumeExpansion || all["fast-ssd-1"].UID != ssd.UID {
		t.Errorf("got %v, %+v", names(all), all["fast-ssd-1"])
	}
	if err := client.CoreV1().Secrets(namespace).Delete(t.Context(), secretName, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := names(sync()); !slices.Equal(got, []string{"fast-ssd-1", "local"}) {
		t.Errorf("after the data was lost got %v, want all as they were", got)
	}
}
