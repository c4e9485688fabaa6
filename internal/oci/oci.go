// Package oci reads from container registries over the distribution API (OCI distribution
// specification 1.1): enough to see whether a repository can be reached, and to read one file of
// a small image.
package oci

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Repository is where images are and how to get at them.
type Repository struct {
	// Scheme is https, or http for a registry without TLS.
	Scheme string
	// Host may carry a port; Path has no slash at its ends.
	Host, Path string
	// Username and Password are empty for a registry that asks for nothing.
	Username, Password string
	// CA is the PEM of the authorities behind the certificate; empty for those of the system.
	CA string
}

// The ways in which a registry can disappoint. Each error of this package is one of them or the
// end of its context.
var (
	ErrUnreachable = errors.New("the registry cannot be reached")
	ErrCertificate = errors.New("the certificate of the registry is not trusted")
	ErrDenied      = errors.New("the registry refuses the credentials")
	ErrNotFound    = errors.New("the registry has no such image")
	ErrProtocol    = errors.New("what answers is not a registry")
	ErrTooLarge    = errors.New("the image is larger than expected")
)

const (
	// answerWithin bounds one request: people wait for it.
	answerWithin = 15 * time.Second
	// longestDocument bounds a manifest, a list of tags or a token (the specification asks for 4 MiB).
	longestDocument = 4 << 20
)

// Client asks one repository. It is safe for concurrent use; Close ends its connections.
type Client struct {
	at   Repository
	http *http.Client
	auth authorization
}

// New makes a client. It fails when the authorities are no PEM certificates.
func New(at Repository) (*Client, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if at.CA != "" {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM([]byte(at.CA)) {
			return nil, errors.New("the authorities of the registry are no PEM certificates")
		}
	}
	if at.Scheme == "" {
		at.Scheme = "https"
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: config, ForceAttemptHTTP2: true,
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSHandshakeTimeout: 5 * time.Second, ResponseHeaderTimeout: answerWithin, IdleConnTimeout: 30 * time.Second,
	}
	return &Client{at: at, http: &http.Client{Transport: transport, Timeout: answerWithin, CheckRedirect: stayTrusted(at.Scheme)}}, nil
}

// stayTrusted follows the few redirections that registries make to their storage, never from TLS
// to plain text.
func stayTrusted(scheme string) func(*http.Request, []*http.Request) error {
	return func(next *http.Request, via []*http.Request) error {
		if len(via) > 3 || scheme == "https" && next.URL.Scheme != "https" {
			return fmt.Errorf("%w: it redirects to %s", ErrProtocol, next.URL.Redacted())
		}
		return nil
	}
}

// Close ends idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// address is that of a repository below the client's: sub may be empty.
func (c *Client) address(sub string, parts ...string) string {
	path := "/v2/" + strings.Trim(c.at.Path+"/"+sub, "/")
	for _, part := range parts {
		path += "/" + part
	}
	return (&url.URL{Scheme: c.at.Scheme, Host: c.at.Host, Path: path}).String()
}

// Tags lists the tags of a repository below the client's; an empty sub is the client's own. It
// proves that the registry can be reached, trusted and read.
func (c *Client) Tags(ctx context.Context, sub string) ([]string, error) {
	var list struct {
		Tags []string `json:"tags"`
	}
	if err := c.document(ctx, c.address(sub, "tags", "list"), "application/json", &list); err != nil {
		return nil, fmt.Errorf("list the tags of %s: %w", strings.Trim(c.at.Path+"/"+sub, "/"), err)
	}
	return list.Tags, nil
}

// document reads a JSON document.
func (c *Client) document(ctx context.Context, address, accept string, into any) error {
	response, err := c.get(ctx, address, accept)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, longestDocument+1))
	switch {
	case err != nil:
		return broken(err)
	case len(body) > longestDocument:
		return ErrTooLarge
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	return nil
}

func (c *Client) get(ctx context.Context, address, accept string) (*http.Response, error) {
	return c.ask(ctx, c.http, address, accept)
}

// ask sends a request, with credentials once the registry has said which it wants.
func (c *Client) ask(ctx context.Context, by *http.Client, address, accept string) (*http.Response, error) {
	for try := 0; ; try++ {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrProtocol, err)
		}
		request.Header.Set("Accept", accept)
		c.auth.apply(request)
		response, err := by.Do(request)
		if err != nil {
			return nil, broken(err)
		}
		if response.StatusCode == http.StatusOK {
			return response, nil
		}
		challenge := response.Header.Get("WWW-Authenticate")
		_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10))
		_ = response.Body.Close()
		switch response.StatusCode {
		case http.StatusUnauthorized:
			if try > 0 {
				return nil, ErrDenied
			}
			if err := c.authorize(ctx, challenge); err != nil {
				return nil, err
			}
		case http.StatusForbidden:
			return nil, ErrDenied
		case http.StatusNotFound:
			return nil, ErrNotFound
		default:
			if response.StatusCode >= http.StatusInternalServerError || response.StatusCode == http.StatusTooManyRequests {
				return nil, fmt.Errorf("%w: it answers %s", ErrUnreachable, response.Status)
			}
			return nil, fmt.Errorf("%w: it answers %s", ErrProtocol, response.Status)
		}
	}
}

// broken gives an error of the connection its kind.
func broken(err error) error {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var verify *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case errors.Is(err, ErrProtocol):
		return err
	case errors.As(err, &unknown), errors.As(err, &host), errors.As(err, &invalid), errors.As(err, &verify):
		return fmt.Errorf("%w: %w", ErrCertificate, err)
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}
