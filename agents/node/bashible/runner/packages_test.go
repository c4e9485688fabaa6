package runner_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"log/slog"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/kubernetes"

	"commander/agents/node/api"
	"commander/agents/node/bashible/runner"
	"commander/agents/node/packages"
	"commander/internal/clock"
	"commander/internal/guard"
	"commander/internal/kubetest"
)

// archive packs files and gives the digest.
func archive(t *testing.T, files map[string]string) (text []byte, digest string) {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	for name, content := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(packed.Bytes())
	return packed.Bytes(), "sha256:" + hex.EncodeToString(sum[:])
}

func TestPackagesOfANode(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "packaged")
	m.settled("old")
	m.annotate(`{"` + api.UpdateApproved + `":""}`)
	store := t.TempDir()
	keep := func(text []byte, digest string) {
		t.Helper()
		m.must(os.WriteFile(store+"/"+strings.TrimPrefix(digest, "sha256:"), text, 0o600))
	}
	first, one := archive(t, map[string]string{"install": `cp bin/tool "$TEST_DIR/tool"; echo install-1 >>"$TEST_DIR/log"`, "uninstall": `rm "$TEST_DIR/tool"`, "bin/tool": "v1"})
	second, two := archive(t, map[string]string{"install": `cp bin/tool "$TEST_DIR/tool"; echo install-2 >>"$TEST_DIR/log"`, "uninstall": `rm "$TEST_DIR/tool"`, "bin/tool": "v2"})
	keep(first, one)
	keep(second, two)
	escaping, bad := archive(t, map[string]string{"../outside": "x", "install": "true"})
	keep(escaping, bad)

	server := kubetest.Start(t)
	client, err := kubernetes.NewForConfig(server.Config)
	m.must(err)
	may := authorizationv1.ResourceAttributes{Group: "bashible.deckhouse.io", Resource: "packages", Verb: "get"}
	proxy := httptest.NewUnstartedServer(guard.New(client, may, clock.System{}).Handler(&packages.Server{Dir: store, Log: slog.New(slog.DiscardHandler)}))
	cert, key, ca := server.Serving(t, runner.PackagesServerName)
	pair, err := tls.X509KeyPair(cert, key)
	m.must(err)
	proxy.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	proxy.StartTLS()
	defer proxy.Close()
	m.put("state/ca.crt", string(ca))
	m.env = append(m.env, "BASHIBLE_PACKAGES_PROXY_ADDRESSES=127.0.0.1:1,"+proxy.Listener.Addr().String(),
		"BASHIBLE_PACKAGES_PROXY_CA="+m.path("state/ca.crt"), "BASHIBLE_PACKAGES_PROXY_TOKEN="+server.Config.BearerToken)

	checksum := "a"
	try := func(code int, step string) outcome {
		t.Helper()
		checksum += "a"
		m.publish(checksum, map[string]string{"010_packages.sh": "told() { echo \"told $1\" >>\"$TEST_DIR/log\"; }\nbb-event-on bb-package-installed told\n" + step})
		return m.runs(code, "--max-retries=1")
	}
	try(0, "bb-package-install tool:"+one)
	if m.read("tool") != "v1" || m.read("log") != "install-1\ntold tool\n" {
		t.Fatalf("tool %q, log %q, want it installed", m.read("tool"), m.read("log"))
	}
	try(0, "bb-package-install tool:"+one)
	if m.read("log") != "install-1\ntold tool\n" {
		t.Errorf("the same digest was installed again: %q", m.read("log"))
	}
	// A download that was damaged on the disk is fetched again.
	m.put("packages/tool."+strings.TrimPrefix(two, "sha256:")+".tar.gz", string(second[:len(second)/2]))
	try(0, "bb-package-install tool:"+two)
	if m.read("tool") != "v2" || !strings.HasSuffix(m.read("log"), "install-2\ntold tool\n") {
		t.Errorf("tool %q, log %q, want the second", m.read("tool"), m.read("log"))
	}
	try(0, "bb-package-remove tool nothing")
	if m.read("tool") != "" {
		t.Error("the package was not removed")
	}
	for name, c := range map[string]struct{ step, said string }{
		"nobody has it":        {"bb-package-install tool:sha256:" + strings.Repeat("0", 64), "404"},
		"no digest":            {"bb-package-install tool:latest", "is no package"},
		"leads out of its own": {"bb-package-install tool:" + bad, "../outside"},
	} {
		if o := try(1, c.step); !strings.Contains(o.said, c.said) || m.read("tool") != "" {
			t.Errorf("%s: said %q, want %q", name, o.said, c.said)
		}
	}
	// A server that lies: the content under the name is another's.
	keep(second, one)
	if o := try(1, "bb-package-install tool:"+one); m.read("tool") != "" || !strings.Contains(o.said, "another digest") {
		t.Errorf("content with another digest: %q", o.said)
	}
	keep(first, one)
	m.env = append(m.env, "BASHIBLE_PACKAGES_PROXY_TOKEN=nobody")
	if o := try(1, "bb-package-install tool:"+one); !strings.Contains(o.said, "401") {
		t.Errorf("without a token that is known: %q", o.said)
	}
	m.env = append(m.env, "BASHIBLE_PACKAGES_PROXY_TOKEN="+server.Config.BearerToken)
	other := httptest.NewTLSServer(nil)
	defer other.Close()
	m.put("state/ca.crt", string(encodeCertificate(other.Certificate().Raw)))
	if o := try(1, "bb-package-install tool:"+one); !strings.Contains(o.said, "certificate") {
		t.Errorf("a server that is not trusted: %q", o.said)
	}
}
