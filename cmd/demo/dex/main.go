// Command dex is the Dex identity provider as the demo runs it: users and one client from a file,
// everything else in memory.
//
// It uses Dex's server as a library because Dex's own command needs a C compiler for SQLite. It
// lives in a module of its own so that Dex never becomes a dependency of the product.
package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/dexidp/dex/server"
	"github.com/dexidp/dex/storage"
	"github.com/dexidp/dex/storage/memory"
	"github.com/dexidp/dex/web"
)

// config is the file that the only argument names.
type config struct {
	Issuer  string // https address with a path; its path is served
	Listen  string
	TLSCert string
	TLSKey  string
	Client  struct{ ID, Name, Secret, RedirectURI string }
	Users   []struct{ ID, Name, Email, Hash string } // Hash is bcrypt's
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "dex:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("usage: dex configuration.json")
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	var c config
	if err := json.Unmarshal(text, &c); err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	certificate, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
	if err != nil {
		return fmt.Errorf("load certificate: %w", err)
	}
	issuer, err := url.Parse(c.Issuer)
	if err != nil {
		return fmt.Errorf("read issuer: %w", err)
	}
	log := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	provider, err := server.NewServer(ctx, server.Config{
		Issuer: c.Issuer, Storage: c.storage(log), SkipApprovalScreen: true, Logger: log,
		Web: server.WebConfig{WebFS: web.FS(), Issuer: c.Client.Name},
	})
	if err != nil {
		return fmt.Errorf("make provider: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle(issuer.Path+"/", provider)
	service := &http.Server{
		Addr: c.Listen, Handler: mux, ReadHeaderTimeout: 10 * time.Second,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
	}
	context.AfterFunc(ctx, func() { _ = service.Close() })
	if err := service.ListenAndServeTLS("", ""); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

func (c config) storage(log *slog.Logger) storage.Storage {
	passwords := make([]storage.Password, 0, len(c.Users))
	for _, u := range c.Users {
		passwords = append(passwords, storage.Password{Email: u.Email, Hash: []byte(u.Hash), Username: u.Name, UserID: u.ID})
	}
	s := storage.WithStaticPasswords(memory.New(log), passwords, log)
	s = storage.WithStaticClients(s, []storage.Client{{
		ID: c.Client.ID, Name: c.Client.Name, Secret: c.Client.Secret, RedirectURIs: []string{c.Client.RedirectURI},
	}})
	return storage.WithStaticConnectors(s, []storage.Connector{
		{ID: server.LocalConnector, Name: "Email", Type: server.LocalConnector},
	})
}
