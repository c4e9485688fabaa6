-- name: InsertAudit :exec
insert into audits (workspace_id, workspace_slug, actor_type, actor_id, actor_name, remote_address, request_id, action, object_type, object_id, changes)
values (sqlc.narg(workspace_id), $1, $2, sqlc.narg(actor_id), $3, $4, $5, $6, $7, $8, $9);

-- name: AuditsOfObject :many
-- The newest audits of a thing, each with who made the token that acted.
select sqlc.embed(a), coalesce(t.created_by, '') as owner
from audits a left join auth_tokens t on t.id = a.actor_id
where a.object_id = $1 order by a.at desc limit @page_size::integer;

-- name: CreatorOfCluster :one
-- Who created a cluster, as far as the audit reaches back.
select a.actor_name, coalesce(t.created_by, '') as owner
from audits a left join auth_tokens t on t.id = a.actor_id
where a.object_id = $1 and a.action = 'cluster.create' order by a.at limit 1;

-- name: ArchiversOfClusters :many
-- Who archived each of some clusters, or began the deletion that ended there.
select distinct on (a.object_id) a.object_id, a.actor_name, coalesce(t.created_by, '') as owner
from audits a left join auth_tokens t on t.id = a.actor_id
where a.object_id = any(@cluster_ids::uuid[]) and a.action in ('cluster.archive', 'cluster.delete')
order by a.object_id, a.at desc;
