package controlplane

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Ports are chosen below the range from which the kernel takes ports for outgoing connections
// (32768 and up), so that a port stays free while its API server is being started again.
const (
	firstPort = 20000
	lastPort  = 32000
)

// portTries bounds the search for a free port; with half of all taken it would still succeed.
const portTries = 100

// host is the only address that anything of a lab listens on.
const host = "127.0.0.1"

// Ports knows which cluster has which port, so that two that start at the same moment do not
// choose the same one. The zero value is ready to use.
type Ports struct {
	mu     sync.Mutex // protects owners
	owners map[int]string
}

// choose returns the remembered port if it is free, else another free one. free tells whether a
// port can be listened on.
func (p *Ports) choose(owner string, remembered int, free func(int) bool) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owners == nil {
		p.owners = map[int]string{}
	}
	take := func(port int) bool {
		if other, taken := p.owners[port]; taken && other != owner || !free(port) {
			return false
		}
		if p.owners[remembered] == owner {
			delete(p.owners, remembered)
		}
		p.owners[port] = owner
		return true
	}
	if remembered != 0 && take(remembered) {
		return remembered, nil
	}
	for range portTries {
		if port := firstPort + rand.N(lastPort-firstPort); take(port) {
			return port, nil
		}
	}
	return 0, errors.New("choose port: all that were tried are taken")
}

// claim notes that a living process of the owner listens on the port.
func (p *Ports) claim(owner string, port int) {
	always := func(int) bool { return true }
	_, _ = p.choose(owner, port, always)
}

// release gives a port back.
func (p *Ports) release(owner string, port int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owners[port] == owner {
		delete(p.owners, port)
	}
}

// portFree tells whether a port of the loopback interface can be listened on now.
func portFree(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}
