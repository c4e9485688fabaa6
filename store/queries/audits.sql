-- name: InsertAudit :exec
insert into audits (workspace_id, workspace_slug, actor_type, actor_id, actor_name, remote_address, request_id, action, object_type, object_id, changes)
values (sqlc.narg(workspace_id), $1, $2, sqlc.narg(actor_id), $3, $4, $5, $6, $7, $8, $9);

-- name: AuditsOfObject :many
select * from audits where object_id = $1 order by at desc limit @page_size::integer;

-- name: CreatorOfCluster :one
-- Who created a cluster, as far as the audit reaches back.
select actor_name from audits where object_id = $1 and action = 'cluster.create' order by at limit 1;

-- name: ArchiversOfClusters :many
-- Who archived each of some clusters, or began the deletion that ended there.
select distinct on (object_id) object_id, actor_name from audits
where object_id = any(@cluster_ids::uuid[]) and action in ('cluster.archive', 'cluster.delete')
order by object_id, at desc;
