package kubetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// removeLeftovers removes the folders of test binaries that were killed before they could; the
// process ids are in the names.
func removeLeftovers() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), "kubetest-*-*"))
	for _, dir := range dirs {
		id, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), "kubetest-"), "-")
		pid, err := strconv.Atoi(id)
		if err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.RemoveAll(dir) // another test binary may be doing the same
		}
	}
}

// prepare writes the administrator's token and the key for service accounts, and finds a port.
func (s *Server) prepare(address string) (token string, port int, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", 0, fmt.Errorf("make key: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return "", 0, fmt.Errorf("write key: %w", err)
	}
	token = rand.Text()
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return "", 0, fmt.Errorf("find a free port: %w", err)
	}
	err = errors.Join(
		os.WriteFile(s.file("sa.key"), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600),
		os.WriteFile(s.file("tokens.csv"), []byte(token+",admin,admin,system:masters\n"), 0o600),
		l.Close(),
		s.certify(),
	)
	return token, l.Addr().(*net.TCPAddr).Port, err
}

func (s *Server) etcdFlags() []string {
	client, peer := "unix://"+s.file("etcd.sock"), "unix://"+s.file("peer.sock")
	return []string{
		"--name=test", "--data-dir=" + s.file("etcd"), "--log-level=warn", "--unsafe-no-fsync",
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=test=" + peer,
	}
}

func (s *Server) apiFlags(address string, port int) []string {
	return []string{
		"--etcd-servers=unix://" + s.file("etcd.sock"),
		"--bind-address=" + address, "--advertise-address=" + address, fmt.Sprintf("--secure-port=%d", port),
		"--endpoint-reconciler-type=none", // a loopback address is no endpoint
		"--cert-dir=" + s.dir,             // it signs its own certificate, apiserver.crt
		"--token-auth-file=" + s.file("tokens.csv"),
		"--service-account-key-file=" + s.file("sa.key"), "--service-account-signing-key-file=" + s.file("sa.key"),
		"--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=10.96.0.0/16",
		"--authorization-mode=Node,RBAC", "--allow-privileged=true", "--enable-admission-plugins=NodeRestriction",
		"--client-ca-file=" + s.file("clients.crt"), "--enable-bootstrap-token-auth",
		"--requestheader-client-ca-file=" + s.file("front.crt"), "--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + s.file("front-client.crt"), "--proxy-client-key-file=" + s.file("front-client.key"),
		"--disable-admission-plugins=ServiceAccount", // no controller makes the default account that pods would need
	}
}
