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
       count(c.id) filter (where c.archived_at is null)::bigint as clusters,
       count(c.id) filter (where c.archived_at is null and c.status in (
           'configuration_error', 'creation_failed', 'synchronization_failure', 'destructive_changes',
           'pending_changes', 'deletion_failed'))::bigint as attention
from workspaces w
left join clusters c on c.workspace_id = w.id
where @everywhere::boolean or w.id = any(@ids::uuid[])
group by w.id
order by w.name;

-- name: Workspaces :many
select * from workspaces order by created_at;
