package containers_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/emulator"
	"commander/agents/dvp/emulator/containers"
	"commander/agents/dvp/emulator/emulatortest"
)

// image is what .ci/machine/build makes for clouds.
func image() string {
	if name := os.Getenv("COMMANDER_TEST_MACHINE_IMAGE"); name != "" {
		return name + "-cloud"
	}
	return "commander-test-machine-cloud"
}

// engine is Docker's, where there is one with the image; COMMANDER_TEST_REQUIRE_DOCKER=1 says that
// there must be.
func engine(t *testing.T, network string) *containers.Engine {
	t.Helper()
	e, err := containers.Open(t.Context(), image(), netip.MustParsePrefix(network))
	if err != nil && os.Getenv("COMMANDER_TEST_REQUIRE_DOCKER") == "1" {
		t.Fatalf("not run: %v", err)
	} else if err != nil {
		t.Skipf("not run: %v", err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

// within runs a command in a machine, with what it says.
func within(ctx context.Context, vm *v1alpha2.VirtualMachine, command string) (string, error) {
	out, err := exec.CommandContext(ctx, "docker", "exec", "dvp-"+string(vm.UID), "bash", "-c", command).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

const userData = `#cloud-config
write_files: [{path: /root/made, content: by cloud-init}]
runcmd: [[bash, -c, "echo ran >>/root/ran"]]
`

// A machine that is a container does what its user data says, answers by ssh at its address, keeps
// its disk while it is stopped and started, from inside or by an operation, and leaves nothing.
func TestMachineHasAGuest(t *testing.T) {
	t.Parallel()
	network := fmt.Sprintf("10.%d.%d.0/24", 128+os.Getpid()%64, os.Getpid()/64%256)
	guests := engine(t, network)
	d := emulatortest.StartOwn(t, func(o *emulator.Options) {
		o.Guests, o.MachineRanges = guests, []netip.Prefix{netip.MustParsePrefix(network)}
	})
	d.Make(d.Disk("first", emulatortest.Immediate, "1Gi"))
	d.Make(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "init"}, Type: v1alpha2.SecretTypeCloudInit,
		Data: map[string][]byte{v1alpha2.SecretKeyUserData: []byte(userData)},
	})
	vm := d.Machine("first", "first")
	vm.Spec.RunPolicy = v1alpha2.AlwaysOnUnlessStoppedManually
	vm.Spec.Provisioning = &v1alpha2.Provisioning{Type: v1alpha2.UserDataRef, UserDataRef: &v1alpha2.ProvisioningRef{Kind: v1alpha2.KindSecret, Name: "init"}}
	d.Make(vm)
	t.Cleanup(func() { _ = guests.Remove(context.Background(), vm.UID) }) // if the test ended before
	emulatortest.AwaitPhase(d, vm, v1alpha2.MachineRunning)
	says := func(command, want string) {
		t.Helper()
		last := ""
		// A guest that boots takes its time on a busy machine.
		err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, 3*time.Minute, true, func(ctx context.Context) (bool, error) {
			last, _ = within(ctx, vm, command)
			return last == want, nil
		})
		if err != nil {
			t.Fatalf("%s: got %q, want %q", command, last, want)
		}
	}
	says("cat /root/made /root/ran; hostname; systemctl is-active ssh", "by cloud-initran\nfirst\nactive")
	connection, err := net.DialTimeout("tcp", net.JoinHostPort(vm.Status.IPAddress, "22"), 10*time.Second)
	if err != nil {
		t.Fatalf("reach sshd at the machine's address: %v", err)
	}
	_ = connection.Close() // it was only to be there

	// Its own reboot starts it again; what was done once is not done again.
	says("touch /run/marked", "")
	_, _ = within(t.Context(), vm, "systemctl reboot --no-wall") // the command ends with the machine
	says("test -e /run/marked || echo anew; cat /root/ran; systemctl is-active ssh", "anew\nran\nactive")
	emulatortest.AwaitPhase(d, vm, v1alpha2.MachineRunning)

	// It shuts down by itself, and stays so.
	_, _ = within(t.Context(), vm, "systemctl poweroff --no-wall") // the command ends with the machine
	emulatortest.AwaitPhase(d, vm, v1alpha2.MachineStopped)
	operate(d, vm, v1alpha2.OperationStart)
	emulatortest.AwaitPhase(d, vm, v1alpha2.MachineRunning)
	says("cat /root/ran; systemctl is-active ssh", "ran\nactive")
	operate(d, vm, v1alpha2.OperationStop)
	emulatortest.AwaitPhase(d, vm, v1alpha2.MachineStopped)
	if state, err := guests.State(t.Context(), vm.UID); err != nil || state != emulator.GuestOff {
		t.Errorf("the guest of a stopped machine is %s, %v, want off", state, err)
	}
	if err := d.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	d.AwaitGone(vm)
	if state, err := guests.State(t.Context(), vm.UID); err != nil || state != emulator.GuestMissing {
		t.Errorf("the guest of a machine that is gone is %s, %v, want none", state, err)
	}
}

func operate(d *emulatortest.DVP, vm *v1alpha2.VirtualMachine, kind v1alpha2.OperationType) {
	d.Make(&v1alpha2.VirtualMachineOperation{
		ObjectMeta: metav1.ObjectMeta{Name: strings.ToLower(string(kind))}, Spec: v1alpha2.OperationSpec{Type: kind, VirtualMachineName: vm.Name},
	})
}
