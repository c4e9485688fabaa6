package agentapi

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// answerLimit is how long Commander may take to answer a request, without the wait of a long poll.
const answerLimit = 20 * time.Second

// ClientOptions says whom a Client talks to.
type ClientOptions struct {
	// URL is the base, https://<commander>/agent_api/<cluster uuid>.
	URL string
	// Token is asked before each request, so that a rotated token is used without a restart.
	Token func() (string, error)
	// CA holds PEM certificates that are trusted instead of the system's; empty means the system's.
	CA []byte
	// Version is the agent's, for User-Agent.
	Version string
	// Proxy chooses an HTTP proxy; nil means by HTTPS_PROXY and NO_PROXY in the environment.
	Proxy func(*http.Request) (*url.URL, error)
}

// Client is the agent's side of the contract. It is safe for concurrent use.
type Client struct {
	base      string
	token     func() (string, error)
	userAgent string
	http      *http.Client
	dialer    *websocket.Dialer
}

// NewClient checks the options. Anything but https is refused, because the token would travel in
// the open.
func NewClient(o ClientOptions) (*Client, error) {
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, fmt.Errorf("parse address of Commander: %w", err)
	}
	if u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.User != nil {
		return nil, fmt.Errorf("address of Commander %q: want https://<host>/agent_api/<cluster uuid>", u.Redacted())
	}
	if o.Token == nil {
		return nil, errors.New("no token for Commander")
	}
	trust := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(o.CA) > 0 {
		trust.RootCAs = x509.NewCertPool()
		if !trust.RootCAs.AppendCertsFromPEM(o.CA) {
			return nil, errors.New("CA of Commander: no PEM certificate in it")
		}
	}
	if o.Proxy == nil {
		o.Proxy = http.ProxyFromEnvironment
	}
	transport := &http.Transport{
		Proxy:               o.Proxy,
		TLSClientConfig:     trust,
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        2,
		IdleConnTimeout:     90 * time.Second,
		// A connection that died without a word is noticed between requests, too.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 10 * time.Second},
	}
	return &Client{
		base:      strings.TrimRight(u.String(), "/"),
		token:     o.Token,
		userAgent: "commander-agent/" + o.Version,
		http: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		dialer: &websocket.Dialer{
			Proxy:            o.Proxy,
			TLSClientConfig:  trust.Clone(),
			HandshakeTimeout: answerLimit,
			Subprotocols:     []string{TunnelProtocol},
			ReadBufferSize:   17 << 10,
			WriteBufferSize:  17 << 10,
		},
	}, nil
}

// Config asks for a configuration other than the one named by etag and waits up to wait for it.
// The second result is false if nothing changed.
func (c *Client) Config(ctx context.Context, etag string, wait time.Duration) (Config, bool, error) {
	wait = min(wait, MaxWait)
	ctx, cancel := context.WithTimeout(ctx, wait+answerLimit)
	defer cancel()
	path := PathConfig + "?" + WaitParameter + "=" + strconv.Itoa(int(wait/time.Second))
	req, err := c.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return Config{}, false, err
	}
	if etag != "" {
		req.Header.Set("If-None-Match", QuoteETag(etag))
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return Config{}, false, fmt.Errorf("fetch configuration: %w", err)
	}
	defer discard(resp)
	switch resp.StatusCode {
	case http.StatusNotModified:
		return Config{}, false, nil
	case http.StatusOK:
	default:
		return Config{}, false, fmt.Errorf("fetch configuration: %w", statusError(resp))
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, MaxConfigBytes+1))
	if err != nil {
		return Config{}, false, fmt.Errorf("read configuration: %w", err)
	}
	if len(raw) > MaxConfigBytes {
		return Config{}, false, fmt.Errorf("read configuration: more than %d bytes", MaxConfigBytes)
	}
	var config Config
	if err := json.Unmarshal(raw, &config); err != nil {
		return Config{}, false, fmt.Errorf("read configuration: %w", err)
	}
	if config.ETag == "" {
		config.ETag = UnquoteETag(resp.Header.Get("ETag"))
	}
	return config, config.ETag == "" || config.ETag != etag, nil
}

// Report posts a report.
func (c *Client) Report(ctx context.Context, report Report) error {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	raw, err := json.Marshal(report)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if len(raw) > MaxReportBytes {
		return fmt.Errorf("post report: %d bytes are more than %d", len(raw), MaxReportBytes)
	}
	req, err := c.request(ctx, http.MethodPost, PathReport, raw)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("post report: %w", err)
	}
	defer discard(resp)
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("post report: %w", statusError(resp))
	}
	return nil
}

// DialTunnel opens the WebSocket of the tunnel.
func (c *Client) DialTunnel(ctx context.Context) (*websocket.Conn, error) {
	req, err := c.request(ctx, http.MethodGet, PathTunnel, nil)
	if err != nil {
		return nil, err
	}
	address := "wss" + strings.TrimPrefix(req.URL.String(), "https")
	ws, resp, err := c.dialer.DialContext(ctx, address, req.Header) //nolint:bodyclose // the WebSocket owns it, or the dialer has read it
	if err != nil {
		if resp != nil {
			err = statusError(resp)
		}
		return nil, fmt.Errorf("dial tunnel: %w", err)
	}
	if ws.Subprotocol() != TunnelProtocol {
		_ = ws.Close()
		return nil, fmt.Errorf("dial tunnel: the other side does not speak %s", TunnelProtocol)
	}
	return ws, nil
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

func (c *Client) request(ctx context.Context, method, path string, body []byte) (*http.Request, error) {
	token, err := c.token()
	if err != nil {
		return nil, fmt.Errorf("read token: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("User-Agent", c.userAgent)
	return req, nil
}

// discard lets the connection be used again; a body that is not at its end soon is cut.
func discard(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
	_ = resp.Body.Close()
}
