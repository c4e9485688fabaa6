package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// validity of all certificates: a lab does not renew them, it is thrown away before.
const validity = 10 * 365 * 24 * time.Hour

// leaf is a certificate that a control plane needs.
type leaf struct {
	file, name, group string
	server            bool
}

// leaves are the identities of one control plane. The group system:masters may do everything,
// without asking RBAC, so those certificates work before the API server has any roles.
var leaves = []leaf{
	{file: "apiserver", name: "kube-apiserver", server: true},
	{file: "admin", name: "lab-admin", group: "system:masters"},
	{file: "kwok", name: "lab-kwok", group: "system:masters"}, // plays the kubelet of every node
	{file: "controller-manager", name: "system:kube-controller-manager"},
	{file: "scheduler", name: "system:kube-scheduler"},
	{file: "kubelet-client", name: KubeletClient},
}

// KubeletClient is the name in the certificate by which the API server shows itself to kubelets.
const KubeletClient = "kube-apiserver-kubelet-client"

// ensurePKI creates the authority, certificates and keys of a control plane in dir unless they
// are there. It writes the authority's key last: its presence means that all files are whole.
func ensurePKI(dir, cluster string, serviceIP net.IP) error {
	last := filepath.Join(dir, "ca.key")
	if _, err := os.Stat(last); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create directory for certificates: %w", err)
	}
	ca, err := newAuthority(cluster)
	if err != nil {
		return err
	}
	for _, l := range leaves {
		if err := ca.write(dir, l, serviceIP); err != nil {
			return fmt.Errorf("issue certificate for %s: %w", l.name, err)
		}
	}
	if err := writeServiceAccountKey(dir); err != nil {
		return err
	}
	if err := writePEM(filepath.Join(dir, "ca.crt"), "CERTIFICATE", ca.cert.Raw); err != nil {
		return err
	}
	return writeKey(last, ca.key)
}

// Authority reads the certificate and key that sign for the cluster.
func (c *Cluster) Authority() (*x509.Certificate, *ecdsa.PrivateKey, error) {
	pair, err := tls.LoadX509KeyPair(c.pki("ca.crt"), c.pki("ca.key"))
	if err != nil {
		return nil, nil, fmt.Errorf("read authority: %w", err)
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, nil, fmt.Errorf("read authority: its key is a %T", pair.PrivateKey)
	}
	return pair.Leaf, key, nil
}

// authority signs the certificates of one cluster.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(cluster string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate key of the authority: %w", err)
	}
	template, err := newTemplate(cluster+"-ca", "")
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("sign certificate of the authority: %w", err)
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		return nil, fmt.Errorf("read certificate of the authority: %w", err)
	}
	return &authority{cert, key}, nil
}

func (a *authority) write(dir string, l leaf, serviceIP net.IP) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("generate key: %w", err)
	}
	template, err := newTemplate(l.name, l.group)
	if err != nil {
		return err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if l.server {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		template.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), serviceIP}
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return fmt.Errorf("sign: %w", err)
	}
	if err := writePEM(filepath.Join(dir, l.file+".crt"), "CERTIFICATE", raw); err != nil {
		return err
	}
	return writeKey(filepath.Join(dir, l.file+".key"), key)
}

func newTemplate(name, group string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("choose serial number: %w", err)
	}
	subject := pkix.Name{CommonName: name}
	if group != "" {
		subject.Organization = []string{group}
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial, Subject: subject,
		NotBefore: now.Add(-time.Hour), // for clocks that are a little late
		NotAfter:  now.Add(validity),
	}, nil
}

// writeServiceAccountKey makes the pair that signs and checks the tokens of service accounts.
func writeServiceAccountKey(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("generate key for service accounts: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("write public key for service accounts: %w", err)
	}
	if err := writePEM(filepath.Join(dir, "sa.pub"), "PUBLIC KEY", public); err != nil {
		return err
	}
	return writeKey(filepath.Join(dir, "sa.key"), key)
}

func writeKey(file string, key *ecdsa.PrivateKey) error {
	// The old form: kube-controller-manager's signer reads it in every version.
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("write key %s: %w", filepath.Base(file), err)
	}
	return writePEM(file, "EC PRIVATE KEY", raw)
}

func writePEM(file, kind string, raw []byte) error {
	return WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}))
}
