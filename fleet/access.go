package fleet

import (
	"slices"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// ActorType tells what kind of actor acts.
type ActorType string

// The types, in the words of the audit.
const (
	ActorUser   ActorType = "User"
	ActorToken  ActorType = "AuthToken"
	ActorSystem ActorType = "System"
)

// Actor is on whose behalf something is done.
type Actor struct {
	Type ActorType
	ID   uuid.UUID
	Name string
	// Owner is who made the token that acts, empty for people.
	Owner string
	// Everywhere is the role that holds in every workspace, empty for none.
	Everywhere store.Role
	// Roles are further roles by workspace.
	Roles map[uuid.UUID]store.Role
	// RemoteAddress and RequestID tell the audit where the request came from.
	RemoteAddress, RequestID string
}

// System acts for the product itself.
var System = Actor{Type: ActorSystem, Name: "Commander", Everywhere: store.RoleFull}

// Signature is how things name who made them: a token together with who made the token.
func (a Actor) Signature() string { return signed(a.Name, a.Owner) }

func signed(name, owner string) string {
	if owner == "" {
		return name
	}
	return name + " (" + owner + ")"
}

// Role is what the actor may do in a workspace; the stronger of its two roles.
func (a Actor) Role(workspace uuid.UUID) store.Role {
	if here := a.Roles[workspace]; here == store.RoleFull || a.Everywhere == "" {
		return here
	}
	return a.Everywhere
}

// HasRole reports whether the actor may see anything at all.
func (a Actor) HasRole() bool { return a.Everywhere != "" || len(a.Roles) > 0 }

// Workspaces are those in which the actor has a role of its own.
func (a Actor) Workspaces() []uuid.UUID {
	ids := make([]uuid.UUID, 0, len(a.Roles))
	for id := range a.Roles {
		ids = append(ids, id)
	}
	return ids
}

// Permission names what a route or operation needs.
type Permission string

// The permissions.
const (
	Public          Permission = "public"    // no sign-in
	SignedIn        Permission = "signed-in" // any person, even without a role
	WorkspacesView  Permission = "workspaces.view"
	WorkspacesEdit  Permission = "workspaces.edit"
	ClustersView    Permission = "clusters.view"
	ClustersEdit    Permission = "clusters.edit"
	ClustersConnect Permission = "clusters.connect" // a kubeconfig, with the rights of the role
	TasksView       Permission = "tasks.view"
	TasksEdit       Permission = "tasks.edit"
	TemplatesView   Permission = "templates.view"
	TemplatesEdit   Permission = "templates.edit"
	InventoryView   Permission = "inventory.view"
	InventoryEdit   Permission = "inventory.edit"
	RegistriesView  Permission = "registries.view"
	RegistriesEdit  Permission = "registries.edit"
	TokensView      Permission = "tokens.view"
	TokensEdit      Permission = "tokens.edit"
)

// readOnly is what looking includes. The full role has every permission.
var readOnly = []Permission{WorkspacesView, ClustersView, ClustersConnect, TasksView, TemplatesView, InventoryView, RegistriesView, TokensView}

// May reports whether a role includes a permission.
func May(role store.Role, p Permission) bool {
	switch role {
	case store.RoleFull:
		return true
	case store.RoleReadOnly:
		return slices.Contains(readOnly, p)
	}
	return p == Public || p == SignedIn
}

// Allowed decides whether the actor has a permission in a workspace. Who may not even look gets
// NotFound, as for an id that does not exist; who may look but not do this gets Forbidden.
func Allowed(actor Actor, p Permission, workspace uuid.UUID) error {
	role := actor.Role(workspace)
	switch {
	case May(role, p):
		return nil
	case role == "":
		return fault.New(fault.NotFound, "fault.not_found")
	}
	return fault.New(fault.Forbidden, "fault.forbidden")
}
