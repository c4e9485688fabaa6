package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// programs measures what each program for DVP needs when it has nothing to do: its memory and its
// processor's time, both after the pause. The emulator is among them.
func (b *bench) programs(ctx context.Context) ([]figure, error) {
	return b.onDVP(ctx, func(w *world) (figures []figure, err error) {
		port, err := freePort(3)
		if err != nil {
			return nil, err
		}
		kubeconfig := "--kubeconfig=" + w.kubeconfig
		all := []*child{w.emulator}
		for _, p := range []struct {
			name string
			args []string
		}{
			{"capdvp-controller-manager", []string{kubeconfig, "--health-probe-bind-address=127.0.0.1:0"}},
			{"dvp-cloud-controller-manager", []string{kubeconfig, "--leader-elect=false", "--metrics-address=" + on(port), "--health-probe-bind-address=127.0.0.1:0"}},
			{"dvp-cloud-data-discoverer", []string{kubeconfig, "--listen-address=" + on(port+1), "--metrics-address=" + on(port+2)}},
			{"dvp-csi-driver", []string{"--node-name=bench", "--endpoint=unix://" + filepath.Join(b.dir, "csi.sock")}},
		} {
			c, err := b.spawn(p.name, w.provider(), b.program(p.name), p.args...)
			if err != nil {
				return nil, err
			}
			defer end(c, &err)
			all = append(all, c)
		}
		if err := pause(ctx, b.Settle); err != nil {
			return nil, err
		}
		for _, c := range all {
			if err := c.alive(); err != nil {
				return nil, err
			}
			memory, err := memoryOf(c.pid())
			if err != nil {
				return nil, err
			}
			used, err := cpuOf(c.pid())
			if err != nil {
				return nil, err
			}
			figures = append(figures,
				figure{what: "`" + c.name + "`, memory", samples: samples{memory.pss}, unit: mebibytes},
				figure{what: fmt.Sprintf("its CPU time in the first %s", time.Since(c.started).Round(time.Second)), samples: samples{used.Seconds()}, unit: milliseconds},
			)
		}
		return figures, nil
	})
}

// races lets two nodes race for a disk through a driver that is killed again and again.
func (b *bench) races(ctx context.Context) ([]figure, error) {
	return b.trials(ctx, "csi", "TestAttachmentRaces", "races", b.Races, "races for a disk with crashes of the driver, no double attachment, nothing left")
}

// traces lets the lives of Nodes be decided by answers that were recorded, and faults among them.
func (b *bench) traces(ctx context.Context) ([]figure, error) {
	return b.trials(ctx, "ccm", "TestNodesUnderTraces", "traces", b.Traces, "lives of a Node under faults, no wrong deletion")
}

// trials runs a test that ends with the first of so many trials in which a rule is broken.
func (b *bench) trials(ctx context.Context, of, test, flag string, many int, what string) ([]figure, error) {
	program := filepath.Join(b.dir, of+".test")
	if out, err := exec.CommandContext(ctx, "go", "test", "-C", "..", "-c", "-o", program, "./agents/dvp/"+of).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the trials: %w: %s", err, out)
	}
	began := time.Now()
	command := exec.CommandContext(ctx, program, "-test.run=^"+test+"$", "-test.timeout=0", "-"+flag+"="+strconv.Itoa(many))
	command.Dir = filepath.Join("..", "agents", "dvp", of)
	if out, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("run the trials: %w: %s", err, out)
	}
	return []figure{{what: fmt.Sprintf("%d %s", many, what), samples: samples{time.Since(began).Seconds()}, unit: seconds}}, nil
}
