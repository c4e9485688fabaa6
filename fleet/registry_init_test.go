package fleet_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/store"
)

func TestTheInstallerIsToldTheRegistry(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	registry, err := b.CreateRegistry(t.Context(), b.Admin, b.Workspace.ID, fleet.RegistryBody{
		Name: "Main", ImagesRepo: "registry.corp.example:5000/platform/ee", Username: "puller", Password: "correct horse",
	})
	if err != nil {
		t.Fatal(err)
	}
	initOf := func(name, mode string) (map[string]any, fleet.Work) {
		_, task, err := b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{
			WorkspaceID: b.Workspace.ID, Name: name, TemplateVersionID: b.Lab.ID, RegistryID: &registry.ID, RegistryMode: mode, Install: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		work, err := b.Claim(t.Context(), fleet.Delivery{TaskID: task.ID, Attempt: task.Attempt}, "test")
		if err != nil {
			t.Fatal(err)
		}
		var document struct {
			Kind      string
			Deckhouse map[string]any
		}
		if err := yaml.Unmarshal([]byte(work.Rendering.Real.InitConfiguration), &document); err != nil {
			t.Fatal(err)
		}
		if mode == fleet.RegistryDirect && document.Kind != "InitConfiguration" {
			t.Errorf("got %q", work.Rendering.Real.InitConfiguration)
		}
		return document.Deckhouse, work
	}
	told, work := initOf("direct", fleet.RegistryDirect)
	if told["imagesRepo"] != "registry.corp.example:5000/platform/ee" || told["registryScheme"] != "HTTPS" {
		t.Errorf("got %v", told)
	}
	access, _ := told["registryDockerCfg"].(string)
	plain, err := base64.StdEncoding.DecodeString(access)
	want := `{"auths":{"registry.corp.example:5000":{"auth":"` + base64.StdEncoding.EncodeToString([]byte("puller:correct horse")) + `"}}}`
	if err != nil || string(plain) != want {
		t.Errorf("got %s, %v", plain, err)
	}
	if !slices.Contains(work.Secrets, "correct horse") || !slices.Contains(work.Secrets, access) {
		t.Error("the access could reach a log")
	}
	view, err := b.Cluster(t.Context(), b.Admin, work.Cluster.ID)
	if err != nil || strings.Contains(view.Wanted.Rendering.Shown.InitConfiguration, access) {
		t.Errorf("people see the access: %v", err)
	}
	if told, _ = initOf("unmanaged", fleet.RegistryUnmanaged); told["imagesRepo"] != nil {
		t.Errorf("in the other mode: got %v", told)
	}
	var kept store.Cluster
	if kept, err = b.Store.Cluster(t.Context(), work.Cluster.ID); err != nil || *kept.RegistryID != registry.ID || kept.RegistryMode != fleet.RegistryDirect {
		t.Errorf("got %v, %v", kept.RegistryMode, err)
	}
}
