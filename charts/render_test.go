// Package charts holds Helm charts; its tests render them, compare the results with golden files,
// and show them to a real API server.
package charts

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the golden files anew")

// rendered is a chart with values.
type rendered []*unstructured.Unstructured

// render makes the objects of a release as helm would.
func render(t *testing.T, chart, namespace string, values map[string]any) (rendered, error) {
	t.Helper()
	loaded, err := loader.Load(chart)
	if err != nil {
		t.Fatal(err)
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = chartutil.KubeVersion{Version: "v1.37.2", Major: "1", Minor: "37"}
	all, err := chartutil.ToRenderValues(loaded, values, chartutil.ReleaseOptions{Name: chart, Namespace: namespace, IsInstall: true}, capabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Engine{Strict: true}.Render(loaded, all)
	if err != nil {
		return nil, err
	}
	var objects rendered
	for name, content := range files {
		if path.Base(name)[0] == '_' {
			continue
		}
		for _, text := range strings.Split("\n"+content, "\n---\n") {
			var object map[string]any
			if err := yaml.UnmarshalStrict([]byte(text), &object); err != nil {
				return nil, fmt.Errorf("%s: %w in\n%s", name, err, text)
			}
			if len(object) > 0 {
				objects = append(objects, &unstructured.Unstructured{Object: object})
			}
		}
	}
	slices.SortFunc(objects, func(a, b *unstructured.Unstructured) int { return strings.Compare(nameOf(a), nameOf(b)) })
	return objects, nil
}

// nameOf is Kind/namespace/name.
func nameOf(o *unstructured.Unstructured) string {
	return path.Join(o.GetKind(), o.GetNamespace(), o.GetName())
}

func (r rendered) names() []string {
	var all []string
	for _, o := range r {
		all = append(all, nameOf(o))
	}
	return all
}

// text is YAML for people to compare. Definitions of kinds are left out: they are made from Go types.
func (r rendered) text(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, o := range r {
		if o.GetKind() == "CustomResourceDefinition" {
			fmt.Fprintf(&b, "# %s\n", nameOf(o))
			continue
		}
		text, err := yaml.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "---\n%s", text)
	}
	return b.Bytes()
}

// certificate stands for one where only its place matters.
var certificate = map[string]any{"ca": "CA\n", "crt": "CRT\n", "key": "KEY\n"}

// needed are the values without which the chart says what is missing.
func needed(more map[string]any) map[string]any {
	values := map[string]any{
		"registry": "registry.local/commander", "tag": "1.0.0",
		"certificates": map[string]any{"bashibleApiserver": certificate, "nodeController": certificate, "registryPackagesProxy": certificate},
	}
	for key, value := range more {
		values[key] = value
	}
	return values
}

const (
	nodeManager = "node-manager"
	namespace   = "d8-cloud-instance-manager"
)

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, values := range map[string]map[string]any{
		"plain": nil,
		"full": {
			"highAvailability": true, "pullSecrets": []any{"pull"}, "imagesDigests": map[string]any{"common": map[string]any{"pause": "sha256:0"}},
			"registryPackagesProxy": map[string]any{"upstream": "registry.local/packages"},
		},
		"bare": {"earlyOomEnabled": false, "fencingEnabled": false, "registryPackagesProxyEnabled": false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, err := render(t, nodeManager, namespace, needed(values))
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", nodeManager, name+".yaml")
			got := objects.text(t)
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs from what is rendered; look at it with `go test ./charts -run TestGolden -update && git diff charts`", file)
			}
		})
	}
}

// The charts have the definitions as they are made from the Go types.
func TestDefinitionsAreThoseOfTheTypes(t *testing.T) {
	t.Parallel()
	for folder, chart := range map[string]string{"node/api": nodeManager, "dvp/api/infrastructure": dvp, "dvp/api/configuration": dvp} {
		made, err := filepath.Glob("../agents/" + folder + "/crds/*.yaml")
		if err != nil || len(made) == 0 {
			t.Fatalf("definitions: %v, %v", made, err)
		}
		for _, file := range made {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join(chart, "definitions", filepath.Base(file)))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s is another in the chart (%v); `make generate` copies it", filepath.Base(file), err)
			}
		}
	}
}

// Names that other programs and people rely on.
func TestNames(t *testing.T) {
	t.Parallel()
	objects, err := render(t, nodeManager, namespace, needed(nil))
	if err != nil {
		t.Fatal(err)
	}
	names := objects.names()
	for _, want := range []string{
		"APIService/v1alpha1.bashible.deckhouse.io", "Service/" + namespace + "/bashible-api", "Deployment/" + namespace + "/bashible-apiserver",
		"DaemonSet/" + namespace + "/early-oom", "Deployment/" + namespace + "/node-controller", "Deployment/" + namespace + "/fencing-controller",
		"DaemonSet/" + namespace + "/registry-packages-proxy", "ClusterRole/d8:node-manager:bashible:bashible-apiserver",
		"CustomResourceDefinition/nodegroups.deckhouse.io", "CustomResourceDefinition/nodegroupconfigurations.deckhouse.io",
		"CustomResourceDefinition/nodeusers.deckhouse.io", "CustomResourceDefinition/instances.deckhouse.io",
		"PodDisruptionBudget/" + namespace + "/bashible-apiserver", "PodDisruptionBudget/" + namespace + "/node-controller",
		"PodDisruptionBudget/" + namespace + "/fencing-controller",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is missing", want)
		}
	}
}

// A switch takes all that belongs to a part away, its rights included.
func TestSwitches(t *testing.T) {
	t.Parallel()
	for name, parts := range map[string][]string{
		"earlyOomEnabled":              {"early-oom"},
		"fencingEnabled":               {"fencing-controller", "fencing-agent"},
		"registryPackagesProxyEnabled": {"registry-packages-proxy", "registry-packages-reader"},
	} {
		on, err := render(t, nodeManager, namespace, needed(nil))
		if err != nil {
			t.Fatal(err)
		}
		off, err := render(t, nodeManager, namespace, needed(map[string]any{name: false}))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			with, without := string(on.text(t)), string(off.text(t))
			if !strings.Contains(with, part) || strings.Contains(without, part) {
				t.Errorf("%s: %s is there: %t with it, %t without", name, part, strings.Contains(with, part), strings.Contains(without, part))
			}
		}
	}
}

// What is missing is said by its name.
func TestWhatIsMissingIsSaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		namespace string
		values    map[string]any
		want      string
	}{
		{namespace, needed(map[string]any{"registry": ""}), "registry is missing"},
		{namespace, needed(map[string]any{"tag": ""}), "tag is missing"},
		{namespace, needed(map[string]any{"certificates": map[string]any{"bashibleApiserver": certificate, "registryPackagesProxy": certificate, "nodeController": map[string]any{"ca": "", "crt": "", "key": ""}}}), "certificates.nodeController.c"},
		{"elsewhere", needed(nil), "install it into the namespace d8-cloud-instance-manager"},
	} {
		if _, err := render(t, nodeManager, c.namespace, c.values); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error that says %q", err, c.want)
		}
	}
}
