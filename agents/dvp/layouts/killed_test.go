package layouts

import (
	"context"
	"errors"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/emulator/emulatortest"
)

// killedWhen starts an apply and kills OpenTofu and its provider as soon as DVP is so. It says whether
// the apply ended before that.
func (r *root) killedWhen(so func() bool) (ended bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	command := r.command(ctx, "apply", "-auto-approve")
	if err := command.Start(); err != nil {
		r.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- command.Wait() }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				r.t.Fatal(err)
			}
			return true
		case <-tick.C:
			if so() {
				cancel()
				<-done
				return false
			}
		}
	}
}

// An apply that was killed at any of its steps is finished by the next one, with or without what
// OpenTofu noted of it.
func TestKilledApply(t *testing.T) {
	t.Parallel()
	dvp := emulatortest.Start(t)
	r := newTree(t).root("master-node")
	c := configuration(t, dvp.Access, dvp.Namespace)
	r.inputs(ofNode(c, 0))
	for n := 1; n <= 5; n++ { // address, two disks, Secret, machine
		if r.killedWhen(func() bool { return len(left(t, dvp)) >= n }) {
			break
		}
	}
	r.apply()
	r.settled()
	first, names := machineOf(dvp, "demo-master-0"), left(t, dvp)

	if err := os.Remove(filepath.Join(r.folder, "terraform.tfstate")); err != nil {
		t.Fatal(err)
	}
	r.apply()
	if now := machineOf(dvp, "demo-master-0"); now.UID != first.UID {
		t.Error("without its state, the apply made another machine")
	}

	class := c["masterNodeGroup"].(object)["instanceClass"].(object)
	class["virtualMachine"].(object)["cpu"].(object)["cores"] = 2
	r.inputs(ofNode(c, 0))
	r.killedWhen(func() bool { // while the machine is being replaced
		var vm v1alpha2.VirtualMachine
		err := dvp.Get(t.Context(), keyOf(&first), &vm)
		return err != nil || vm.DeletionTimestamp != nil
	})
	r.apply()
	r.settled()
	if now := machineOf(dvp, "demo-master-0"); now.Name == first.Name || now.Status.Phase != v1alpha2.MachineRunning {
		t.Errorf("got machine %s in %s, want another that runs", now.Name, now.Status.Phase)
	}

	r.must("destroy", "-auto-approve")
	if got := left(t, dvp); len(got) != 0 {
		t.Fatalf("after the end there are %v, want nothing", got)
	}
	class["virtualMachine"].(object)["cpu"].(object)["cores"] = 1
	r.inputs(ofNode(c, 0))
	r.apply()
	if got := left(t, dvp); !slices.Equal(got, names) {
		t.Errorf("an apply that was not killed made %v, one that was %v", got, names)
	}
}

// Whatever DVP's API does, applying again ends with a machine, and destroying again with nothing.
func TestApplyUnderFaults(t *testing.T) {
	t.Parallel()
	dvp := emulatortest.Start(t)
	way, err := rest.TransportFor(emulatortest.Faulty(dvp.Access, 7, 0.08))
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(dvp.Access.Host)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.Transport, proxy.ErrorLog, proxy.FlushInterval = way, silent, -1
	faulty := httptest.NewServer(proxy)
	t.Cleanup(faulty.Close)
	r := newTree(t).root("master-node")
	r.inputs(ofNode(configurationBy(emulatortest.Kubeconfig(t, &rest.Config{Host: faulty.URL}), dvp.Namespace), 0))
	r.again("apply")
	if vm := machineOf(dvp, "demo-master-0"); vm.Status.Phase != v1alpha2.MachineRunning || len(left(t, dvp)) != 5 {
		t.Errorf("got a machine in %s among %v, want five objects", vm.Status.Phase, left(t, dvp))
	}
	r.again("destroy")
	if got := left(t, dvp); len(got) != 0 {
		t.Errorf("after the end there are %v, want nothing", got)
	}
}

// again does a thing until it succeeds.
func (r *root) again(what string) {
	r.t.Helper()
	var text string
	for range 30 {
		code := 0
		if text, code = r.run(what, "-auto-approve"); code == 0 {
			return
		}
	}
	r.t.Fatalf("%s never succeeds; at last:\n%s", what, text)
}
