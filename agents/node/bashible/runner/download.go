package runner

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
)

func (p *packages) connect() error {
	ca, err := os.ReadFile(p.PackagesCA)
	if err != nil {
		return fmt.Errorf("read authority of package servers: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return fmt.Errorf("%s has no certificate", p.PackagesCA)
	}
	p.client = &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool, ServerName: PackagesServerName},
		DialContext:     (&net.Dialer{Timeout: connectBound}).DialContext, TLSHandshakeTimeout: connectBound,
	}}
	return nil
}

// PackagesServerName is in the certificates of package servers, whatever address they have.
const PackagesServerName = "registry-packages-proxy"

// download puts the archive in its place only if its digest is right.
func (p *packages) download(ctx context.Context, server string, pkg Package) error {
	query := url.Values{"digest": {pkg.Digest}, "path": {pkg.Name}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+server+"/package?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+p.PackagesToken)
	answer, err := p.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", server, answer.Status)
	}
	f, err := os.CreateTemp(p.PackagesDir, ".download-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, sum), answer.Body)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("download from %s: %w", server, err)
	}
	if got := "sha256:" + hex.EncodeToString(sum.Sum(nil)); got != pkg.Digest {
		return fmt.Errorf("download from %s: %w: %s", server, errDigest, got)
	}
	return os.Rename(f.Name(), p.archive(pkg))
}

func digestOf(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}
