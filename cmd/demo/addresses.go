package main

import (
	"net"
	"strconv"
)

// addresses are where the demo is reached and where it listens.
type addresses struct {
	host          string
	port, dexPort int
}

func (a addresses) commander() string {
	return "https://" + net.JoinHostPort(a.host, strconv.Itoa(a.port))
}

func (a addresses) issuer() string {
	return "https://" + net.JoinHostPort(a.host, strconv.Itoa(a.dexPort)) + "/dex"
}

// bind is the interface to listen on: only who names another host wants to be reached from there.
func (a addresses) bind() string {
	if a.host == "localhost" || a.host == "127.0.0.1" {
		return "127.0.0.1"
	}
	return ""
}

func (a addresses) on(port int) string { return net.JoinHostPort(a.bind(), strconv.Itoa(port)) }
