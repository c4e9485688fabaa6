package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
)

// client trusts the demo's authority and reaches every name on this machine, since the name that
// people use for it from outside may not lead here from inside.
func (d *demo) client() (*http.Client, error) {
	ca, err := os.ReadFile(d.path("pki", "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("read certificate authority: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{CheckRedirect: stay, Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			_, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
		},
	}}, nil
}

// listens asks whether somebody accepts connections on a unix socket.
func listens(socket string) func(context.Context) error {
	return func(ctx context.Context) error {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}
