// Package capitest gives tests Cluster API's own kinds and controllers, as `make cluster-api` builds them.
package capitest

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"commander/agents/dvp/api/configuration"
	"commander/agents/dvp/api/infrastructure"
	"commander/internal/clock"
	"commander/internal/guard"
)

// bound is how long the API server may take to serve a kind.
const bound = 2 * time.Minute

// root is the folder of the module.
func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "../../../..")
}

// Program is the path of Cluster API's controllers; a test without them is not run.
func Program(t testing.TB) string {
	t.Helper()
	path := filepath.Join(root(), ".cache/cluster-api/core")
	if _, err := os.Stat(path); err != nil {
		t.Skip("Cluster API's controllers are not there; make cluster-api builds them")
	}
	return path
}

// Install makes the API server know our kinds, Cluster API's, and those of groups of nodes where it
// does not know them yet. The client must know definitions of kinds.
func Install(t testing.TB, c client.Client) {
	t.Helper()
	all, err := infrastructure.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root(), ".cache/cluster-api/crds/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("got kinds %v, %v", files, err)
	}
	texts := [][]byte{configuration.InstanceClass}
	for _, file := range append(files, filepath.Join(root(), "agents/node/api/crds/deckhouse.io_nodegroups.yaml")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	for _, text := range texts {
		crd := new(apiextensionsv1.CustomResourceDefinition)
		if err := yaml.Unmarshal(text, crd); err != nil {
			t.Fatal(err)
		}
		all = append(all, crd)
	}
	for _, crd := range all {
		if err := c.Create(t.Context(), crd); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	for _, crd := range all {
		Established(t, c, crd)
	}
}

// Established waits until the API server has a kind.
func Established(t testing.TB, c client.Client, crd *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, bound, true, func(ctx context.Context) (bool, error) {
		if err := c.Get(ctx, client.ObjectKeyFromObject(crd), crd); err != nil {
			return false, nil //nolint:nilerr // asked again
		}
		for _, condition := range crd.Status.Conditions {
			if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		t.Fatalf("wait for kind %s: %v", crd.Name, err)
	}
}

// Run starts Cluster API's controllers as a process of the test.
func Run(t testing.TB, program, kubeconfig string) {
	t.Helper()
	dir, output := t.TempDir(), new(bytes.Buffer)
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "kubeconfig"), []byte(kubeconfig), 0o600), writeCertificate(dir)); err != nil {
		t.Fatal(err)
	}
	_, webhook, err := net.SplitHostPort(free(t))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "--kubeconfig", filepath.Join(dir, "kubeconfig"),
		"--webhook-cert-dir", dir, "--webhook-port", webhook, "--health-addr", free(t), "--diagnostics-address", free(t), "--insecure-diagnostics")
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			text := output.String()
			t.Log(text[max(0, len(text)-6000):])
		}
	})
}

func free(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// writeCertificate makes what the program serves its webhooks with, which nobody calls here: all
// that they would fill in is given.
func writeCertificate(dir string) error {
	config, err := guard.TLS("", "", "webhook", clock.System{})
	if err != nil {
		return err
	}
	key, err := x509.MarshalPKCS8PrivateKey(config.Certificates[0].PrivateKey)
	if err != nil {
		return fmt.Errorf("write key: %w", err)
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "tls.crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: config.Certificates[0].Certificate[0]}), 0o600),
		os.WriteFile(filepath.Join(dir, "tls.key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600),
	)
}
