package fleet

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"commander/store"
)

func TestAccessGroupBindsEachRole(t *testing.T) {
	t.Parallel()
	type binding struct {
		Kind     string
		Metadata struct{ Name string }
		RoleRef  struct{ Kind, Name string } `yaml:"roleRef"`
		Subjects []struct{ Kind, Name string }
	}
	group := accessGroup()
	if group.Name != AccessGroup || !group.Controlled {
		t.Errorf("group: got %q controlled %t, want %q controlled", group.Name, group.Controlled, AccessGroup)
	}
	got := map[string]string{}
	for document := range strings.SplitSeq(group.Manifests, "---\n") {
		if document == "" {
			continue
		}
		var b binding
		if err := yaml.Unmarshal([]byte(document), &b); err != nil {
			t.Fatal(err)
		}
		if b.Kind != "ClusterRoleBinding" || b.RoleRef.Kind != "ClusterRole" || len(b.Subjects) != 1 || b.Subjects[0].Kind != "Group" {
			t.Fatalf("binding: got %+v", b)
		}
		got[b.Metadata.Name+" "+b.Subjects[0].Name] = b.RoleRef.Name
	}
	for key, want := range map[string]string{
		"d8:commander:full " + KubeGroup(store.RoleFull):          "cluster-admin",
		"d8:commander:read-only " + KubeGroup(store.RoleReadOnly): "view",
	} {
		if got[key] != want {
			t.Errorf("%s: got role %q, want %q", key, got[key], want)
		}
	}
	if len(got) != 2 {
		t.Errorf("bindings: got %v, want two", got)
	}
}
