package paths

// Routes of what clusters are made from.
const (
	RouteRegistries       = "/workspaces/{slug}/registries"
	RouteRegistryNew      = "/workspaces/{slug}/registries/new"
	RouteRegistry         = "/workspaces/{slug}/registries/{id}"
	RouteRegistryReleases = "/workspaces/{slug}/registries/{id}/releases"
	RouteRegistryDeletion = "/workspaces/{slug}/registries/{id}/deletion"

	RouteCatalogs           = "/workspaces/{slug}/inventory"
	RouteCatalogNew         = "/workspaces/{slug}/inventory/new"
	RouteCatalogImport      = "/workspaces/{slug}/inventory/import"
	RouteSchemaBuilder      = "/workspaces/{slug}/schema-builder"
	RouteCatalog            = "/workspaces/{slug}/inventory/{id}"
	RouteCatalogSettings    = "/workspaces/{slug}/inventory/{id}/settings"
	RouteCatalogArchive     = "/workspaces/{slug}/inventory/{id}/archive"
	RouteCatalogRestoration = "/workspaces/{slug}/inventory/{id}/restoration"
	RouteRecordNew          = "/workspaces/{slug}/inventory/{id}/new"

	RouteRecord            = "/workspaces/{slug}/records/{id}"
	RouteRecordDeletion    = "/workspaces/{slug}/records/{id}/deletion"
	RouteRecordArchive     = "/workspaces/{slug}/records/{id}/archive"
	RouteRecordRestoration = "/workspaces/{slug}/records/{id}/restoration"
)

// Registries lists a workspace's registries; a POST to it creates one.
func Registries(slug string) string { return fill(RouteRegistries, slug) }

// NewRegistry is the form of a new registry.
func NewRegistry(slug string) string { return fill(RouteRegistryNew, slug) }

// Registry is the form of a registry; a POST to it saves it.
func Registry(slug, id string) string { return fill(RouteRegistry, slug, id) }

// RegistryReleases contacts a registry and shows what it has.
func RegistryReleases(slug, id string) string { return fill(RouteRegistryReleases, slug, id) }

// RegistryDeletion forgets a registry that no cluster uses (POST).
func RegistryDeletion(slug, id string) string { return fill(RouteRegistryDeletion, slug, id) }

// Catalogs lists a workspace's catalogs; a POST to it creates one.
func Catalogs(slug string) string { return fill(RouteCatalogs, slug) }

// CatalogList is the list as a query asks for it.
func CatalogList(slug string, q Query) string { return fill(RouteCatalogs, slug) + q.encode() }

// NewCatalog is the form of a new catalog.
func NewCatalog(slug string) string { return fill(RouteCatalogNew, slug) }

// SchemaBuilder takes the text of a schema and an act on its blocks, and gives the blocks.
func SchemaBuilder(slug string) string { return fill(RouteSchemaBuilder, slug) }

// CatalogImport takes a catalog with its records from JSON.
func CatalogImport(slug string) string { return fill(RouteCatalogImport, slug) }

// Catalog lists a catalog's records; a POST to it creates one.
func Catalog(slug, id string) string { return fill(RouteCatalog, slug, id) }

// CatalogSettings is the form of a catalog's name and schema; a POST to it saves them.
func CatalogSettings(slug, id string) string { return fill(RouteCatalogSettings, slug, id) }

// CatalogArchive moves a catalog to the archive (POST).
func CatalogArchive(slug, id string) string { return fill(RouteCatalogArchive, slug, id) }

// CatalogRestoration takes a catalog out of the archive (POST).
func CatalogRestoration(slug, id string) string { return fill(RouteCatalogRestoration, slug, id) }

// NewRecord is the form of a new record of a catalog.
func NewRecord(slug, catalog string) string { return fill(RouteRecordNew, slug, catalog) }

// Record is the form of a record; a POST to it saves it.
func Record(slug, id string) string { return fill(RouteRecord, slug, id) }

// RecordDeletion deletes a record that no cluster uses (POST).
func RecordDeletion(slug, id string) string { return fill(RouteRecordDeletion, slug, id) }

// RecordArchive moves a record that no cluster uses to the archive (POST).
func RecordArchive(slug, id string) string { return fill(RouteRecordArchive, slug, id) }

// RecordRestoration takes a record out of the archive (POST).
func RecordRestoration(slug, id string) string { return fill(RouteRecordRestoration, slug, id) }
