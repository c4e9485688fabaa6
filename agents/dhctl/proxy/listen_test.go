package proxy_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health/grpc_health_v1"

	"commander/agents/dhctl/proxy"
)

func TestListenRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		address string
		files   proxy.TLSFiles
	}{
		"an open port":          {"tcp:127.0.0.1:0", proxy.TLSFiles{}},
		"TLS without client CA": {"tcp:127.0.0.1:0", proxy.TLSFiles{Cert: "a", Key: "b"}},
		"files that are absent": {"tcp:127.0.0.1:0", proxy.TLSFiles{Cert: "a", Key: "b", ClientCA: "c"}},
		"an unknown network":    {"127.0.0.1:0", proxy.TLSFiles{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if l, err := proxy.Listen(c.address, c.files); err == nil {
				_ = l.Close()
				t.Error("it listens")
			}
		})
	}
}

func TestSocketIsForItsOwnerAndForOneServer(t *testing.T) {
	t.Parallel()
	_, path := local(t, "false")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket: got %v, %v; want mode 0600", info, err)
	}
	if _, err := proxy.Listen("unix:"+path, proxy.TLSFiles{}); !errors.Is(err, proxy.ErrServed) {
		t.Errorf("second server: got %v, want ErrServed", err)
	}
}

func TestForgottenSocketIsReplaced(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "proxy")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	old, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	old.SetUnlinkOnClose(false) // as when the server is killed
	_ = old.Close()
	l, err := proxy.Listen("unix:"+path, proxy.TLSFiles{})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the end: got %v, want no socket", err)
	}
}

func TestPortIsServedToHoldersOfACertificate(t *testing.T) {
	t.Parallel()
	files, pair, pool := certificates(t)
	at, err := proxy.Listen("tcp:127.0.0.1:0", files)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, at, "false")
	ask := func(config *tls.Config) error {
		conn := dial(t, at.Addr().String(), credentials.NewTLS(config))
		_, err := grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
		return err
	}
	if err := ask(&tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}); err != nil {
		t.Errorf("with a certificate: %v", err)
	}
	if ask(&tls.Config{RootCAs: pool}) == nil {
		t.Error("without a certificate: it answered")
	}
}

// certificates makes one certificate that is its own CA, for both sides.
func certificates(t *testing.T) (proxy.TLSFiles, tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "dhctl"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	dir := t.TempDir()
	files := proxy.TLSFiles{Cert: filepath.Join(dir, "cert"), Key: filepath.Join(dir, "key"), ClientCA: filepath.Join(dir, "cert")}
	for path, content := range map[string][]byte{files.Cert: certPEM, files.Key: keyPEM} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certPEM)
	return files, pair, pool
}
