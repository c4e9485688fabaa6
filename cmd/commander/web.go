package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"commander/internal/clock"
	"commander/internal/run"
	"commander/views/paths"
	"commander/web"
	"commander/web/assets"
	"commander/web/console"
	"commander/web/live"
	"commander/web/session"
)

// addWeb serves what the roles web and live answer for, on one address.
func (p *program) addWeb(ctx context.Context) error {
	sessions, err := p.sessions()
	if err != nil {
		return err
	}
	files, err := p.assets()
	if err != nil {
		return err
	}
	pages := &console.Console{Fleet: p.fleet, Sessions: sessions, Assets: files, PageSize: p.PageSize}
	hub := live.New(live.Options{Person: sessions.Again, Viewer: session.Viewer, Renderer: pages, Log: p.log, Metrics: p.metrics, MaxTopics: console.MaxTopics})
	deps := web.Deps{
		Fleet: p.fleet, Sessions: sessions, Console: pages, Assets: files, Log: p.log, Metrics: p.metrics,
		Live: hub,
	}
	if deps.Proxies, err = networks(p.TrustedProxies); err != nil {
		return err
	}
	heard := []func(topics ...string){hub.Heard}
	if p.has(roleWeb) {
		heard = append(heard, p.addServices(ctx, &deps))
	}
	handler, err := web.New(deps)
	if err != nil {
		return err
	}
	p.actors.Add("listen for changes", func(ctx context.Context) error {
		return p.store.Listen(ctx, p.log, func(topics ...string) {
			for _, tell := range heard {
				tell(topics...)
			}
		})
	})
	p.actors.Add("live", hub.Run)
	return p.addListener(ctx, p.probes(handler))
}

func (p *program) assets() (*assets.Set, error) {
	if p.AssetsDir != "" {
		return assets.Disk(p.AssetsDir)
	}
	return assets.Embedded()
}

func (p *program) sessions() (*session.Sessions, error) {
	secret, err := readOptional(p.OIDCClientSecretFile)
	if err != nil {
		return nil, err
	}
	authority, err := readOptional(p.OIDCCAFile)
	if err != nil {
		return nil, err
	}
	return session.New(p.fleet, p.store.Keys, clock.System{}, p.log, session.Config{
		Issuer: p.OIDCIssuer, ClientID: p.OIDCClientID, ClientSecret: strings.TrimSpace(secret),
		RedirectURL: p.PublicURL + paths.RouteAuthCallback, CABundle: []byte(authority),
	})
}

// probes answers health checks on the address of the pages, where load balancers look.
func (p *program) probes(next http.Handler) http.Handler {
	health := p.health.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" || r.URL.Path == "/readyz" {
			health.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (p *program) addListener(ctx context.Context, handler http.Handler) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", p.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w (choose another with --listen)", p.Listen, err)
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 15 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 256 << 10, // people in hundreds of groups bring long headers
	}
	if !p.BehindProxy {
		certificate := &keyPair{cert: p.TLSCert, key: p.TLSKey}
		if _, err := certificate.get(nil); err != nil {
			return err
		}
		server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate.get, NextProtos: []string{"h2", "http/1.1"}}
	}
	p.actors.Add("serve", run.Serve(server, listener))
	return nil
}

func networks(texts []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	var problems []error
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		out, problems = append(out, network), append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, run.Misuse(fmt.Errorf("--trusted-proxies: %w", err))
	}
	return out, nil
}
