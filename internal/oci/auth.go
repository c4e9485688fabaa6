package oci

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// authorization is what requests carry once the registry has asked for it.
type authorization struct {
	mu     sync.Mutex
	header string
}

func (a *authorization) apply(r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.header != "" {
		r.Header.Set("Authorization", a.header)
	}
}

func (a *authorization) set(header string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.header = header
}

// authorize answers a challenge: the credentials themselves, or a token that they buy.
func (c *Client) authorize(ctx context.Context, challenge string) error {
	scheme, rest, _ := strings.Cut(challenge, " ")
	switch strings.ToLower(scheme) {
	case "basic":
		if c.at.Username == "" {
			return ErrDenied
		}
		r := &http.Request{Header: http.Header{}}
		r.SetBasicAuth(c.at.Username, c.at.Password)
		c.auth.set(r.Header.Get("Authorization"))
		return nil
	case "bearer":
		token, err := c.token(ctx, parameters(rest))
		if err == nil {
			c.auth.set("Bearer " + token)
		}
		return err
	}
	return fmt.Errorf("%w: it asks for %q", ErrProtocol, scheme)
}

// token buys a token from the service that the registry names. Credentials never go to a service
// without TLS when the registry has it.
func (c *Client) token(ctx context.Context, asked map[string]string) (string, error) {
	realm, err := url.Parse(asked["realm"])
	if err != nil || realm.Host == "" || realm.Scheme != "https" && (realm.Scheme != "http" || c.at.Scheme == "https") {
		return "", fmt.Errorf("%w: its tokens come from %q", ErrProtocol, asked["realm"])
	}
	query := realm.Query()
	for _, name := range []string{"service", "scope"} {
		if asked[name] != "" {
			query.Set(name, asked[name])
		}
	}
	realm.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, realm.String(), nil)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	if c.at.Username != "" {
		request.SetBasicAuth(c.at.Username, c.at.Password)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return "", broken(err)
	}
	defer func() { _ = response.Body.Close() }()
	switch {
	case response.StatusCode >= http.StatusInternalServerError:
		return "", fmt.Errorf("%w: its tokens are answered with %s", ErrUnreachable, response.Status)
	case response.StatusCode != http.StatusOK:
		return "", ErrDenied
	}
	var answer struct {
		Token       string `json:"token"`
		AccessToken string `json:"access_token"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, longestDocument)).Decode(&answer); err != nil {
		return "", fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	if answer.Token == "" {
		answer.Token = answer.AccessToken
	}
	if answer.Token == "" {
		return "", fmt.Errorf("%w: it gives an empty token", ErrProtocol)
	}
	return answer.Token, nil
}

// parameters reads name="value" pairs; values hold no escapes that registries use.
func parameters(text string) map[string]string {
	out := map[string]string{}
	for text != "" {
		name, rest, found := strings.Cut(text, "=")
		if !found {
			break
		}
		name = strings.ToLower(strings.Trim(name, " ,"))
		var value string
		if strings.HasPrefix(rest, `"`) {
			value, text, _ = strings.Cut(rest[1:], `"`)
		} else {
			value, text, _ = strings.Cut(rest, ",")
		}
		out[name] = strings.TrimSpace(value)
	}
	return out
}
