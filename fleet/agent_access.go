package fleet

import (
	"fmt"
	"strings"

	"commander/store"
)

// AccessGroup is the name of the resource group that every agent gets first: what lets people
// into the cluster with the rights of their role.
const AccessGroup = "commander-access"

// KubeGroup is the Kubernetes group of those who have a role, as Commander's proxy names it.
func KubeGroup(role store.Role) string { return "commander:" + string(role) }

// kubeRoles are the cluster roles that the roles mean. Kubernetes' view has no Secrets, no exec
// and no port-forward.
var kubeRoles = []struct {
	role        store.Role
	clusterRole string
}{
	{store.RoleFull, "cluster-admin"},
	{store.RoleReadOnly, "view"},
}

// accessGroup binds the groups of KubeGroup. It is controlled, so that the agent puts the
// bindings back when somebody takes them away.
func accessGroup() store.RenderedGroup {
	var manifests strings.Builder
	for _, r := range kubeRoles {
		fmt.Fprintf(&manifests, `---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: d8:commander:%[1]s
  labels:
    heritage: deckhouse-commander
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: %[2]s
subjects:
  - apiGroup: rbac.authorization.k8s.io
    kind: Group
    name: %[3]s
`, r.role, r.clusterRole, KubeGroup(r.role))
	}
	return store.RenderedGroup{Name: AccessGroup, Controlled: true, Manifests: manifests.String()}
}
