package layouts

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/emulator/emulatortest"
	"commander/agents/dvp/tofuprovider"
)

const uuid = "11111111-2222-3333-4444-555555555555"

// program is where make opentofu puts OpenTofu.
const program = "../../../.cache/tofu"

// mirror is a folder in which OpenTofu finds the provider. It is made once for all tests.
var mirror struct {
	sync.Once
	folder string
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if mirror.folder != "" {
		os.RemoveAll(mirror.folder)
	}
	os.Exit(code)
}

func makeMirror() {
	folder, err := os.MkdirTemp("", "mirror")
	if err != nil {
		mirror.err = err
		return
	}
	mirror.folder = folder
	to := filepath.Join(folder, tofuprovider.Address, "0.1.0", runtime.GOOS+"_"+runtime.GOARCH, "terraform-provider-dvp")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", to, "commander/cmd/terraform-provider-dvp")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		mirror.err = fmt.Errorf("build provider: %w: %s", err, text)
		return
	}
	settings := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", folder)
	mirror.err = os.WriteFile(filepath.Join(folder, "settings"), []byte(settings), 0o600)
}

// tree is a copy of the layouts in which OpenTofu runs. It reaches nothing but DVP.
type tree struct {
	t      *testing.T
	folder string
	tofu   string
}

func newTree(t *testing.T) *tree {
	t.Helper()
	tofu, err := filepath.Abs(program)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(tofu); err != nil {
		t.Fatalf("OpenTofu is not there; make opentofu builds it: %v", err)
	}
	mirror.Do(makeMirror)
	if mirror.err != nil {
		t.Fatal(mirror.err)
	}
	tr := &tree{t: t, folder: t.TempDir(), tofu: tofu}
	if err := os.CopyFS(tr.folder, Files); err != nil {
		t.Fatal(err)
	}
	return tr
}

// root is one root module of a tree.
type root struct {
	*tree
	folder string
}

// root prepares a root module of the layout Standard, as init does it offline.
func (tr *tree) root(name string) *root {
	tr.t.Helper()
	r := &root{tr, filepath.Join(tr.folder, "standard", name)}
	r.must("init")
	return r
}

func (r *root) command(ctx context.Context, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, r.tofu, append([]string{args[0], "-no-color"}, args[1:]...)...)
	command.Dir = r.folder
	command.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + r.tree.folder, "TF_IN_AUTOMATION=1", "TF_INPUT=0", "CHECKPOINT_DISABLE=1",
		"TF_CLI_CONFIG_FILE=" + filepath.Join(mirror.folder, "settings"),
	}
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with its providers
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = 10 * time.Second
	return command
}

// run says what OpenTofu said, and how it ended.
func (r *root) run(args ...string) (text string, code int) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 2*time.Minute)
	defer cancel()
	var out bytes.Buffer
	command := r.command(ctx, args...)
	command.Stdout, command.Stderr = &out, &out
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatalf("tofu %v: %v\n%s", args, err, out.String())
	}
	return out.String(), command.ProcessState.ExitCode()
}

func (r *root) must(args ...string) string {
	r.t.Helper()
	text, code := r.run(args...)
	if code != 0 {
		r.t.Fatalf("tofu %v ended with %d\n%s", args, code, text)
	}
	return text
}

// inputs are written to a file that OpenTofu reads by itself.
func (r *root) inputs(values map[string]any) {
	r.t.Helper()
	text, err := json.Marshal(values)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.folder, "inputs.auto.tfvars.json"), text, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *root) apply() string {
	r.t.Helper()
	return r.must("apply", "-auto-approve")
}

// settled checks that there is nothing left to do.
func (r *root) settled() {
	r.t.Helper()
	if text, code := r.run("plan", "-detailed-exitcode"); code != 0 {
		r.t.Fatalf("a plan after an apply ends with %d, want 0\n%s", code, text)
	}
}

// drifted gives the plan that is to find something to do.
func (r *root) drifted() string {
	r.t.Helper()
	text, code := r.run("plan", "-detailed-exitcode")
	if code != 2 {
		r.t.Fatalf("plan ended with %d, want 2 for changes\n%s", code, text)
	}
	return text
}

func (r *root) outputs() map[string]any {
	r.t.Helper()
	var all map[string]struct{ Value any }
	if err := json.Unmarshal([]byte(r.must("output", "-json")), &all); err != nil {
		r.t.Fatal(err)
	}
	values := map[string]any{}
	for name, o := range all {
		values[name] = o.Value
	}
	return values
}

// object is an unstructured part of a configuration.
type object = map[string]any

// configuration is a DVPClusterConfiguration for a project.
func configuration(t *testing.T, access *rest.Config, namespace string) object {
	t.Helper()
	return configurationBy(emulatortest.Kubeconfig(t, access), namespace)
}

func configurationBy(kubeconfig, namespace string) object {
	return object{
		"apiVersion": "deckhouse.io/v1", "kind": "DVPClusterConfiguration", "layout": "Standard", "sshPublicKey": "ssh-ed25519 AAAA",
		"provider": object{"kubeconfigDataBase64": base64.StdEncoding.EncodeToString([]byte(kubeconfig)), "namespace": namespace},
		"masterNodeGroup": object{"replicas": 1, "instanceClass": object{
			"virtualMachine": machine(), "rootDisk": disk(), "etcdDisk": object{"size": "1Gi", "storageClass": emulatortest.Immediate},
		}},
		"nodeGroups": []any{object{"name": "front", "replicas": 2, "instanceClass": object{"virtualMachine": machine(), "rootDisk": disk()}}},
	}
}

func machine() object {
	return object{"cpu": object{"cores": 1}, "memory": object{"size": "1024Mi"}, "virtualMachineClassName": emulatortest.Class}
}

func disk() object {
	return object{"size": "2Gi", "storageClass": emulatortest.Immediate, "image": object{"kind": "ClusterVirtualImage", "name": emulatortest.Image}}
}

func inputs(configuration object, more object) object {
	all := object{"providerClusterConfiguration": configuration, "clusterConfiguration": object{"cloud": object{"prefix": "demo"}}, "clusterUUID": uuid}
	for key, value := range more {
		all[key] = value
	}
	return all
}

// ofNode are the inputs of a node.
func ofNode(configuration object, index int) object {
	return inputs(configuration, object{"nodeIndex": index, "cloudConfig": base64.StdEncoding.EncodeToString([]byte("#cloud-config"))})
}

// silent swallows what a proxy says about faults that are meant.
var silent = log.New(io.Discard, "", 0)

func keyOf(o client.Object) client.ObjectKey { return client.ObjectKeyFromObject(o) }

// says whether OpenTofu said some words, however it broke its lines.
func says(text, words string) bool {
	return strings.Contains(strings.Join(strings.Fields(text), " "), words)
}
