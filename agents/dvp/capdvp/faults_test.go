package capdvp

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/infrastructure/v1alpha1"
	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
	"commander/agents/dvp/emulator/emulatortest"
	"commander/internal/clock"
)

// The test binary is the program when it is started so.
func TestMain(m *testing.M) {
	emulatortest.Live(live)
	os.Exit(m.Run())
}

// live runs our controllers.
func live(ctx context.Context, l emulatortest.Life, tenant, dvp *rest.Config) error {
	ctrl.SetLogger(logr.Discard())
	access, err := cloud.New(dvp, l.Project, uuid)
	if err != nil {
		return err
	}
	scheme, err := schemeOf()
	if err != nil {
		return err
	}
	manager, err := newManager(tenant, scheme, l.Namespace)
	if err != nil {
		return err
	}
	p := &Provider{
		Client: manager.GetClient(), Config: tenant, Cloud: access, Clock: clock.System{}, Events: manager.GetEventRecorder("capdvp"),
		Poll: 50 * time.Millisecond, Patience: time.Hour, Workers: 4,
	}
	if err := p.Setup(manager); err != nil {
		return err
	}
	return manager.Start(ctx)
}

// Whatever fails on the ways to both API servers, and at whatever request the program is killed, in the
// end there is one machine for each, and then nothing.
func TestMachinesUnderFaults(t *testing.T) {
	t.Parallel()
	b := furnish(t)
	b.cluster()
	b.script("script", "value")
	m := emulatortest.RunMortals(t, emulatortest.Life{
		Tenant: emulatortest.Kubeconfig(t, b.dvp.Config), DVP: emulatortest.Kubeconfig(t, b.dvp.Access), Project: b.dvp.Namespace, Namespace: b.namespace, Seed: 1,
	}, 30, 200)
	var all []*v1alpha1.DeckhouseMachine
	for i := range 6 {
		all = append(all, b.machine(fmt.Sprintf("m%d", i), "script", nil))
	}
	// It may take long: each life begins with what the one before had not done.
	settles := func(dm *v1alpha1.DeckhouseMachine, what string, so func(error) bool) {
		t.Helper()
		err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 4*time.Minute, true, func(ctx context.Context) (bool, error) {
			return so(b.Get(ctx, client.ObjectKeyFromObject(dm), dm)), nil
		})
		if err != nil {
			t.Fatalf("%s never %s: %+v", dm.Name, what, dm.Status)
		}
	}
	for _, dm := range all {
		settles(dm, "runs", func(err error) bool { return err == nil && because(dm, v1alpha1.VMRunning, "") })
	}
	count := func(what string, list client.ObjectList, want int) {
		t.Helper()
		if err := b.dvp.List(t.Context(), list, client.InNamespace(b.dvp.Namespace), client.MatchingLabels{cloud.LabelClusterUUID: uuid}); err != nil {
			t.Fatal(err)
		}
		if got := meta.LenList(list); got != want {
			t.Errorf("got %d %s, want %d", got, what, want)
		}
	}
	count("machines", &v1alpha2.VirtualMachineList{}, len(all))
	count("disks", &v1alpha2.VirtualDiskList{}, len(all))
	count("secrets", &corev1.SecretList{}, len(all))
	for _, dm := range all {
		if dm.Spec.ProviderID != "dvp://"+dm.Name {
			t.Errorf("got id %s of %s", dm.Spec.ProviderID, dm.Name)
		}
		b.delete(dm)
	}
	for _, dm := range all {
		settles(dm, "goes", apierrors.IsNotFound)
	}
	count("machines", &v1alpha2.VirtualMachineList{}, 0)
	count("disks", &v1alpha2.VirtualDiskList{}, 0)
	count("secrets", &corev1.SecretList{}, 0)
	killed, races := m.End("")
	if killed < 3 {
		t.Errorf("the program was killed %d times, want more", killed)
	}
	for _, report := range races {
		t.Error(report)
	}
	t.Logf("the program was killed %d times", killed)
}
