package fleet

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/store"
)

// How a cluster gets its images: from the registry itself, or as somebody else sees to.
const (
	RegistryDirect    = "Direct"
	RegistryUnmanaged = "Unmanaged"
)

// RegistryBody is what people say of a registry. The field names of the API are the keys under
// which problems are told.
type RegistryBody struct {
	Name string
	// ImagesRepo is host[:port]/path, with http:// before it for a registry without TLS.
	ImagesRepo string
	Username   string
	// Password is kept as it is saved when it is schema.Mask.
	Password string
	// CA is PEM; empty for the authorities of the system.
	CA string
}

var (
	repositoryPath = regexp.MustCompile(`^[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$`)
	hostName       = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)
)

// longestName bounds the names that people give.
const longestName = 100

// clean checks a body and brings it into the form that is stored.
func (b RegistryBody) clean() (_ RegistryBody, scheme string, err error) {
	problems := map[string]fault.Message{}
	if b.Name = strings.TrimSpace(b.Name); b.Name == "" || len([]rune(b.Name)) > longestName {
		problems[Name] = fault.Message{Key: "registry.name", Args: []any{longestName}}
	}
	scheme = "https"
	address := strings.TrimSpace(b.ImagesRepo)
	if at, rest, is := strings.Cut(address, "://"); is {
		scheme, address = strings.ToLower(at), rest
	}
	b.ImagesRepo = strings.TrimRight(address, "/")
	host, path, _ := strings.Cut(b.ImagesRepo, "/")
	switch {
	case scheme != "https" && scheme != "http":
		problems["images_repo"] = fault.Message{Key: "registry.scheme", Args: []any{scheme}}
	case !goodHost(host):
		problems["images_repo"] = fault.Message{Key: "registry.host", Args: []any{host}}
	case !repositoryPath.MatchString(path):
		problems["images_repo"] = fault.Message{Key: "registry.path", Args: []any{path}}
	}
	b.Username = strings.TrimSpace(b.Username)
	if b.Username == "" && b.Password != "" && b.Password != schema.Mask {
		problems["username"] = fault.Message{Key: "registry.username"}
	}
	var problem *fault.Message
	if b.CA, problem = cleanCA(b.CA); problem != nil {
		problems["ca"] = *problem
	}
	if len(problems) > 0 {
		return b, scheme, fault.Fields(problems)
	}
	return b, scheme, nil
}

func goodHost(host string) bool {
	if name, port, err := net.SplitHostPort(host); err == nil {
		number, err := strconv.Atoi(port)
		if err != nil || number < 1 || number > 65535 {
			return false
		}
		host = name
	}
	return hostName.MatchString(host) || net.ParseIP(host) != nil
}

// cleanCA reads certificates and writes them down again, so that what lies between them never
// reaches a cluster.
func cleanCA(text string) (string, *fault.Message) {
	var out strings.Builder
	rest := []byte(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")))
	for number := 1; len(rest) > 0; number++ {
		block, next := pem.Decode(rest)
		if block == nil {
			return text, &fault.Message{Key: "registry.ca.pem"}
		}
		if block.Type != "CERTIFICATE" {
			return text, &fault.Message{Key: "registry.ca.type", Args: []any{number, block.Type}}
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return text, &fault.Message{Key: "registry.ca.certificate", Args: []any{number}}
		}
		out.Write(pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes}))
		rest = []byte(strings.TrimSpace(string(next)))
	}
	return out.String(), nil
}

// Registries lists the registries of a workspace with how many clusters use each. Passwords are sealed.
func (f *Fleet) Registries(ctx context.Context, actor Actor, workspaceID uuid.UUID) ([]store.RegistriesRow, error) {
	if err := Allowed(actor, RegistriesView, workspaceID); err != nil {
		return nil, err
	}
	rows, err := f.Store.Registries(ctx, workspaceID)
	return rows, store.AsFault(err)
}

// Registry is one registry that the actor may see.
func (f *Fleet) Registry(ctx context.Context, actor Actor, id uuid.UUID) (store.Registry, error) {
	registry, err := f.Store.Registry(ctx, id)
	if err != nil {
		return registry, store.AsFault(err)
	}
	return registry, Allowed(actor, RegistriesView, registry.WorkspaceID)
}

