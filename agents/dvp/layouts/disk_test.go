package layouts

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/emulator/emulatortest"
)

// What a disk will not get over by itself ends an apply at once, with what DVP says about it.
func TestDiskFailsEarly(t *testing.T) {
	t.Parallel()
	dvp := emulatortest.Start(t)
	r := newTree(t).root("master-node")
	r.inputs(ofNode(configuration(t, dvp.Access, dvp.Namespace), 0))
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "storage"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourceRequestsStorage: resource.MustParse("2Gi")}},
	}
	dvp.Make(quota)
	text, code := r.run("apply", "-auto-approve")
	if code != 1 || !says(text, "exceeded quota") || !says(text, "DVP's quota for the project is used up") {
		t.Errorf("an apply above the quota ended with %d:\n%s", code, text)
	}
	dvp.Change(quota, func(o client.Object) {
		o.(*corev1.ResourceQuota).Spec.Hard[corev1.ResourceRequestsStorage] = resource.MustParse("20Gi")
	})
	dvp.Knob("emulator.dvp/faults", "provisioning-failed")
	r.inputs(ofNode(configuration(t, dvp.Access, dvp.Namespace), 1))
	if text, code := r.run("apply", "-auto-approve"); code != 1 || !says(text, "it is Failed") {
		t.Errorf("an apply with a disk that fails ended with %d:\n%s", code, text)
	}
	dvp.Knob("emulator.dvp/faults", "")
	r.apply()
	r.settled()
	machineOf(dvp, "demo-master-1")
}
