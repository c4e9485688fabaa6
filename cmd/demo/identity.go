package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/crypto/bcrypt"

	"commander/agents/lab/build"
)

// The people of the demo. Their ids never change, since Commander knows people by them.
const (
	adminEmail  = "admin@example.com"
	viewerEmail = "viewer@example.com"
	adminID     = "6a0f5c1e-30ad-4a33-9c57-0d6b1a5a7c01"
	viewerID    = "6a0f5c1e-30ad-4a33-9c57-0d6b1a5a7c02"
	clientID    = "commander"
)

// dexSource is the folder of Dex's module, below the folder of this command.
const dexSource = "dex"

// dexTarget says how Dex is built. The name of the result changes with its source, so that a
// changed one is built anew.
func dexTarget(source string) (build.Target, error) {
	hash := sha256.New()
	for _, name := range []string{"main.go", "go.mod"} {
		text, err := os.ReadFile(filepath.Join(source, dexSource, name))
		if err != nil {
			return build.Target{}, fmt.Errorf("read source of Dex: %w", err)
		}
		hash.Write(text)
	}
	return build.Target{
		Name: "Dex", Module: dexSource, Package: ".", Usual: "two minutes",
		Output: filepath.Join("dex", fmt.Sprintf("%x", hash.Sum(nil)[:6]), "dex"),
	}, nil
}

type dexUser struct{ ID, Name, Email, Hash string }

// dexConfig is the file that cmd/demo/dex reads.
type dexConfig struct {
	Issuer, Listen, TLSCert, TLSKey string
	Client                          struct{ ID, Name, Secret, RedirectURI string }
	Users                           []dexUser
}

// writeIdentity writes the configuration of the identity provider and the client's secret for
// Commander.
func (h *home) writeIdentity(a addresses, s secrets) error {
	c := dexConfig{
		Issuer: a.issuer(), Listen: a.on(a.dexPort),
		TLSCert: h.path("pki", "server.crt"), TLSKey: h.path("pki", "server.key"),
	}
	c.Client.ID, c.Client.Name, c.Client.Secret = clientID, "Commander", s.ClientSecret
	c.Client.RedirectURI = a.commander() + "/auth/callback"
	for _, u := range []struct{ id, name, email, password string }{
		{adminID, "Administrator", adminEmail, s.AdminPassword},
		{viewerID, "Viewer", viewerEmail, s.ViewerPassword},
	} {
		hash, err := bcrypt.GenerateFromPassword([]byte(u.password), bcrypt.DefaultCost)
		if err != nil {
			return fmt.Errorf("hash password of %s: %w", u.email, err)
		}
		c.Users = append(c.Users, dexUser{ID: u.id, Name: u.name, Email: u.email, Hash: string(hash)})
	}
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("write configuration of Dex: %w", err)
	}
	if err := write(h.path("dex.json"), string(text)); err != nil {
		return err
	}
	return write(h.path("keys", "oidc-client-secret"), s.ClientSecret)
}

// subject is the name that Dex gives to a person in tokens: the id of the person and of the
// connector "local", as the protocol buffer fields 1 and 2 of its message IDTokenSubject.
func subject(id string) string {
	const connector = "local"
	message := append([]byte{1<<3 | 2, byte(len(id))}, id...)
	message = append(append(message, 2<<3|2, byte(len(connector))), connector...)
	return base64.RawURLEncoding.EncodeToString(message)
}
