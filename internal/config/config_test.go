package config

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

type common struct {
	Name string `flag:"name" default:"nobody"`
}

type sample struct {
	common
	Listen string        `flag:"listen" default:"127.0.0.1:80" help:"address to serve on"`
	Level  string        `flag:"level" default:"info" oneof:"debug info"`
	Quiet  bool          `flag:"quiet"`
	Roles  []string      `flag:"roles"`
	Wait   time.Duration `flag:"wait" default:"5s"`
	Store  struct {
		URL string `flag:"database-url" required:"true" help:"PostgreSQL"`
		Key string `flag:"key" secret:"true"`
	}
	Port int `flag:"port" env:"PORT"`
}

func (s *sample) Validate() error {
	if s.Port == 13 {
		return errors.New("port 13 brings bad luck")
	}
	return nil
}

func from(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := env[name]; return v, ok }
}

func TestFlagsWinOverEnvironmentAndDefaults(t *testing.T) {
	t.Parallel()
	var s sample
	rest, err := load("APP_", []string{"--quiet", "--wait=2m", "--roles", "web, live", "run", "--job"}, &s, from(map[string]string{
		"APP_DATABASE_URL": "postgres://u:pw@h/db", "APP_WAIT": "1h", "APP_LEVEL": "debug", "PORT": "7", "APP_KEY": "k",
	}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(rest, []string{"run", "--job"}) {
		t.Errorf("rest = %q, want what follows the flags", rest)
	}
	got := fmt.Sprint(s.Name, s.Listen, s.Level, s.Quiet, s.Roles, s.Wait, s.Store.URL, s.Store.Key, s.Port)
	if want := "nobody127.0.0.1:80debug true [web live] 2m0spostgres://u:pw@h/dbk7"; strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
		t.Errorf("got %s, want %s", got, want)
	}
	described := fmt.Sprint(Describe(s)...)
	if strings.Contains(described, "pw") || !strings.Contains(described, "key***") || !strings.Contains(described, "127.0.0.1:80") {
		t.Errorf("described as %q, want it without secrets", described)
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	_, err := load("APP_", []string{"--level=loud"}, new(sample), from(map[string]string{"APP_WAIT": "soon"}), nil)
	if err == nil {
		t.Fatal("got no error")
	}
	for _, want := range []string{
		"APP_WAIT:",
		"--database-url (or APP_DATABASE_URL) is required: PostgreSQL",
		`--level (or APP_LEVEL) is "loud", want one of: debug, info`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
}

func TestOwnRulesComeLast(t *testing.T) {
	t.Parallel()
	_, err := load("APP_", []string{"--port=13", "--database-url=x"}, new(sample), from(nil), nil)
	if err == nil || !strings.Contains(err.Error(), "bad luck") {
		t.Fatalf("got %v, want the sample's own rule", err)
	}
}

func TestUnknownFlagAndHelp(t *testing.T) {
	t.Parallel()
	if _, err := load("APP_", []string{"--nope"}, new(sample), from(nil), nil); err == nil || !strings.Contains(err.Error(), "nope") {
		t.Errorf("got %v, want one that names the flag", err)
	}
	var help bytes.Buffer
	_, err := load("APP_", []string{"-h"}, new(sample), from(nil), &help)
	if !errors.Is(err, flag.ErrHelp) {
		t.Errorf("got %v, want flag.ErrHelp", err)
	}
	for _, want := range []string{"--listen  (APP_LISTEN)", "address to serve on (default 127.0.0.1:80)", "PostgreSQL (required)"} {
		if !strings.Contains(help.String(), want) {
			t.Errorf("help lacks %q:\n%s", want, help.String())
		}
	}
}
