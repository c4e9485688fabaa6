package kubetest_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"commander/internal/kubetest"
)

func TestRealAPI(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"first", "second"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := kubetest.Start(t)
			client, err := kubernetes.NewForConfig(server.Config)
			if err != nil {
				t.Fatal(err)
			}
			maps := client.CoreV1().ConfigMaps(server.Namespace(t))
			if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "mine"}}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			list, err := maps.List(t.Context(), metav1.ListOptions{})
			if err != nil || len(list.Items) != 1 {
				t.Fatalf("got %d maps, %v, want only the test's own", len(list.Items), err)
			}
		})
	}
}
