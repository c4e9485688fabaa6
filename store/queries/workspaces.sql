-- name: InsertWorkspace :one
insert into workspaces (slug, name) values ($1, $2) returning *;

-- name: EnsureWorkspace :one
-- The workspace of a slug, made when it is missing; an existing one keeps its name.
insert into workspaces (slug, name) values ($1, $2)
on conflict (slug) do update set slug = excluded.slug
returning *;

-- name: Workspace :one
select * from workspaces where id = $1;

-- name: WorkspaceBySlug :one
select * from workspaces where slug = $1;

-- name: WorkspaceSummaries :many
-- Workspaces with what matters at a glance: all of them, or those among the given ids.
select w.id, w.slug, w.name, w.created_at,
       (select count(*) from clusters c where c.workspace_id = w.id and c.archived_at is null)::bigint as clusters,
       (select count(*) from clusters c where c.workspace_id = w.id and c.archived_at is null and c.status = any(@attention::text[]))::bigint as attention,
       (select count(*) from tasks t where t.workspace_id = w.id and t.status in ('queued', 'running'))::bigint as running,
       (select count(*) from tasks t where t.workspace_id = w.id and t.status in ('waiting_approval', 'lost_in_critical'))::bigint as waiting,
       (select count(*) from cluster_templates t where t.workspace_id = w.id and t.archived_at is null)::bigint as templates,
       (select count(*) from records r join catalogs c on c.id = r.catalog_id
        where c.workspace_id = w.id and c.archived_at is null and r.archived_at is null)::bigint as records
from workspaces w
where @everywhere::boolean or w.id = any(@ids::uuid[])
order by w.name, w.id;

-- name: WorkspaceNames :many
-- Workspaces as a menu has them: all of them, or those among the given ids.
select w.id, w.slug, w.name from workspaces w
where @everywhere::boolean or w.id = any(@ids::uuid[])
order by w.name, w.id;

-- name: Workspaces :many
select * from workspaces order by created_at;

-- name: WorkspaceForUpdate :one
select * from workspaces where id = $1 for update;

-- name: RenameWorkspace :one
update workspaces set name = $2, changed_at = now() where id = $1 returning *;

-- name: DeleteTasksOfWorkspace :exec
delete from tasks where workspace_id = $1;

-- name: DeleteClustersOfWorkspace :exec
delete from clusters where workspace_id = $1;

-- name: DeleteWorkspace :exec
delete from workspaces where id = $1;

-- name: ActiveClustersOf :many
-- Clusters of a workspace outside of the archive, as many as a message can name.
select id, name from clusters where workspace_id = $1 and archived_at is null order by name limit @most::integer;

-- name: InventoryCounts :one
select (select count(*) from cluster_templates t where t.workspace_id = $1 and t.archived_at is null)::bigint as templates,
       (select count(*) from catalogs c where c.workspace_id = $1 and c.archived_at is null)::bigint as catalogs,
       (select count(*) from records r join catalogs c on c.id = r.catalog_id
        where c.workspace_id = $1 and c.archived_at is null and r.archived_at is null)::bigint as records,
       (select count(*) from registries g where g.workspace_id = $1)::bigint as registries;
