// Package containers makes containers of a Docker engine the guests of the emulator's machines: a
// Debian with systemd, sshd and cloud-init, in a network of the machines' addresses.
package containers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"commander/agents/dvp/emulator"
)

// label is on each container, with namespace and name of its machine.
const label = "emulator.dvp/machine"

// systemd's own signal to shut down, and what the kernel ends it with when it asks for a reboot: the
// first process of a container is ended by SIGHUP then.
const (
	signalShutDown = "SIGRTMIN+3"
	rebootExit     = 128 + 1
)

// Engine is a Docker engine, reached as the command docker reaches it.
type Engine struct {
	image   string
	network string
}

// Open prepares the network of the machines' addresses, whose last one becomes the engine's own. It
// fails if the engine does not answer or lacks the image.
func Open(ctx context.Context, image string, machines netip.Prefix) (*Engine, error) {
	if _, err := docker(ctx, nil, "image", "inspect", image); err != nil {
		return nil, fmt.Errorf("find image of guests: %w", err)
	}
	e := &Engine{image: image, network: "dvp-" + strings.ReplaceAll(machines.Masked().String(), "/", "-")}
	if _, err := docker(ctx, nil, "network", "inspect", e.network); err == nil {
		return e, nil // of an emulator before
	}
	gateway, err := lastOf(machines)
	if err != nil {
		return nil, err
	}
	if _, err := docker(ctx, nil, "network", "create", "--subnet", machines.Masked().String(), "--gateway", gateway.String(), e.network); err != nil {
		return nil, fmt.Errorf("make network of guests: %w", err)
	}
	return e, nil
}

// lastOf is the last address of a network before the broadcast.
func lastOf(network netip.Prefix) (netip.Addr, error) {
	if !network.Addr().Is4() || network.Bits() > 28 || network.Bits() < 8 {
		return netip.Addr{}, fmt.Errorf("network %s cannot hold guests: it must be one of IPv4 between /8 and /28", network)
	}
	address := network.Masked().Addr().As4()
	for bit := network.Bits(); bit < 31; bit++ {
		address[bit/8] |= 1 << (7 - bit%8)
	}
	return netip.AddrFrom4(address), nil
}

// Close removes the network unless a guest is still in it.
func (e *Engine) Close(ctx context.Context) error {
	_, err := docker(ctx, nil, "network", "rm", e.network)
	if err != nil && strings.Contains(err.Error(), "active endpoints") {
		return nil
	}
	return err
}

func container(id types.UID) string { return "dvp-" + string(id) }

// Boot makes the container of a machine unless it is there, and starts it.
func (e *Engine) Boot(ctx context.Context, g emulator.Guest) error {
	name := container(g.ID)
	status, _, err := inspect(ctx, name)
	if err != nil {
		return err
	}
	if status == "" {
		if err := e.create(ctx, name, g); err != nil {
			return err
		}
		status = "created"
	}
	if status == "created" { // it never ran, so cloud-init has not read this
		seed, err := seedOf(g)
		if err != nil {
			return err
		}
		if _, err := docker(ctx, seed, "cp", "-", name+":/"); err != nil {
			return err
		}
	}
	_, err = docker(ctx, nil, "start", name)
	return err
}

// create makes a container that may do all that a machine may, short of what the engine itself may
// not: without SYS_RESOURCE no container can be privileged.
func (e *Engine) create(ctx context.Context, name string, g emulator.Guest) error {
	_, err := docker(ctx, nil, "create", "--name", name, "--hostname", g.Machine.Name, "--label", label+"="+g.Machine.String(),
		"--network", e.network, "--ip", g.Address, "--stop-signal", signalShutDown, "--cap-add", "ALL", "--cap-drop", "SYS_RESOURCE",
		"--security-opt", "seccomp=unconfined", "--security-opt", "apparmor=unconfined", "--security-opt", "systempaths=unconfined",
		"--cgroupns", "private", "--tmpfs", "/run", "--tmpfs", "/tmp:exec", "--device", "/dev/kmsg", "--device-cgroup-rule", "a *:* rwm", e.image)
	return err
}

// State says how a container is.
func (e *Engine) State(ctx context.Context, id types.UID) (emulator.GuestState, error) {
	status, exit, err := inspect(ctx, container(id))
	switch {
	case err != nil:
		return "", err
	case status == "":
		return emulator.GuestMissing, nil
	case status == "running":
		return emulator.GuestRunning, nil
	case status == "exited" && exit == rebootExit:
		return emulator.GuestRebooting, nil
	}
	return emulator.GuestOff, nil
}

// ShutDown has systemd shut down.
func (e *Engine) ShutDown(ctx context.Context, id types.UID) error {
	return unlessGone(docker(ctx, nil, "kill", "--signal", signalShutDown, container(id)))
}

// Kill ends all processes of a container.
func (e *Engine) Kill(ctx context.Context, id types.UID) error {
	return unlessGone(docker(ctx, nil, "kill", container(id)))
}

// Remove removes a container with what it wrote.
func (e *Engine) Remove(ctx context.Context, id types.UID) error {
	return unlessGone(docker(ctx, nil, "rm", "--force", "--volumes", container(id)))
}

// All lists the containers of all machines.
func (e *Engine) All(ctx context.Context) (map[types.NamespacedName]string, error) {
	out, err := docker(ctx, nil, "ps", "--all", "--filter", "label="+label, "--format", `{{.Label "`+label+`"}} {{.State}}`)
	if err != nil {
		return nil, err
	}
	all := map[types.NamespacedName]string{}
	for line := range strings.Lines(out) {
		machine, state, _ := strings.Cut(strings.TrimSpace(line), " ")
		namespace, name, _ := strings.Cut(machine, "/")
		all[types.NamespacedName{Namespace: namespace, Name: name}] = state
	}
	return all, nil
}

// inspect tells status and exit code of a container; the status is empty if there is none.
func inspect(ctx context.Context, name string) (status string, exit int, err error) {
	out, err := docker(ctx, nil, "container", "inspect", "--format", "{{.State.Status}} {{.State.ExitCode}}", name)
	if unlessGone(out, err) != nil {
		return "", 0, err
	} else if err != nil {
		return "", 0, nil //nolint:nilerr // there is none
	}
	status, code, _ := strings.Cut(out, " ")
	exit, err = strconv.Atoi(code)
	return status, exit, err
}

// unlessGone is the error of a command, unless that found nothing to act on.
func unlessGone(_ string, err error) error {
	if err == nil {
		return nil
	}
	for _, words := range []string{"No such container", "is not running"} {
		if strings.Contains(err.Error(), words) {
			return nil
		}
	}
	return err
}

// docker runs a command of the engine and returns what it says.
func docker(ctx context.Context, input *bytes.Buffer, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "docker", args...)
	if input != nil {
		command.Stdin = input
	}
	var problem bytes.Buffer
	command.Stderr = &problem
	out, err := command.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("there is no command docker, by which guests are made")
	} else if err != nil {
		return "", fmt.Errorf("docker %s: %w: %s", args[0], err, bytes.TrimSpace(problem.Bytes()))
	}
	return strings.TrimSpace(string(out)), nil
}
