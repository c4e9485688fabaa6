package emulator

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// power starts and stops the machine. A machine that shall start is Pending; whether one runs is
// told by its pod.
func (m *machine) power(ctx context.Context) error {
	status, pod := &m.vm.Status, m.active()
	if pod == nil {
		return m.off(ctx)
	}
	if pod.DeletionTimestamp.IsZero() {
		if err := m.guest(ctx, pod); err != nil {
			return err
		}
	}
	switch {
	case !pod.DeletionTimestamp.IsZero():
		return m.stopping(ctx, pod)
	case m.vm.Spec.RunPolicy == v1alpha2.AlwaysOff:
		status.Phase = v1alpha2.MachineStopping
		m.after = append(m.after, func(ctx context.Context) error { return m.end(ctx, pod, intentStop) })
	case pod.Status.Phase == corev1.PodSucceeded: // the guest shut down
		status.Phase = v1alpha2.MachineStopped
		if m.vm.Spec.RunPolicy == v1alpha2.AlwaysOn {
			status.Phase = v1alpha2.MachinePending
		}
		m.after = append(m.after, func(ctx context.Context) error { return m.kill(ctx, pod) })
	case pod.Status.Phase == corev1.PodFailed:
		status.Phase = m.afterLoss()
		m.after = append(m.after, func(ctx context.Context) error { return m.kill(ctx, pod) })
	case pod.Status.Phase == corev1.PodRunning:
		status.Phase = v1alpha2.MachineRunning
		if m.faulty(ctx, m.vm, FaultDegraded) {
			status.Phase = v1alpha2.MachineDegraded
		}
	default:
		return m.starting(ctx, pod)
	}
	running := status.Phase == v1alpha2.MachineRunning
	m.set(v1alpha2.VMRunning, running, map[bool]string{true: v1alpha2.VMRunning, false: v1alpha2.VMNotRunning}[running], "")
	return nil
}

// afterLoss is what follows when a pod went without anybody asking.
func (m *machine) afterLoss() v1alpha2.MachinePhase {
	if p := m.vm.Spec.RunPolicy; p == v1alpha2.Manual || p == v1alpha2.AlwaysOff {
		return v1alpha2.MachineStopped
	}
	return v1alpha2.MachinePending
}

// off decides whether a machine without a pod starts.
func (m *machine) off(ctx context.Context) error {
	if err := m.dark(ctx); err != nil {
		return err
	}
	status, policy := &m.vm.Status, m.vm.Spec.RunPolicy
	switch {
	case policy == v1alpha2.AlwaysOff:
		status.Phase = v1alpha2.MachineStopped
	case status.Phase == v1alpha2.MachineStopping: // somebody else removed the pod
		status.Phase = m.afterStop(meta.FindStatusCondition(status.Conditions, v1alpha2.VMRunning).Message)
	case status.Phase == v1alpha2.MachineStopped:
		if policy == v1alpha2.AlwaysOn {
			status.Phase = v1alpha2.MachinePending
		}
	case status.Phase != v1alpha2.MachinePending: // never started, or lost
		status.Phase = m.afterLoss()
	}
	m.timers.forget(m.vm.UID, "start", "stop")
	if status.Phase != v1alpha2.MachinePending || !m.ready() {
		m.set(v1alpha2.VMRunning, false, v1alpha2.VMNotRunning, "")
		return nil
	}
	node, reason, err := m.place(ctx, "", nil)
	if err != nil {
		return err
	}
	if node == "" {
		m.set(v1alpha2.VMRunning, false, v1alpha2.VMPodNotStarted, reason)
		m.wait(again(5 * time.Second)) // a fault may be switched off on the namespace, which is not watched
		return nil
	}
	pod, err := m.launcher(launcherName(m.vm), node)
	if err != nil {
		return err
	}
	err = m.Create(ctx, pod)
	switch {
	case apierrors.IsForbidden(err): // a quota; the API's own words are the message
		m.set(v1alpha2.VMRunning, false, v1alpha2.VMPodNotStarted, err.Error())
		m.wait(again(quotaPause))
		return nil
	case apierrors.IsAlreadyExists(err):
		m.wait(again(50 * time.Millisecond))
		return nil
	case err != nil:
		return err
	}
	status.Phase = v1alpha2.MachineStarting
	status.Stats = statsOf(status)
	now := metav1.Now()
	status.Stats.LastStartTime = &now
	m.set(v1alpha2.VMRunning, false, v1alpha2.VMNotRunning, "starting")
	return nil
}

