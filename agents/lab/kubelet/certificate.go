package kubelet

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"sync"
	"time"
)

// tlsConfig shows each node's own certificate and lets only the API server in.
func (s *Server) tlsConfig() (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate key of kubelets: %w", err)
	}
	issued := &certificates{server: s, key: key, byNode: map[netip.Addr]*tls.Certificate{}}
	clients := x509.NewCertPool()
	clients.AddCert(s.CA)
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"http/1.1"}, // streams need a connection of their own
		ClientAuth:     tls.RequireAndVerifyClientCert,
		ClientCAs:      clients,
		GetCertificate: issued.forNode,
		VerifyConnection: func(state tls.ConnectionState) error {
			if name := state.PeerCertificates[0].Subject.CommonName; name != s.Client {
				return fmt.Errorf("a kubelet serves the API server, not %q", name)
			}
			return nil
		},
	}, nil
}

// certificates are those of the nodes that were asked for since the start.
type certificates struct {
	server *Server
	key    *ecdsa.PrivateKey

	mu     sync.Mutex // protects byNode
	byNode map[netip.Addr]*tls.Certificate
}

// certificateLife is short, because a certificate is made whenever it is needed.
const certificateLife = 24 * time.Hour

func (c *certificates) forNode(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	conn, ok := hello.Conn.(*tunnel)
	if !ok {
		return nil, errors.New("choose certificate: not a connection to a node")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if known := c.byNode[conn.node]; known != nil && now.Before(known.Leaf.NotAfter.Add(-time.Hour)) {
		return known, nil
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("choose serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "kubelet"},
		IPAddresses: []net.IP{conn.node.AsSlice()},
		NotBefore:   now.Add(-time.Hour), NotAfter: now.Add(certificateLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, c.server.CA, c.key.Public(), c.server.Key)
	if err != nil {
		return nil, fmt.Errorf("issue certificate for node %s: %w", conn.node, err)
	}
	leaf, err := x509.ParseCertificate(raw)
	if err != nil {
		return nil, fmt.Errorf("read certificate for node %s: %w", conn.node, err)
	}
	c.byNode[conn.node] = &tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: c.key, Leaf: leaf}
	return c.byNode[conn.node], nil
}