// CreateRegistry notes a registry. It fails with Invalid and the problem of each field.
func (f *Fleet) CreateRegistry(ctx context.Context, actor Actor, workspaceID uuid.UUID, body RegistryBody) (store.Registry, error) {
	if err := Allowed(actor, RegistriesEdit, workspaceID); err != nil {
		return store.Registry{}, err
	}
	if body.Password == schema.Mask {
		body.Password = ""
	}
	body, scheme, err := body.clean()
	if err != nil {
		return store.Registry{}, err
	}
	row := store.InsertRegistryParams{
		ID: uuid.New(), WorkspaceID: workspaceID, Name: body.Name, ImagesRepo: body.ImagesRepo, Scheme: scheme,
		Username: body.Username, Ca: body.CA, CreatedBy: actor.Signature(),
	}
	row.Password, row.PasswordKey = f.Store.Keys.Seal("registries", "password", row.ID, []byte(body.Password))
	var registry store.Registry
	err = f.Store.InTx(ctx, func(tx *store.Tx) error {
		workspace, err := tx.Workspace(ctx, workspaceID)
		if err != nil {
			return err
		}
		if registry, err = tx.InsertRegistry(ctx, row); err != nil {
			return fmt.Errorf("write registry %s: %w", body.Name, err)
		}
		return f.audit(ctx, tx, actor, change{
			Action: "registry.create", ObjectType: "Registry", ObjectID: registry.ID, Workspace: workspace,
			Changes: map[string]any{"name": registry.Name, "images_repo": registry.ImagesRepo, "username": registry.Username},
		})
	})
	return registry, registryTaken(err, body.Name)
}

func registryTaken(err error, name string) error {
	if store.Unique(err, "registries_name") {
		return fault.Fields(map[string]fault.Message{Name: {Key: "registry.name.taken", Args: []any{name}}})
	}
	return err
}

// ChangeRegistry replaces what is known of a registry. Revision is the one that the change was
// made from; a stale one is a Conflict.
func (f *Fleet) ChangeRegistry(ctx context.Context, actor Actor, id uuid.UUID, revision int, body RegistryBody) (store.Registry, error) {
	body, scheme, invalid := body.clean()
	var after store.Registry
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		before, workspace, err := registryForUpdate(ctx, tx, actor, id)
		if err != nil {
			return err
		}
		if invalid != nil {
			return invalid
		}
		if before.Revision != revision {
			return fault.New(fault.Conflict, "registry.stale_revision", before.Name)
		}
		row := store.SetRegistryParams{
			ID: id, Name: body.Name, ImagesRepo: body.ImagesRepo, Scheme: scheme, Username: body.Username, Ca: body.CA,
			Password: before.Password, PasswordKey: before.PasswordKey,
		}
		changes := map[string]any{}
		for name, pair := range map[string][2]string{
			"name": {before.Name, body.Name}, "images_repo": {before.ImagesRepo, body.ImagesRepo},
			"scheme": {before.Scheme, scheme}, "username": {before.Username, body.Username}, "ca": {before.Ca, body.CA},
		} {
			if pair[0] != pair[1] {
				changes[name] = []any{pair[0], pair[1]}
			}
		}
		if body.Password != schema.Mask {
			row.Password, row.PasswordKey = tx.Keys.Seal("registries", "password", id, []byte(body.Password))
			changes["password"] = []any{schema.Mask, schema.Mask}
		}
		if after, err = tx.SetRegistry(ctx, row); err != nil {
			return fmt.Errorf("change registry %s: %w", id, err)
		}
		return f.audit(ctx, tx, actor, change{
			Action: "registry.change", ObjectType: "Registry", ObjectID: id, Workspace: workspace, Changes: changes,
		})
	})
	return after, registryTaken(err, body.Name)
}

// DeleteRegistry forgets a registry. It fails with Conflict and the names of clusters that use it.
func (f *Fleet) DeleteRegistry(ctx context.Context, actor Actor, id uuid.UUID) (store.Registry, error) {
	var registry store.Registry
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		var workspace store.Workspace
		var err error
		if registry, workspace, err = registryForUpdate(ctx, tx, actor, id); err != nil {
			return err
		}
		users, err := tx.RegistryUsers(ctx, store.RegistryUsersParams{RegistryID: &id, Most: mostNamed})
		if err != nil {
			return err
		}
		if len(users) > 0 {
			names := make([]string, len(users))
			for i, u := range users {
				names[i] = u.Name
			}
			return fault.New(fault.Conflict, "registry.used", registry.Name, strings.Join(names, ", "))
		}
		if err := tx.DeleteRegistry(ctx, id); err != nil {
			return fmt.Errorf("delete registry %s: %w", id, err)
		}
		return f.audit(ctx, tx, actor, change{
			Action: "registry.delete", ObjectType: "Registry", ObjectID: id, Workspace: workspace,
			Changes: map[string]any{"name": registry.Name},
		})
	})
	return registry, err
}

// mostNamed is how many users of a thing a message names.
const mostNamed = 5

func registryForUpdate(ctx context.Context, tx *store.Tx, actor Actor, id uuid.UUID) (store.Registry, store.Workspace, error) {
	registry, err := tx.RegistryForUpdate(ctx, id)
	if err != nil {
		return registry, store.Workspace{}, err
	}
	if err := Allowed(actor, RegistriesEdit, registry.WorkspaceID); err != nil {
		return registry, store.Workspace{}, err
	}
	workspace, err := tx.Workspace(ctx, registry.WorkspaceID)
	return registry, workspace, err
}
