package kubetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// life is longer than any test runs.
const life = 24 * time.Hour

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// newAuthority makes an authority of its own and writes its certificate to a file.
func newAuthority(name, file string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(life),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read certificate: %w", err)
	}
	return &authority{cert, key}, os.WriteFile(file, encode("CERTIFICATE", der), 0o600)
}

// issue signs a certificate for a subject and returns it and its key in PEM. It is for clients,
// and for servers of the given names too.
func (a *authority) issue(subject pkix.Name, names ...string) (cert, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return nil, nil, fmt.Errorf("number certificate: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: subject, DNSNames: names,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(life), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, private.Public(), a.key)
	if err != nil {
		return nil, nil, fmt.Errorf("sign certificate: %w", err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return nil, nil, fmt.Errorf("write key: %w", err)
	}
	return encode("CERTIFICATE", der), encode("EC PRIVATE KEY", secret), nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// certify makes the authority that clients' certificates come from, and the one by which the API
// server shows itself to servers that it forwards requests to.
func (s *Server) certify() error {
	var err error
	if s.clients, err = newAuthority("clients", s.file("clients.crt")); err != nil {
		return err
	}
	front, err := newAuthority("front-proxy", s.file("front.crt"))
	if err != nil {
		return err
	}
	cert, key, err := front.issue(pkix.Name{CommonName: "front-proxy-client"})
	return errors.Join(err,
		os.WriteFile(s.file("front-client.crt"), cert, 0o600), os.WriteFile(s.file("front-client.key"), key, 0o600))
}

// As reaches the control plane with a client certificate of a user in groups, as a kubelet or a
// component does.
func (s *Server) As(t testing.TB, user string, groups ...string) *rest.Config {
	t.Helper()
	cert, key, err := s.clients.issue(pkix.Name{CommonName: user, Organization: groups})
	if err != nil {
		t.Fatalf("make certificate of %s: %v", user, err)
	}
	as := rest.AnonymousClientConfig(s.Config)
	as.CertData, as.KeyData = cert, key
	as.QPS, as.Burst = s.Config.QPS, s.Config.Burst
	return as
}

// WithToken reaches the control plane with a bearer token.
func (s *Server) WithToken(token string) *rest.Config {
	as := rest.AnonymousClientConfig(s.Config)
	as.BearerToken, as.QPS, as.Burst = token, s.Config.QPS, s.Config.Burst
	return as
}

// Serving makes a certificate, key and authority for a server of a name, all in PEM.
func (s *Server) Serving(t testing.TB, name string) (cert, key, ca []byte) {
	t.Helper()
	cert, key, err := s.clients.issue(pkix.Name{CommonName: name}, name, "localhost")
	if err != nil {
		t.Fatalf("make certificate of %s: %v", name, err)
	}
	return cert, key, encode("CERTIFICATE", s.clients.cert.Raw)
}
