package controlplane

import (
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"testing"
)

func TestCertificatesFitTogether(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "pki")
	serviceIP, err := firstServiceIP("10.222.0.0/16")
	if err != nil || !serviceIP.Equal(net.IPv4(10, 222, 0, 1)) {
		t.Fatalf("got %v, %v, want 10.222.0.1", serviceIP, err)
	}
	if err := ensurePKI(dir, "c", serviceIP); err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(readCertificate(t, filepath.Join(dir, "ca.crt")))
	for _, l := range leaves {
		usage := x509.ExtKeyUsageClientAuth
		name := ""
		if l.server {
			usage, name = x509.ExtKeyUsageServerAuth, "10.222.0.1"
		}
		_, err := readCertificate(t, filepath.Join(dir, l.file+".crt")).Verify(x509.VerifyOptions{
			Roots: roots, DNSName: name, KeyUsages: []x509.ExtKeyUsage{usage},
		})
		if err != nil {
			t.Errorf("%s: %v", l.file, err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: got %v, %v, want 0600", f.Name(), info.Mode(), err)
		}
	}
	before := readCertificate(t, filepath.Join(dir, "ca.crt"))
	if err := ensurePKI(dir, "c", serviceIP); err != nil || !before.Equal(readCertificate(t, filepath.Join(dir, "ca.crt"))) {
		t.Errorf("the second time: got another authority or %v, want the same", err)
	}
}

func readCertificate(t *testing.T, file string) *x509.Certificate {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(raw)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}
