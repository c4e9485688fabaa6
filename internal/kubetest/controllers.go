package kubetest

import (
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// StartAt gives a test a control plane of its own at an address of this machine, for machines that
// cannot reach loopback, with some of the real controllers. Names of controllers are those of
// kube-controller-manager.
func StartAt(t testing.TB, address string, controllers string) *Server {
	t.Helper()
	s := startOwn(t, address)
	if err := s.control(controllers); err != nil {
		t.Fatalf("start controllers: %v", err)
	}
	return s
}

// CA is the certificate by which the API server is trusted, in PEM.
func (s *Server) CA(t testing.TB) []byte {
	t.Helper()
	ca, err := os.ReadFile(s.Config.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func (s *Server) control(controllers string) error {
	p, err := find()
	if err != nil {
		return err
	}
	key, err := x509.MarshalECPrivateKey(s.clients.key)
	if err != nil {
		return fmt.Errorf("write key: %w", err)
	}
	kubeconfig := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: x,
clusters: [{name: c, cluster: {server: %q, certificate-authority: %q}}], users: [{name: u, user: {token: %q}}],
contexts: [{name: x, context: {cluster: c, user: u}}]}`, s.Config.Host, s.Config.CAFile, s.Config.BearerToken)
	err = errors.Join(
		os.WriteFile(s.file("clients.key"), encode("EC PRIVATE KEY", key), 0o600),
		os.WriteFile(s.file("controllers.kubeconfig"), []byte(kubeconfig), 0o600),
	)
	if err != nil {
		return err
	}
	manager := program{filepath.Join(filepath.Dir(p.apiserver.path), "kubernetes"), "kube-controller-manager"}
	s.controllers, err = launch(s.file("controllers.log"), manager,
		"--kubeconfig="+s.file("controllers.kubeconfig"), "--leader-elect=false", "--secure-port=0", "--controllers="+controllers,
		"--cluster-signing-cert-file="+s.file("clients.crt"), "--cluster-signing-key-file="+s.file("clients.key"))
	return err
}
