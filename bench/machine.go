package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// describeMachine says what the figures were measured on.
func describeMachine() string {
	memory := "unknown"
	var system syscall.Sysinfo_t
	if syscall.Sysinfo(&system) == nil {
		memory = fmt.Sprintf("%.0f GiB", float64(system.Totalram)*float64(system.Unit)/(1<<30))
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return fmt.Sprintf("Machine: %s, %d cores, %s of memory, Linux %s, %s.",
		processor(), runtime.NumCPU(), memory, bytes.TrimSpace(kernel), runtime.Version())
}

func processor() string {
	body, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(body)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// describeLoad says when a measurement began and how busy the machine was with other things.
func describeLoad() string {
	body, _ := os.ReadFile("/proc/loadavg")
	load, _, _ := strings.Cut(string(body), " ")
	return fmt.Sprintf("%s, load before it %s", time.Now().Format(time.DateOnly), load)
}
