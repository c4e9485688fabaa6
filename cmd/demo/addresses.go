package main

import (
	"net"
	"strconv"
)

// addresses are where the demo is reached and where it listens.
type addresses struct {
	host                         string
	port, dexPort, telemetryPort int
}

// addressesOf gives the ports after Commander's to the identity provider and to telemetry.
func addressesOf(c Config) addresses {
	return addresses{host: c.Host, port: c.Port, dexPort: c.Port + 1, telemetryPort: c.Port + 2}
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

// telemetry is for this machine only.
func (a addresses) telemetry() string { return "http://" + a.telemetryListen() }

func (a addresses) telemetryListen() string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(a.telemetryPort))
}
