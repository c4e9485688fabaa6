package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"slices"
	"time"
)

// How long certificates live, and when a server's is made anew.
const (
	authorityLife = 10 * 365 * 24 * time.Hour
	serverLife    = 365 * 24 * time.Hour
	renewBefore   = 30 * 24 * time.Hour
)

// pki makes or renews the demo's certificate authority (ca.crt, ca.key) and the server's
// certificate for the names (server.crt with the authority's behind it, server.key).
func (h *home) pki(now time.Time, names []string) error {
	ca, err := h.authority(now)
	if err != nil {
		return err
	}
	if kept, err := tls.LoadX509KeyPair(h.path("pki", "server.crt"), h.path("pki", "server.key")); err == nil && fits(kept.Leaf, ca.Leaf, now, names) {
		return nil
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: names[0]}, NotAfter: now.Add(serverLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	return h.issue("server", template, now, &ca)
}

func (h *home) authority(now time.Time) (tls.Certificate, error) {
	load := func() (tls.Certificate, error) {
		return tls.LoadX509KeyPair(h.path("pki", "ca.crt"), h.path("pki", "ca.key"))
	}
	if kept, err := load(); err == nil && now.Before(kept.Leaf.NotAfter.Add(-serverLife)) {
		return kept, nil
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "Commander demo"}, NotAfter: now.Add(authorityLife),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	if err := h.issue("ca", template, now, nil); err != nil {
		return tls.Certificate{}, err
	}
	made, err := load()
	if err != nil {
		return made, fmt.Errorf("load certificate authority: %w", err)
	}
	return made, nil
}

// issue writes <name>.crt and <name>.key, signed by the authority or, without one, by itself.
func (h *home) issue(name string, template *x509.Certificate, now time.Time, ca *tls.Certificate) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make key of %s: %w", name, err)
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return fmt.Errorf("make serial number of %s: %w", name, err)
	}
	template.NotBefore = now.Add(-time.Hour) // clocks differ
	parent, signer, chain := template, any(key), ""
	if ca != nil {
		parent, signer = ca.Leaf, ca.PrivateKey
		chain = toPEM("CERTIFICATE", ca.Leaf.Raw)
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return fmt.Errorf("sign certificate of %s: %w", name, err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("write key of %s: %w", name, err)
	}
	if err := write(h.path("pki", name+".key"), toPEM("PRIVATE KEY", secret)); err != nil {
		return err
	}
	return write(h.path("pki", name+".crt"), toPEM("CERTIFICATE", certificate)+chain)
}

func toPEM(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// fits tells whether a server's certificate is of this authority, for these names and fresh.
func fits(leaf, ca *x509.Certificate, now time.Time, names []string) bool {
	return leaf.CheckSignatureFrom(ca) == nil && now.Before(leaf.NotAfter.Add(-renewBefore)) &&
		!slices.ContainsFunc(names, func(name string) bool { return leaf.VerifyHostname(name) != nil })
}

// certificateNames are the names by which the demo can be reached.
func certificateNames(host string) []string {
	names := []string{"localhost", "127.0.0.1", "::1"}
	if own, err := os.Hostname(); err == nil && own != "" {
		names = append(names, own)
	}
	if !slices.Contains(names, host) {
		names = append(names, host)
	}
	return names
}
