package web

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"commander/fleet"
	"commander/views/paths"
)

const (
	get  = http.MethodGet
	post = http.MethodPost
)

// handler is what answers a route; its errors end at the edge.
type handler = func(http.ResponseWriter, *http.Request) error

// route is one address of the browser's part with what it takes to be let in.
type route struct {
	method, pattern string
	permission      fleet.Permission
	handle          handler
}

// routes are all addresses of the browser's part.
func (s *server) routes() []route {
	c := s.Console
	return []route{
		{get, paths.RouteSignIn, fleet.Public, c.SignIn},
		{get, paths.RouteAuthLogin, fleet.Public, s.Sessions.Login},
		{get, paths.RouteAuthCallback, fleet.Public, s.Sessions.Callback},
		{post, paths.RouteAuthLogout, fleet.SignedIn, s.Sessions.Logout},

		// The hub asks who it is before each drawing, and tells who is nobody by the socket's close
		// code: a browser cannot see that an upgrade was refused, and would try for ever.
		{get, paths.RouteLive, fleet.Public, s.live},

		{get, paths.RouteStart, fleet.WorkspacesView, c.Start},
		{get, paths.RouteSearch, fleet.WorkspacesView, c.Search},
		{get, paths.RouteSettings, fleet.SignedIn, c.Settings},
		{post, paths.RouteSettings, fleet.SignedIn, c.SaveSettings},

		{get, paths.RouteClusters, fleet.ClustersView, c.Clusters},
		{post, paths.RouteClusters, fleet.ClustersEdit, c.CreateCluster},
		{get, paths.RouteLabels, fleet.ClustersView, c.Labels},
		{post, paths.RouteClusterMarks, fleet.ClustersEdit, c.MarkClusters},
		{get, paths.RouteClusterViews, fleet.ClustersView, c.ClusterViews},
		{post, paths.RouteClusterViews, fleet.ClustersEdit, c.SaveClusterView},
		{post, paths.RouteClusterView, fleet.ClustersEdit, c.RenameClusterView},
		{post, paths.RouteClusterViewDeletion, fleet.ClustersEdit, c.DeleteClusterView},
		{get, paths.RouteClusterNew, fleet.ClustersEdit, c.NewCluster},
		{post, paths.RouteNewPreview, fleet.ClustersEdit, c.PreviewNew},
		{get, paths.RouteArchive, fleet.ClustersView, c.Archive},
		{get, paths.RouteTasks, fleet.TasksView, c.Tasks},
		{get, paths.RouteTokens, fleet.TokensView, c.Tokens},
		{post, paths.RouteTokens, fleet.TokensEdit, c.CreateToken},
		{post, paths.RouteTokenDeletion, fleet.TokensEdit, c.RevokeToken},

		{post, paths.RouteWorkspaces, fleet.WorkspacesEdit, c.CreateWorkspace},
		{get, paths.RouteWorkspaceNew, fleet.WorkspacesEdit, c.NewWorkspace},
		{get, paths.RouteWorkspaceSettings, fleet.WorkspacesView, c.WorkspaceSettings},
		{post, paths.RouteWorkspaceSettings, fleet.WorkspacesEdit, c.RenameWorkspace},
		{get, paths.RouteWorkspaceDeletion, fleet.WorkspacesEdit, c.WorkspaceDeletion},
		{post, paths.RouteWorkspaceDeletion, fleet.WorkspacesEdit, c.DeleteWorkspace},

		{post, paths.RouteSchemaBuilder, fleet.TemplatesEdit, c.BuildSchema},
		{get, paths.RouteCatalogs, fleet.InventoryView, c.Catalogs},
		{post, paths.RouteCatalogs, fleet.InventoryEdit, c.CreateCatalog},
		{get, paths.RouteCatalogNew, fleet.InventoryEdit, c.NewCatalog},
		{get, paths.RouteCatalogImport, fleet.InventoryEdit, c.CatalogImport},
		{post, paths.RouteCatalogImport, fleet.InventoryEdit, c.ImportCatalog},
		{get, paths.RouteCatalog, fleet.InventoryView, c.Catalog},
		{post, paths.RouteCatalog, fleet.InventoryEdit, c.CreateRecord},
		{get, paths.RouteCatalogSettings, fleet.InventoryView, c.CatalogSettings},
		{post, paths.RouteCatalogSettings, fleet.InventoryEdit, c.SaveCatalog},
		{post, paths.RouteCatalogArchive, fleet.InventoryEdit, c.ArchiveCatalog},
		{post, paths.RouteCatalogRestoration, fleet.InventoryEdit, c.RestoreCatalog},
		{get, paths.RouteRecordNew, fleet.InventoryEdit, c.NewRecord},
		{get, paths.RouteRecord, fleet.InventoryView, c.Record},
		{post, paths.RouteRecord, fleet.InventoryEdit, c.SaveRecord},
		{post, paths.RouteRecordDeletion, fleet.InventoryEdit, c.DeleteRecord},
		{post, paths.RouteRecordArchive, fleet.InventoryEdit, c.ArchiveRecord},
		{post, paths.RouteRecordRestoration, fleet.InventoryEdit, c.RestoreRecord},

		{get, paths.RouteTemplates, fleet.TemplatesView, c.Templates},
		{post, paths.RouteTemplates, fleet.TemplatesEdit, c.CreateTemplate},
		{get, paths.RouteTemplateNew, fleet.TemplatesEdit, c.NewTemplate},
		{post, paths.RouteTemplatePreview, fleet.TemplatesEdit, c.PreviewTemplate},
		{get, paths.RouteTemplateEdit, fleet.TemplatesEdit, c.EditTemplate},
		{post, paths.RouteTemplateEdit, fleet.TemplatesEdit, c.SaveTemplate},
		{get, paths.RouteTemplateImport, fleet.TemplatesEdit, c.TemplateImport},
		{post, paths.RouteTemplateImport, fleet.TemplatesEdit, c.ImportTemplate},
		{get, paths.RouteTemplate, fleet.TemplatesView, c.Template},
		{get, paths.RouteTemplateClusters, fleet.TemplatesView, c.TemplateClusters},
		{get, paths.RouteTemplateComparison, fleet.TemplatesView, c.TemplateComparison},
		{get, paths.RouteTemplateExport, fleet.TemplatesView, c.ExportTemplate},
		{post, paths.RouteTemplateArchive, fleet.TemplatesEdit, c.ArchiveTemplate},
		{post, paths.RouteTemplateRestoration, fleet.TemplatesEdit, c.RestoreTemplate},
		{get, paths.RouteTemplateVersion, fleet.TemplatesView, c.TemplateVersion},
		{post, paths.RouteTemplateVersion, fleet.TemplatesEdit, c.ChangeTemplateVersion},
		{post, paths.RouteTemplateVersionUse, fleet.TemplatesEdit, c.UseTemplateVersion},

		{get, paths.RouteRegistries, fleet.RegistriesView, c.Registries},
		{post, paths.RouteRegistries, fleet.RegistriesEdit, c.CreateRegistry},
		{get, paths.RouteRegistryNew, fleet.RegistriesEdit, c.NewRegistry},
		{get, paths.RouteRegistry, fleet.RegistriesView, c.Registry},
		{post, paths.RouteRegistry, fleet.RegistriesEdit, c.SaveRegistry},
		{get, paths.RouteRegistryReleases, fleet.RegistriesView, c.RegistryReleases},
		{post, paths.RouteRegistryDeletion, fleet.RegistriesEdit, c.DeleteRegistry},

		{get, paths.RouteCluster, fleet.ClustersView, c.Cluster},
		{get, paths.RouteClusterConfiguration, fleet.ClustersView, c.Configuration},
		{post, paths.RouteClusterConfiguration, fleet.ClustersEdit, c.SaveConfiguration},
		{post, paths.RouteClusterPreview, fleet.ClustersEdit, c.PreviewConfiguration},
		{get, paths.RouteClusterNodes, fleet.ClustersView, c.ClusterNodes},
		{get, paths.RouteClusterKubernetes, fleet.ClustersView, c.ClusterKubernetes},
		{get, paths.RouteClusterTasks, fleet.TasksView, c.ClusterTasks},
		{post, paths.RouteClusterLabels, fleet.ClustersEdit, c.SaveLabels},
		{post, paths.RouteClusterGroups, fleet.ClustersEdit, c.ControlGroup},
		{get, paths.RouteClusterDeletion, fleet.ClustersEdit, c.Deletion},
		{post, paths.RouteClusterDeletion, fleet.ClustersEdit, c.DeleteCluster},
		{get, paths.RouteClusterKubeconfig, fleet.ClustersConnect, c.Kubeconfig},
		{post, paths.RouteClusterKubeconfig, fleet.ClustersConnect, c.DownloadKubeconfig},
		{post, paths.RouteClusterInstallation, fleet.ClustersEdit, c.Install},
		{post, paths.RouteClusterConvergence, fleet.ClustersEdit, c.Converge},
		{post, paths.RouteClusterArchive, fleet.ClustersEdit, c.ArchiveCluster},
		{get, paths.RouteClusterSettings, fleet.ClustersView, c.ClusterSettings},
		{post, paths.RouteClusterSettings, fleet.ClustersEdit, c.SaveClusterSettings},
		{post, paths.RouteClusterProtection, fleet.ClustersEdit, c.ProtectCluster},
		{get, paths.RouteClusterHistory, fleet.ClustersView, c.ClusterHistory},
		{get, paths.RouteClusterComparison, fleet.ClustersView, c.ClusterComparison},
		{get, paths.RouteClusterAttach, fleet.ClustersEdit, c.AttachForm},
		{post, paths.RouteClusterAttach, fleet.ClustersEdit, c.AttachCluster},
		{post, paths.RouteClusterJoining, fleet.ClustersEdit, c.JoinCluster},
		{get, paths.RouteClusterDetachment, fleet.ClustersEdit, c.Detachment},
		{post, paths.RouteClusterDetachment, fleet.ClustersEdit, c.DetachCluster},
		{get, paths.RouteAutomation, fleet.WorkspacesView, c.Automation},
		{post, paths.RouteWindows, fleet.ClustersEdit, c.AddWindow},
		{post, paths.RouteWindowDeletion, fleet.ClustersEdit, c.RemoveWindow},
		{post, paths.RouteChannels, fleet.WorkspacesEdit, c.AddChannel},
		{post, paths.RouteChannelTest, fleet.WorkspacesEdit, c.TestChannel},
		{post, paths.RouteChannelDeletion, fleet.WorkspacesEdit, c.RemoveChannel},
		{get, paths.RouteClusterMove, fleet.ClustersEdit, c.MovePage},
		{post, paths.RouteClusterMove, fleet.ClustersEdit, c.MoveCluster},
		{get, paths.RouteClusterRollback, fleet.ClustersEdit, c.RollbackPage},
		{post, paths.RouteClusterRollback, fleet.ClustersEdit, c.Rollback},

		{get, paths.RouteClusterUpgrade, fleet.ClustersEdit, c.Upgrade},
		{post, paths.RouteClusterUpgrade, fleet.ClustersEdit, c.SaveUpgrade},
		{get, paths.RouteTemplateSwitch, fleet.ClustersView, c.Switch},
		{post, paths.RouteTemplateSwitchPreview, fleet.ClustersEdit, c.PreviewSwitch},
		{post, paths.RouteTemplateSwitch, fleet.ClustersEdit, c.BeginSwitch},
		{get, paths.RouteTemplateMoves, fleet.ClustersView, c.TemplateMoves},
		{get, paths.RouteMove, fleet.ClustersView, c.Move},
		{post, paths.RouteMoveCancel, fleet.ClustersEdit, c.CancelMove},

		{get, paths.RouteTask, fleet.TasksView, c.Task},
		{get, paths.RouteTaskLog, fleet.TasksView, c.TaskLog},
		{get, paths.RouteTaskTrouble, fleet.TasksView, c.TaskTrouble},
		{get, paths.RouteTaskSearch, fleet.TasksView, c.SearchTaskLog},
		{post, paths.RouteTaskRetry, fleet.TasksEdit, c.Retry},
		{post, paths.RouteTaskStop, fleet.TasksEdit, c.Stop},
		{get, paths.RouteTaskReview, fleet.TasksView, c.Review},
		{post, paths.RouteTaskApproval, fleet.TasksEdit, c.Approve},
		{post, paths.RouteTaskGiveUp, fleet.TasksEdit, c.GiveUp},
	}
}

// pageBody bounds a form, in bytes: it holds the parameters of a cluster at most.
const pageBody = 1 << 20

// largeBodies are the addresses that take more: texts of a template, each byte of which may need
// three in a form, and files of templates.
var largeBodies = map[string]int64{
	paths.RouteTemplates:       16 << 20,
	paths.RouteTemplateEdit:    16 << 20,
	paths.RouteTemplatePreview: 16 << 20,
	paths.RouteTemplateImport:  40 << 20,
}

// browser is the router of the pages: each route behind its permission, each error at the edge.
func (s *server) browser() *chi.Mux {
	mux := chi.NewRouter()
	for _, r := range s.routes() {
		limit := int64(pageBody)
		if large, is := largeBodies[r.pattern]; is {
			limit = large
		}
		mux.Method(r.method, r.pattern, limited(limit, s.edge.Page(s.gate.permitted(r.permission, r.handle))))
	}
	mux.NotFound(s.edge.Page(notFound).ServeHTTP)
	mux.MethodNotAllowed(s.edge.Page(notFound).ServeHTTP)
	return mux
}
