package controlplane

import (
	"net"
	"strconv"
	"testing"
)

func TestChoosePort(t *testing.T) {
	t.Parallel()
	anyPort := func(int) bool { return true }
	not := func(taken int) func(int) bool { return func(p int) bool { return p != taken } }
	for _, c := range []struct {
		name       string
		remembered int
		free       func(int) bool
		keeps      bool
	}{
		{"the first time", 0, anyPort, false},
		{"remembered and free", 25000, anyPort, true},
		{"remembered and taken by another program", 25000, not(25000), false},
		{"remembered and taken by another cluster", 25001, anyPort, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var ports Ports
			ports.claim("other", 25001)
			port, err := ports.choose("me", c.remembered, c.free)
			if err != nil || (port == c.remembered) != c.keeps || port < firstPort || port >= lastPort || port == 25001 {
				t.Fatalf("got %d, %v, want the remembered %d: %t", port, err, c.remembered, c.keeps)
			}
			if _, err := ports.choose("third", port, anyPort); err != nil || ports.owners[port] != "me" {
				t.Errorf("got owner %q of %d, want me", ports.owners[port], port)
			}
			ports.release("third", port) // not its own
			if ports.owners[port] != "me" {
				t.Error("somebody else released the port")
			}
		})
	}
}

func TestChoosePortGivesUp(t *testing.T) {
	t.Parallel()
	var ports Ports
	if port, err := ports.choose("me", 0, func(int) bool { return false }); err == nil {
		t.Errorf("got port %d where none is free, want an error", port)
	}
}

func TestPortFree(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := net.SplitHostPort(l.Addr().String())
	port, _ := strconv.Atoi(text)
	if portFree(port) {
		t.Errorf("port %d counts as free while somebody listens", port)
	}
	_ = l.Close()
}
