package session

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"commander/fleet"
	"commander/internal/fault"
)

// Config is what Commander must know of the issuer that people sign in at.
type Config struct {
	// Issuer is its address, exactly as its tokens name it.
	Issuer                 string
	ClientID, ClientSecret string
	// RedirectURL is the full address of paths.Callback, as registered at the issuer.
	RedirectURL string
	// CABundle is the PEM of further authorities that the issuer's certificate may come from.
	CABundle []byte
	// Scopes are asked for beside openid; nil asks for profile and email.
	Scopes []string
}

// patience is how long one question to the issuer may take.
const patience = 10 * time.Second

// issuer asks the OpenID Connect provider.
type issuer struct {
	config Config
	client *http.Client

	mu       sync.Mutex // protects provider
	provider *oidc.Provider
}

func newIssuer(config Config) (*issuer, error) {
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool() // a machine without authorities of its own: the bundle must do
	}
	if len(config.CABundle) > 0 && !roots.AppendCertsFromPEM(config.CABundle) {
		return nil, errors.New("read the issuer's authorities: the bundle holds no certificate")
	}
	if config.Scopes == nil {
		config.Scopes = []string{"profile", "email"}
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute,
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	}
	return &issuer{config: config, client: &http.Client{Transport: transport, Timeout: patience}}, nil
}

// discover reads what the issuer says of itself, once it can be reached: a failure is not
// remembered, so that the next person finds an issuer that has come back.
func (i *issuer) discover(ctx context.Context) (*oidc.Provider, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.provider != nil {
		return i.provider, nil
	}
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, i.client), i.config.Issuer)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, fmt.Errorf("ask the issuer %s: %w", i.config.Issuer, err), "fault.issuer_away")
	}
	i.provider = provider
	return provider, nil
}

func (i *issuer) oauth(provider *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: i.config.ClientID, ClientSecret: i.config.ClientSecret, RedirectURL: i.config.RedirectURL,
		Endpoint: provider.Endpoint(), Scopes: append([]string{oidc.ScopeOpenID}, i.config.Scopes...),
	}
}

// address is where the browser goes to sign in.
func (i *issuer) address(ctx context.Context, p pending) (string, error) {
	provider, err := i.discover(ctx)
	if err != nil {
		return "", err
	}
	return i.oauth(provider).AuthCodeURL(p.State, oidc.Nonce(p.Nonce), oauth2.S256ChallengeOption(p.Verifier)), nil
}

// errRefused marks answers of an issuer or browser that do not prove an identity.
var errRefused = errors.New("the sign-in proves nothing")

// identify trades a code for the identity that it proves. It fails with errRefused when the
// issuer or its token does not agree with what was asked.
func (i *issuer) identify(ctx context.Context, code string, p pending) (fleet.Identity, error) {
	provider, err := i.discover(ctx)
	if err != nil {
		return fleet.Identity{}, err
	}
	ctx = oidc.ClientContext(ctx, i.client)
	token, err := i.oauth(provider).Exchange(ctx, code, oauth2.VerifierOption(p.Verifier))
	var refusal *oauth2.RetrieveError
	switch {
	case errors.As(err, &refusal) && refusal.Response.StatusCode < http.StatusInternalServerError:
		return fleet.Identity{}, fmt.Errorf("%w: trade the code: %w", errRefused, err)
	case err != nil:
		return fleet.Identity{}, fault.Wrap(fault.Unavailable, fmt.Errorf("trade the code of a sign-in: %w", err), "fault.issuer_away")
	}
	raw, there := token.Extra("id_token").(string)
	if !there {
		return fleet.Identity{}, fmt.Errorf("%w: the answer holds no id_token", errRefused)
	}
	proof, err := provider.Verifier(&oidc.Config{ClientID: i.config.ClientID}).Verify(ctx, raw)
	if err != nil {
		return fleet.Identity{}, fmt.Errorf("%w: %w", errRefused, err)
	}
	if !equal(proof.Nonce, p.Nonce) {
		return fleet.Identity{}, fmt.Errorf("%w: the id_token has another nonce", errRefused)
	}
	var claims struct {
		Email             string `json:"email"`
		EmailVerified     bool   `json:"email_verified"`
		Name              string `json:"name"`
		PreferredUsername string `json:"preferred_username"`
	}
	if err := proof.Claims(&claims); err != nil {
		return fleet.Identity{}, fmt.Errorf("%w: read the claims: %w", errRefused, err)
	}
	if claims.Name == "" {
		claims.Name = claims.PreferredUsername
	}
	return fleet.Identity{
		Issuer: proof.Issuer, Subject: proof.Subject, Email: claims.Email, EmailVerified: claims.EmailVerified, Name: claims.Name,
	}, nil
}
