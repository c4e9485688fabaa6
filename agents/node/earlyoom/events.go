package earlyoom

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// Events tells the cluster what was done, on the pod and on the node.
type Events struct {
	Client kubernetes.Interface
	Node   string
}

const (
	reporter     = "early-oom"
	reasonKilled = "EarlyOOM"
	actionKill   = "EndPod"
)

// Killed records that a pod was ended.
func (e Events) Killed(ctx context.Context, pod Pod, sample Sample, now time.Time) error {
	numbers := fmt.Sprintf("memory pressure %.1f%%, %d of %d MiB available", sample.Node.Avg10, sample.Available>>20, sample.Total>>20)
	onPod := corev1.ObjectReference{Kind: "Pod", APIVersion: "v1", Namespace: pod.Namespace, Name: pod.Name, UID: types.UID(pod.UID)}
	// kubectl looks for the events of a node by its name in place of the UID, as kubelet writes.
	onNode := corev1.ObjectReference{Kind: "Node", APIVersion: "v1", Name: e.Node, UID: types.UID(e.Node)}
	return errors.Join(
		e.record(ctx, pod.Namespace, onPod, onNode, fmt.Sprintf("Ended all processes of the pod, which used %d MiB: node %s is short of memory (%s)", pod.Usage>>20, e.Node, numbers), now),
		e.record(ctx, metav1.NamespaceDefault, onNode, onPod, fmt.Sprintf("Ended pod %s/%s, which used %d MiB: the node is short of memory (%s)", pod.Namespace, pod.Name, pod.Usage>>20, numbers), now),
	)
}

func (e Events) record(ctx context.Context, namespace string, about, related corev1.ObjectReference, note string, now time.Time) error {
	_, err := e.Client.EventsV1().Events(namespace).Create(ctx, &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: about.Name + "-", Namespace: namespace},
		EventTime:  metav1.NewMicroTime(now), Type: corev1.EventTypeWarning,
		Reason: reasonKilled, Action: actionKill, Note: note, Regarding: about, Related: &related,
		ReportingController: reporter, ReportingInstance: reporter + "-" + e.Node,
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("record event on %s %s: %w", about.Kind, about.Name, err)
	}
	return nil
}
