package emulator

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// migration moves the machine while an operation to do so is in progress, and says when its node is
// being emptied.
func (m *machine) migration(ctx context.Context) error {
	if err := m.judgeEviction(ctx); err != nil {
		return err
	}
	m.set(v1alpha2.VMMigratable, true, v1alpha2.VMMigratableTrue, "")
	op, err := m.move(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(m.pods, func(p corev1.Pod) bool { _, target := p.Annotations[notePod]; return target })
	if op == nil || m.vm.Status.Phase != v1alpha2.MachineRunning {
		meta.RemoveStatusCondition(&m.vm.Status.Conditions, v1alpha2.VMMigrating)
		if i >= 0 {
			m.endMove(v1alpha2.MigrationFailed)
			m.after = append(m.after, func(ctx context.Context) error { return m.kill(ctx, &m.pods[i]) })
		}
		return nil
	}
	if i < 0 {
		return m.beginMove(ctx, op)
	}
	target, source := &m.pods[i], m.active()
	m.vm.Status.Phase = v1alpha2.MachineMigrating
	m.set(v1alpha2.VMMigrating, true, v1alpha2.VMMigratingInProgress, "")
	if left := m.timers.left(op.UID, "migrate", m.delay.Migrate); left > 0 {
		m.wait(again(left))
		return nil
	}
	if m.faulty(ctx, m.vm, FaultMigrationFailed) {
		m.endMove(v1alpha2.MigrationFailed)
		m.after = append(m.after, func(ctx context.Context) error {
			return m.finish(ctx, op, v1alpha2.OperationPhaseFailed, v1alpha2.OperationFailedReason, "the emulator was told to fail")
		}, func(ctx context.Context) error { return m.kill(ctx, target) })
		return nil
	}
	m.endMove(v1alpha2.MigrationSucceeded)
	m.after = append(m.after, func(ctx context.Context) error {
		if err := m.runPod(ctx, target); err != nil {
			return err
		}
		before := target.DeepCopy()
		delete(target.Annotations, notePod)
		if err := m.Patch(ctx, target, client.MergeFrom(before)); err != nil {
			return err
		}
		return m.kill(ctx, source)
	}, func(ctx context.Context) error {
		return m.finish(ctx, op, v1alpha2.OperationPhaseCompleted, v1alpha2.OperationCompletedReason, "")
	})
	return nil
}

// beginMove makes the pod that the machine moves into.
func (m *machine) beginMove(ctx context.Context, op *operation) error {
	source, name := m.active(), launcherName(m.vm)+"-"+short(op.UID)
	if source.Name == name { // it has moved; what says so was not written or not seen yet
		m.after = append(m.after, func(ctx context.Context) error {
			return m.finish(ctx, op, v1alpha2.OperationPhaseCompleted, v1alpha2.OperationCompletedReason, "")
		})
		return nil
	}
	var want map[string]string
	if op.Spec.Migrate != nil {
		want = op.Spec.Migrate.NodeSelector
	}
	node, reason, err := m.place(ctx, source.Spec.NodeName, want)
	if err != nil {
		return err
	}
	if node == "" {
		m.after = append(m.after, func(ctx context.Context) error {
			return m.finish(ctx, op, v1alpha2.OperationPhaseFailed, v1alpha2.OperationUnschedulable, reason)
		})
		return nil
	}
	target, err := m.launcher(name, node)
	if err != nil {
		return err
	}
	target.Annotations[notePod] = string(op.UID)
	if err := m.Create(ctx, target); apierrors.IsForbidden(err) {
		m.after = append(m.after, func(ctx context.Context) error {
			return m.finish(ctx, op, v1alpha2.OperationPhaseFailed, v1alpha2.OperationQuotaExceeded, err.Error())
		})
		return nil
	} else if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	now := metav1.Now()
	m.vm.Status.Phase = v1alpha2.MachineMigrating
	m.vm.Status.MigrationState = &v1alpha2.MigrationState{
		StartTimestamp: &now,
		Source:         v1alpha2.MigrationPlace{Node: source.Spec.NodeName, Pod: source.Name},
		Target:         v1alpha2.MigrationPlace{Node: node, Pod: target.Name},
	}
	m.set(v1alpha2.VMMigrating, true, v1alpha2.VMMigratingInProgress, "")
	return nil
}

func (m *machine) endMove(result v1alpha2.MigrationOutcome) {
	if state := m.vm.Status.MigrationState; state != nil && state.EndTimestamp == nil {
		now := metav1.Now()
		state.EndTimestamp, state.Result = &now, result
	}
}

// move is the operation in progress that moves the machine, or nil.
func (m *machine) move(ctx context.Context) (*operation, error) {
	var all v1alpha2.VirtualMachineOperationList
	if err := m.List(ctx, &all, client.InNamespace(m.vm.Namespace)); err != nil {
		return nil, err
	}
	for i := range all.Items {
		op := &all.Items[i]
		if moves(op, m.vm) && op.Status.Phase == v1alpha2.OperationPhaseInProgress && op.DeletionTimestamp.IsZero() {
			return op, nil
		}
	}
	return nil, nil
}

func moves(op *operation, vm *v1alpha2.VirtualMachine) bool {
	return op.Spec.VirtualMachineName == vm.Name && (op.Spec.Type == v1alpha2.OperationMigrate || op.Spec.Type == v1alpha2.OperationEvict)
}

// finish ends an operation.
func (w *world) finish(ctx context.Context, op *operation, phase v1alpha2.OperationPhase, reason, message string) error {
	op = op.DeepCopy()
	op.Status.Phase = phase
	set(&op.Status.Conditions, op, v1alpha2.OperationCompletedCondition, phase == v1alpha2.OperationPhaseCompleted, reason, message)
	return client.IgnoreNotFound(w.Status().Update(ctx, op))
}

// judgeEviction says whether the machine's node is being emptied: it is cordoned.
func (m *machine) judgeEviction(ctx context.Context) error {
	pod, node := m.active(), new(corev1.Node)
	if pod != nil {
		if err := m.Get(ctx, client.ObjectKey{Name: pod.Spec.NodeName}, node); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	if !node.Spec.Unschedulable {
		meta.RemoveStatusCondition(&m.vm.Status.Conditions, v1alpha2.VMEvictionRequired)
		return nil
	}
	m.set(v1alpha2.VMEvictionRequired, true, v1alpha2.VMEvictionRequired, "node "+node.Name+" is being emptied")
	return nil
}
