package render

import (
	"bytes"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commander/agents/node/api/v1alpha1"
	"commander/agents/node/bashible/input"
)

func files(more map[string]string) fstest.MapFS {
	all := fstest.MapFS{}
	for name, text := range map[string]string{
		"bashible/library/10.sh":                          "x() { :; }",
		"bashible/bashible.sh.tpl":                        "#!/bin/bash\n{{ .configurationChecksum }}",
		"bashible/bootstrap/01-prerequisites.sh.tpl":      "#!/bin/bash\n{{ .bootstrapToken }}",
		"bashible/bootstrap/02-bootstrap-bashible.sh.tpl": "#!/bin/bash",
		"bashible/common-steps/all/010_one.sh.tpl":        "one {{ .kubernetesVersion }}",
		"bashible/common-steps/all/readme.md":             "no step",
		"bashible/common-steps/all/010_raw.sh":            "no template",
	} {
		all[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for name, text := range more {
		all[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return all
}

func sample() Input {
	return Input{Cluster: input.Cluster{
		KubernetesVersion: "1.37", CloudProvider: map[string]any{"type": "dvp"},
		NodeGroups: []input.Group{
			{"name": "a", "cloudInstances": map[string]any{"minPerZone": 1, "maxPerZone": 2, "zones": []any{"x"}, "classReference": "small"}},
			{"name": "b"},
		},
	}}
}

func all(t *testing.T, in Input, from fstest.MapFS) (Everything, string) {
	t.Helper()
	var log bytes.Buffer
	made, err := All(in, from, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return made, log.String()
}

func script(name, content string, weight int32, groups ...string) v1alpha1.NodeGroupConfiguration {
	return v1alpha1.NodeGroupConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1alpha1.NodeGroupConfigurationSpec{Content: content, Weight: weight, NodeGroups: groups, Bundles: []string{"*"}},
	}
}

func TestStepsOfAGroup(t *testing.T) {
	t.Parallel()
	from := files(map[string]string{
		"bashible/common-steps/all/000_aaa_first.sh.tpl":                          "first",
		"bashible/common-steps/node-group/050_kubelet.sh.tpl":                     "common",
		"cloud-providers/dvp/bashible/common-steps/node-group/050_kubelet.sh.tpl": "of the provider",
		"cloud-providers/other/bashible/common-steps/all/001_no.sh.tpl":           "no",
	})
	made, _ := all(t, sample(), from)
	steps := made.Groups["a"].Steps
	if got, want := strings.Join(steps.Names(), " "), "000_aaa_first.sh 010_one.sh 050_kubelet.sh"; got != want {
		t.Errorf("got steps %s, want %s", got, want)
	}
	if got := steps["050_kubelet.sh"]; got != "of the provider" {
		t.Errorf("got %q, want the provider's step in place of the common one", got)
	}
	if got := steps["010_one.sh"]; got != "one 1.37" {
		t.Errorf("got %q, want it rendered", got)
	}
}

func TestScriptsOfUsers(t *testing.T) {
	t.Parallel()
	in := sample()
	in.Scripts = []v1alpha1.NodeGroupConfiguration{
		script("mine", "echo {{ .nodeGroup.name }}", 5, "a"),
		script("every", "echo all", 100, "*"),
		script("one.sh", "echo clash", 10, "a"),
		script("broken", `{{ fail "it is broken" }}`, 20, "*"),
		script("unreadable", `{{ nothing`, 21, "*"),
	}
	only := script("debian", "echo debian", 30, "b")
	only.Spec.Bundles = []string{"debian", "it's"}
	in.Scripts = append(in.Scripts, only)
	made, log := all(t, in, files(nil))
	if got, want := strings.Join(made.Groups["a"].Steps.Names(), " "), "005_mine 010_one.sh 100_every"; got != want {
		t.Errorf("group a has %s, want %s", got, want)
	}
	if got, want := strings.Join(made.Groups["b"].Steps.Names(), " "), "010_one.sh 030_debian 100_every"; got != want {
		t.Errorf("group b has %s, want %s", got, want)
	}
	if got := made.Groups["a"].Steps["010_one.sh"]; got != "one 1.37" {
		t.Errorf("the step of the system is %q, want it kept", got)
	}
	if got, want := made.Groups["b"].Steps["030_debian"], "bb-is-bundle? 'debian' 'it'\\''s' || exit 0\necho debian"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, want := range []string{"level=ERROR", "configuration=one.sh", "configuration=broken", "it is broken", "configuration=unreadable"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q: %s", want, log)
		}
	}
}

func TestChecksum(t *testing.T) {
	t.Parallel()
	base, _ := all(t, sample(), files(nil))
	again, _ := all(t, sample(), files(nil))
	if !maps.Equal(base.Checksums(), again.Checksums()) {
		t.Errorf("the same input gave %v and %v", base.Checksums(), again.Checksums())
	}
	for name, c := range map[string]struct {
		change  func(*Input)
		changes []string
	}{
		"scaling": {func(in *Input) {
			in.Cluster.NodeGroups[0]["cloudInstances"] = map[string]any{"minPerZone": 5, "maxPerZone": 9, "zones": []any{"y"}, "maxSurgePerZone": 1, "maxUnavailablePerZone": 1, "classReference": "small"}
		}, nil},
		"a token":    {func(in *Input) { in.Cluster.BootstrapTokens = map[string]string{"a": "x"} }, nil},
		"an address": {func(in *Input) { in.Cluster.APIServerEndpoints = []string{"10.0.0.2:6443"} }, []string{"a", "b"}},
		"class of machine": {func(in *Input) {
			in.Cluster.NodeGroups[0]["cloudInstances"] = map[string]any{"minPerZone": 1, "maxPerZone": 2, "classReference": "large"}
		}, []string{"a"}},
		"version":    {func(in *Input) { in.Cluster.KubernetesVersion = "1.38" }, []string{"a", "b"}},
		"a script":   {func(in *Input) { in.Scripts = []v1alpha1.NodeGroupConfiguration{script("s", "x", 1, "b")} }, []string{"b"}},
		"an image":   {func(in *Input) { in.Images = map[string]any{"x": "sha256:1"} }, []string{"a", "b"}},
		"a registry": {func(in *Input) { in.Registry = map[string]any{"address": "r"} }, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := sample()
			c.change(&in)
			made, _ := all(t, in, files(nil))
			var changed []string
			for _, group := range []string{"a", "b"} {
				if made.Groups[group].Checksum != base.Groups[group].Checksum {
					changed = append(changed, group)
				}
			}
			if !slices.Equal(changed, c.changes) {
				t.Errorf("changed %v, want %v", changed, c.changes)
			}
		})
	}
	if script := base.Groups["a"].Script; !strings.HasSuffix(script, base.Groups["a"].Checksum) {
		t.Errorf("bashible.sh is %q, want the checksum in it", script)
	}
}

func TestTemplateFunctions(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`{{ dict "a" (list 1 2) | toJson }}`:                     `{"a":[1,2]}`,
		`{{ dict "a" 1 | toYaml }}`:                              "a: 1",
		`{{ dict "a" "b" | toToml }}`:                            "a = \"b\"\n",
		`{{ (fromYaml "a: 1").a }}`:                              "1",
		`{{ (fromJson "{").Error }}`:                             "unexpected end of JSON input",
		`{{ index (fromYamlArray "[x]") 0 }}`:                    "x",
		`{{ index (fromJsonArray "[7]") 0 }}`:                    "7",
		`{{ define "n" }}<{{ .x }}>{{ end }}{{ include "n" . }}`: "<1>",
		`{{ tpl "{{ .x }}!" . }}`:                                "1!",
		`{{ lookup "v1" "Secret" "a" "b" | len }}`:               "0",
		`{{ .missing }}`:                                         "",
		`{{ "a" | upper }}`:                                      "A",
	} {
		got, err := execute("t", source, map[string]any{"x": 1})
		if err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", source, got, err, want)
		}
	}
	for source, want := range map[string]string{
		`{{ env "HOME" }}`:            `function "env" not defined`,
		`{{ expandenv "$HOME" }}`:     `function "expandenv" not defined`,
		`{{ required "no x" .none }}`: "no x",
	} {
		if _, err := execute("t", source, map[string]any{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", source, err, want)
		}
	}
}
