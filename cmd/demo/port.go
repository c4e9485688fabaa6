package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// needPort says, if the port is taken, by whom and what to do about it.
func needPort(address string, port, ask int) error {
	l, err := net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(port)))
	switch {
	case err == nil:
		return l.Close()
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("port %d is taken%s: choose another by `make demo PORT=%d`", port, by(port), suggested(ask))
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("port %d is for root alone: choose another by `make demo PORT=8443`", port)
	}
	return fmt.Errorf("try port %d: %w", port, err)
}

// suggested is a port that is likely free: a thousand further, within the range that users may use.
func suggested(port int) int {
	if port+1000 > 32000 || port < 1024 {
		return 9443
	}
	return port + 1000
}

// by names the process that listens on a port, as far as we may know.
func by(port int) string {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		sockets, err := os.ReadFile(table)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(sockets)) {
			f := strings.Fields(line) // see proc(5): 1 local address, 3 state (0A listens), 9 inode
			if len(f) > 9 && f[3] == "0A" && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", port)) {
				if pid := holder(f[9]); pid != "" {
					name, _ := os.ReadFile(filepath.Join("/proc", pid, "comm"))
					return fmt.Sprintf(" by process %s (%s)", pid, strings.TrimSpace(string(name)))
				}
			}
		}
	}
	return ""
}

// holder finds the process that has a socket open; other users' processes are seen by root only.
func holder(inode string) string {
	files, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, file := range files {
		if to, err := os.Readlink(file); err == nil && to == "socket:["+inode+"]" {
			return strings.Split(file, "/")[2]
		}
	}
	return ""
}
