package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// TLSFiles name PEM files of mutual TLS: ours, and the CA of those who may call.
type TLSFiles struct{ Cert, Key, ClientCA string }

// Listener is a place to serve that is never open to everybody.
type Listener struct {
	net.Listener
	Credentials credentials.TransportCredentials
}

// ErrServed says that another server lives at the address.
var ErrServed = errors.New("another server already serves this address")

// Listen opens "unix:<path>", a socket for its owner alone, or "tcp:<host>:<port>" with mutual
// TLS. It refuses a port without TLS, and fails with ErrServed when a server lives at the path.
func Listen(address string, files TLSFiles) (Listener, error) {
	network, at, _ := strings.Cut(address, ":")
	switch network {
	case "unix":
		l, err := listenUnix(at)
		return Listener{l, insecure.NewCredentials()}, err
	case "tcp":
		if files.Cert == "" || files.Key == "" || files.ClientCA == "" {
			return Listener{}, errors.New("a port is only served with mutual TLS: give certificate, key and client CA, or use a unix socket")
		}
		config, err := files.config()
		if err != nil {
			return Listener{}, err
		}
		l, err := net.Listen("tcp", at)
		return Listener{l, credentials.NewTLS(config)}, err
	default:
		return Listener{}, fmt.Errorf("address %q is neither unix:path nor tcp:host:port", address)
	}
}

func (f TLSFiles) config() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return nil, fmt.Errorf("load certificate: %w", err)
	}
	pem, err := os.ReadFile(f.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("read client CA: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read client CA: no certificate in %s", f.ClientCA)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{pair},
		ClientCAs:    pool,
		ClientAuth:   tls.RequireAndVerifyClientCert,
		MinVersion:   tls.VersionTLS13,
	}, nil
}

// listenUnix makes a socket that appears at its path with its final permissions. A lock beside
// it, held as long as the server lives, tells a living server from a forgotten socket.
func listenUnix(path string) (net.Listener, error) {
	lock, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock of socket: %w", err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		lock.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, ErrServed
		}
		return nil, fmt.Errorf("lock socket: %w", err)
	}
	half := path + ".new"
	_ = os.Remove(half) // left by a server that died here
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: half, Net: "unix"})
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("listen: %w", err)
	}
	l.SetUnlinkOnClose(false)
	err = os.Chmod(half, 0o600)
	if err == nil {
		err = os.Rename(half, path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("place socket: %w", err), l.Close(), lock.Close())
	}
	return &socket{UnixListener: l, path: path, lock: lock}, nil
}

type socket struct {
	*net.UnixListener
	path string
	lock *os.File
}

// Close removes the socket and lets another server have its place.
func (s *socket) Close() error {
	err := s.UnixListener.Close()
	if err == nil { // the first time only
		err = errors.Join(os.Remove(s.path), s.lock.Close())
	}
	return err
}
