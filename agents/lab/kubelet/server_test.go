package kubelet

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// authority is a CA with a way to get client certificates from it.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	a := authority{}
	cert := a.sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "ca"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	return authority{cert.Leaf, cert.PrivateKey.(*ecdsa.PrivateKey)}
}

func (a authority) sign(t *testing.T, template *x509.Certificate) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber, template.NotBefore, template.NotAfter = big.NewInt(1), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key, Leaf: leaf}
}

func (a authority) client(t *testing.T, name string) *tls.Certificate {
	t.Helper()
	return a.sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// serve runs a server until the test ends and returns its socket.
func serve(t *testing.T, ca authority) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "kubelet")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Socket: filepath.Join(dir, "s"), CA: ca.cert, Key: ca.key, Client: "api", Log: slog.New(slog.DiscardHandler)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		_ = os.RemoveAll(dir)
	})
	return s.Socket
}

// connect asks the gate for a connection, as the API server does, and returns its answer.
func connect(t *testing.T, socket, target string) (net.Conn, string) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", socket)
		if err == nil {
			fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", target)
			answer, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect})
			if err != nil {
				t.Fatal(err)
			}
			return conn, answer.Status
		}
		select {
		case <-t.Context().Done():
			t.Fatal(err)
		case <-ticker.C: // the server is about to listen
		}
	}
}

// client makes an HTTP client of one node.
func client(t *testing.T, socket, node string, ca authority, cert *tls.Certificate) *http.Client {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{*cert}},
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			conn, status := connect(t, socket, node)
			if !strings.HasPrefix(status, "200") {
				return nil, fmt.Errorf("gate said %s", status)
			}
			return conn, nil
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

const node = "198.18.0.7:10250"

func TestOnlyTheAPIServerComesIn(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	socket := serve(t, ca)
	stranger := newAuthority(t)
	for _, c := range []struct {
		name string
		cert *tls.Certificate
		in   bool
	}{
		{"API server", ca.client(t, "api"), true},
		{"somebody else of the cluster", ca.client(t, "pod"), false},
		{"stranger with the right name", stranger.client(t, "api"), false},
	} {
		answer, err := client(t, socket, node, ca, c.cert).Get("https://" + node + "/healthz")
		if err == nil {
			_ = answer.Body.Close()
		}
		if (err == nil) != c.in {
			t.Errorf("%s: got %v, want in %t", c.name, err, c.in)
		}
	}
}

func TestGateLeadsToNodesOnly(t *testing.T) {
	t.Parallel()
	socket := serve(t, newAuthority(t))
	for target, want := range map[string]string{
		node: "200", "198.18.0.7:22": "502", "127.0.0.1:10250": "502", "10.222.0.1:443": "502", "example.test:443": "502",
	} {
		conn, status := connect(t, socket, target)
		_ = conn.Close()
		if !strings.HasPrefix(status, want) {
			t.Errorf("%s: got %s, want %s", target, status, want)
		}
	}
}

func TestLogs(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	c := client(t, serve(t, ca), node, ca, ca.client(t, "api"))
	for query, want := range map[string]string{
		"":               "container web of pod default/web-1 is played by the lab: no program runs in it\n",
		"?tailLines=0":   "",
		"?previous=true": "the container was never started before\n",
	} {
		answer, err := c.Get("https://" + node + "/containerLogs/default/web-1/web" + query)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if string(body) != want || err != nil {
			t.Errorf("%q: got %q, %v, want %q", query, body, err, want)
		}
	}
	answer, err := c.Get("https://" + node + "/containerLogs/default/web-1/web?follow=true&timestamps=true")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for _, want := range []string{"is played by the lab", "line 1 of this watch"} {
		if !lines.Scan() || !strings.Contains(lines.Text(), want) || !strings.HasPrefix(lines.Text(), "20") {
			t.Errorf("got %q, want a time and %q", lines.Text(), want)
		}
	}
}
