-- name: InsertBulkSwitch :one
insert into bulk_switches (id, workspace_id, template_version_id, wave_size, parallel, stop_at_failure, actor_type, actor_id, actor_name, form_nonce)
values ($1, $2, $3, $4, $5, $6, $7, sqlc.narg(actor_id), $8, sqlc.narg(form_nonce)) returning *;

-- name: BulkSwitch :one
select * from bulk_switches where id = $1;

-- name: BulkSwitchByNonce :one
select * from bulk_switches where form_nonce = $1;

-- name: BulkSwitchForUpdate :one
select * from bulk_switches where id = $1 for update;

-- name: BulkSwitchesOfTemplate :many
-- Moves to the versions of a template, the newest first, with how far each is.
select sqlc.embed(b), v.number as version_number,
       (select count(*) from bulk_switch_clusters c where c.switch_id = b.id)::bigint as clusters,
       (select count(*) from bulk_switch_clusters c where c.switch_id = b.id and c.status = 'done')::bigint as done,
       (select count(*) from bulk_switch_clusters c where c.switch_id = b.id and c.status in ('failed', 'refused'))::bigint as failed
from bulk_switches b join cluster_template_versions v on v.id = b.template_version_id
where v.template_id = $1
order by b.created_at desc, b.id
limit @page_size::integer;

-- name: SetBulkSwitchStatus :one
update bulk_switches
set status = $2, changed_at = now(), finished_at = case when @ended::boolean then now() end
where id = $1 returning *;

-- name: InsertBulkSwitchCluster :exec
insert into bulk_switch_clusters (switch_id, cluster_id, position, wave, revision) values ($1, $2, $3, $4, $5);

-- name: BulkSwitchClusters :many
-- The clusters of a move in the order of its plan, with the task of each.
select sqlc.embed(b), c.name, c.archived_at, coalesce(t.status, '') as task_status, coalesce(t.error, '') as task_error
from bulk_switch_clusters b
join clusters c on c.id = b.cluster_id
left join tasks t on t.id = b.task_id
where b.switch_id = $1
order by b.position;

-- name: StartBulkSwitchCluster :exec
update bulk_switch_clusters set status = $3, task_id = sqlc.narg(task_id), started_at = now(),
    finished_at = case when $3 = 'running' then null else now() end
where switch_id = $1 and cluster_id = $2;

-- name: EndBulkSwitchCluster :exec
update bulk_switch_clusters set status = $3, reason = sqlc.narg(reason), finished_at = now()
where switch_id = $1 and cluster_id = $2;

-- name: SkipBulkSwitchClusters :exec
update bulk_switch_clusters set status = 'skipped', reason = $2, finished_at = now()
where switch_id = $1 and status = 'waiting';
