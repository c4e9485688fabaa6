package earlyoom

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"commander/internal/kubetest"
)

func TestPodsAndEventsOfARealCluster(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	client, err := kubernetes.NewForConfig(server.Config)
	if err != nil {
		t.Fatal(err)
	}
	namespace := server.Namespace(t)
	priority := int32(7)
	made := map[string]*corev1.Pod{}
	for name, node := range map[string]string{"here": "node-psi", "there": "node-other"} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}, Spec: corev1.PodSpec{
			NodeName: node, Priority: nil,
			Containers: []corev1.Container{
				{Name: "a", Image: "a", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}}},
				{Name: "b", Image: "b", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("32Mi")}}},
			},
		}}
		if made[name], err = client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	pods, err := WatchPods(client, "node-psi")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- pods.Run(ctx) }()
	defer func() { cancel(); <-done }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !pods.Synced() {
		<-tick.C
	}
	got, ok := pods.ByUID(string(made["here"].UID))
	if !ok || got.Namespace != namespace || got.Name != "here" || got.Request != 96<<20 || got.Static {
		t.Errorf("got %+v, %t, want the pod with 96 MiB requested", got, ok)
	}
	if _, ok := pods.ByUID(string(made["there"].UID)); ok {
		t.Error("a pod of another node is known")
	}
	described := describe(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{mirrorAnnotation: "x"}}, Spec: corev1.PodSpec{Priority: &priority},
	})
	if !described.Static || described.Priority != 7 {
		t.Errorf("got %+v, want a static pod of priority 7", described)
	}

	events := Events{Client: client, Node: "node-psi"}
	if err := events.Killed(t.Context(), got, pressed(), start); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ namespace, about string }{{namespace, "here"}, {"default", "node-psi"}} {
		list, err := client.EventsV1().Events(want.namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, e := range list.Items {
			found = found || e.Regarding.Name == want.about && e.Reason == "EarlyOOM" && strings.Contains(e.Note, "short of memory")
		}
		if !found {
			t.Errorf("no event on %s among %d", want.about, len(list.Items))
		}
	}
}