func statsOf(status *v1alpha2.VirtualMachineStatus) *v1alpha2.MachineStats {
	if status.Stats == nil {
		return new(v1alpha2.MachineStats)
	}
	return status.Stats
}

// starting lets the guest run when its time is over and all its disks are there.
func (m *machine) starting(ctx context.Context, pod *corev1.Pod) error {
	m.vm.Status.Phase = v1alpha2.MachineStarting
	left := m.timers.left(m.vm.UID, "start", m.delay.Start)
	if left > 0 || !meta.IsStatusConditionTrue(m.vm.Status.Conditions, v1alpha2.VMBlockDevicesReady) {
		m.wait(again(left))
		return nil
	}
	if err := m.boot(ctx); err != nil {
		m.set(v1alpha2.VMRunning, false, v1alpha2.VMInternalError, err.Error())
		m.wait(again(5 * time.Second))
		return nil
	}
	if err := m.runPod(ctx, pod); err != nil {
		return err
	}
	m.vm.Status.Phase = v1alpha2.MachineRunning
	m.set(v1alpha2.VMRunning, true, v1alpha2.VMRunning, "")
	return nil
}

// runPod does what kubelet would: the pod is running and has its address.
func (m *machine) runPod(ctx context.Context, pod *corev1.Pod) error {
	before := pod.DeepCopy()
	pod.Status.Phase, pod.Status.PodIP = corev1.PodRunning, m.vm.Status.IPAddress
	pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}}
	pod.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()},
	}
	return m.Status().Patch(ctx, pod, client.MergeFrom(before))
}

// stopping lets the guest shut down.
func (m *machine) stopping(ctx context.Context, pod *corev1.Pod) error {
	m.vm.Status.Phase = v1alpha2.MachineStopping
	intent := pod.Annotations[noteIntent]
	m.set(v1alpha2.VMRunning, false, pick(intent == "", v1alpha2.VMPodTerminating, v1alpha2.VMNotRunning), intent)
	left, err := m.shut(ctx)
	if err != nil || left > 0 {
		m.wait(again(left))
		return err
	}
	m.vm.Status.Phase = m.afterStop(pod.Annotations[noteIntent])
	m.after = append(m.after, func(ctx context.Context) error { return m.kill(ctx, pod) })
	return nil
}

// afterStop is what follows when a pod that was asked to stop is gone.
func (m *machine) afterStop(intent string) v1alpha2.MachinePhase {
	switch intent {
	case intentStop:
		return v1alpha2.MachineStopped
	case intentRestart:
		return v1alpha2.MachinePending
	}
	return m.afterLoss()
}

// end asks a pod to stop and notes what shall come after.
func (w *world) end(ctx context.Context, pod *corev1.Pod, intent string) error {
	before := pod.DeepCopy()
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[noteIntent] = intent
	if err := w.Patch(ctx, pod, client.MergeFrom(before)); err != nil {
		return client.IgnoreNotFound(err)
	}
	return client.IgnoreNotFound(w.Delete(ctx, pod))
}

// kill removes a pod as kubelet does when all its processes have ended.
func (w *world) kill(ctx context.Context, pod *corev1.Pod) error {
	return client.IgnoreNotFound(w.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID}))
}

// terminate stops a machine that is being deleted and lets it go when nothing of it is left.
func (m *machine) terminate(ctx context.Context) error {
	m.vm.Status.Phase = v1alpha2.MachineTerminating
	if m.faulty(ctx, m.vm, FaultStuckTerminating) {
		m.wait(again(time.Second))
		return nil
	}
	if len(m.pods) == 0 {
		m.vm.Status.BlockDeviceRefs = nil
		m.after = append(m.after, func(ctx context.Context) error {
			m.timers.forget(m.vm.UID, "start", "stop")
			if m.Guests != nil {
				if err := m.Guests.Remove(ctx, m.vm.UID); err != nil {
					return err
				}
			}
			return m.release(ctx, m.vm, v1alpha2.FinalizerVM)
		})
		return nil
	}
	left, err := m.shut(ctx)
	if err != nil {
		return err
	}
	for i := range m.pods {
		pod := &m.pods[i]
		if left <= 0 {
			m.after = append(m.after, func(ctx context.Context) error { return m.kill(ctx, pod) })
		} else if pod.DeletionTimestamp.IsZero() {
			m.after = append(m.after, func(ctx context.Context) error { return m.end(ctx, pod, intentStop) })
		}
	}
	m.wait(again(left))
	return nil
}
