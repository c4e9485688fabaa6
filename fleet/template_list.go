package fleet

import (
	"context"

	"github.com/google/uuid"

	"commander/store"
)

// TemplateFilter chooses and orders lines of the list of templates.
type TemplateFilter struct {
	Archived bool
	Search   string // in names and comments
	// Sort is a column of name, version, clusters or changed, with a minus for descending order;
	// anything else sorts by name.
	Sort         string
	Limit, Start int
}

// TemplateList is a page of the list.
type TemplateList struct {
	Lines []store.TemplateLinesRow
	Total int64 // that the filter lets through
	// Active and Archived count all templates of the workspace.
	Active, Archived int64
}

// TemplateList lists the templates of a workspace a page at a time.
func (f *Fleet) TemplateList(ctx context.Context, actor Actor, workspaceID uuid.UUID, filter TemplateFilter) (TemplateList, error) {
	if err := Allowed(actor, TemplatesView, workspaceID); err != nil {
		return TemplateList{}, err
	}
	counts, err := f.Store.TemplateCounts(ctx, store.TemplateCountsParams{WorkspaceID: workspaceID, Search: filter.Search})
	if err != nil {
		return TemplateList{}, store.AsFault(err)
	}
	out := TemplateList{Total: counts.ActiveFound, Active: counts.Active, Archived: counts.Archived}
	if filter.Archived {
		out.Total = counts.ArchivedFound
	}
	out.Lines, err = f.Store.TemplateLines(ctx, store.TemplateLinesParams{
		WorkspaceID: workspaceID, Archived: filter.Archived, Search: filter.Search, Sort: filter.Sort, PageSize: filter.Limit, PageOffset: filter.Start,
	})
	return out, store.AsFault(err)
}

// TemplateClustersFilter chooses and orders clusters made from a template.
type TemplateClustersFilter struct {
	Search string // in names
	// Sort is a column of name, version or status, with a minus for descending order; anything else
	// sorts by name.
	Sort         string
	Limit, Start int
}

// TemplateClusters is a page of the clusters made from a template, those in deletion included, and how
// many the filter lets through.
func (f *Fleet) TemplateClusters(ctx context.Context, actor Actor, template store.ClusterTemplate, filter TemplateClustersFilter) ([]store.TemplateClusterLinesRow, int, error) {
	if err := Allowed(actor, ClustersView, template.WorkspaceID); err != nil {
		return nil, 0, err
	}
	rows, err := f.Store.TemplateClusterLines(ctx, store.TemplateClusterLinesParams{
		TemplateID: template.ID, Search: filter.Search, Sort: filter.Sort, PageSize: filter.Limit, PageOffset: filter.Start,
	})
	if len(rows) == 0 {
		return nil, 0, store.AsFault(err)
	}
	return rows, int(rows[0].Total), store.AsFault(err)
}

// TemplateHead is a template without its versions, with how many versions and clusters it has.
type TemplateHead struct {
	store.ClusterTemplate
	Workspace store.Workspace
	// Current is the number of the current version, 0 without one.
	Current            int
	Versions, Clusters int
}

// TemplateHead reads a template for its pages.
func (f *Fleet) TemplateHead(ctx context.Context, actor Actor, id uuid.UUID) (TemplateHead, error) {
	var head TemplateHead
	var err error
	if head.ClusterTemplate, err = f.Store.Template(ctx, id); err != nil {
		return head, store.AsFault(err)
	}
	if err := Allowed(actor, TemplatesView, head.WorkspaceID); err != nil {
		return head, err
	}
	if head.Workspace, err = f.Store.Workspace(ctx, head.WorkspaceID); err != nil {
		return head, store.AsFault(err)
	}
	counts, err := f.Store.CountTemplateVersions(ctx, id)
	if err != nil {
		return head, store.AsFault(err)
	}
	head.Versions, head.Clusters = int(counts.Versions), int(counts.Clusters)
	if head.CurrentVersionID == nil {
		return head, nil
	}
	current, err := f.Store.TemplateVersion(ctx, *head.CurrentVersionID)
	head.Current = current.Number
	return head, store.AsFault(err)
}

// VersionFilter chooses and orders versions of a template.
type VersionFilter struct {
	Search    string // in comments and in who saved them
	Available *bool  // nil means all
	// Sort is version for the oldest first, or clusters, with a minus for descending order; anything
	// else begins with the newest.
	Sort         string
	Limit, Start int
}

// TemplateVersions is a page of what is said of a template's versions, and how many the filter lets
// through.
func (f *Fleet) TemplateVersions(ctx context.Context, actor Actor, template store.ClusterTemplate, filter VersionFilter) ([]store.TemplateVersionHeadsRow, int, error) {
	if err := Allowed(actor, TemplatesView, template.WorkspaceID); err != nil {
		return nil, 0, err
	}
	rows, err := f.Store.TemplateVersionHeads(ctx, store.TemplateVersionHeadsParams{
		TemplateID: template.ID, Search: filter.Search, Available: filter.Available, Sort: filter.Sort, PageSize: filter.Limit, PageOffset: filter.Start,
	})
	if len(rows) == 0 {
		return nil, 0, store.AsFault(err)
	}
	return rows, int(rows[0].Total), store.AsFault(err)
}

// TemplateNumbers are the numbers of a template's versions, the newest first.
func (f *Fleet) TemplateNumbers(ctx context.Context, actor Actor, template store.ClusterTemplate) ([]int, error) {
	if err := Allowed(actor, TemplatesView, template.WorkspaceID); err != nil {
		return nil, err
	}
	numbers, err := f.Store.TemplateVersionNumbers(ctx, template.ID)
	return numbers, store.AsFault(err)
}

// VersionClusters is how many clusters outside of the archive have a version of a template.
func (f *Fleet) VersionClusters(ctx context.Context, actor Actor, template store.ClusterTemplate, version uuid.UUID) (int, error) {
	if err := Allowed(actor, ClustersView, template.WorkspaceID); err != nil {
		return 0, err
	}
	count, err := f.Store.VersionClusters(ctx, &version)
	return int(count), store.AsFault(err)
}
