-- name: InsertBulkSwitch :one
insert into bulk_switches (id, workspace_id, template_version_id, wave_size, parallel, stop_at_failure, actor_type, actor_id, actor_name, form_nonce)
values ($1, $2, $3, $4, $5, $6, $7, sqlc.narg(actor_id), $8, sqlc.narg(form_nonce)) returning *;

-- name: BulkSwitch :one
select * from bulk_switches where id = $1;

-- name: BulkSwitchByNonce :one
select * from bulk_switches where form_nonce = $1 and workspace_id = $2;

-- name: BulkSwitchForUpdate :one
select * from bulk_switches where id = $1 for update;

-- name: BulkSwitchesOfTemplate :many
-- Moves to the versions of a template, the newest first unless turned, with how far each is,
-- and how many a text fits.
select sqlc.embed(b), v.number as version_number, coalesce(o.created_by, '') as owner, count(*) over () as total,
       (select count(*) from bulk_switch_clusters c where c.switch_id = b.id)::bigint as clusters,
       (select count(*) from bulk_switch_clusters c where c.switch_id = b.id and c.status = 'done')::bigint as done,
       (select count(*) from bulk_switch_clusters c where c.switch_id = b.id and c.status = 'failed')::bigint as failed,
       (select count(*) from bulk_switch_clusters c where c.switch_id = b.id and c.status = 'refused')::bigint as refused
from bulk_switches b join cluster_template_versions v on v.id = b.template_version_id
left join auth_tokens o on o.id = b.actor_id
where v.template_id = $1
  and (@search::text = '' or strpos(lower(b.actor_name), lower(@search)) > 0 or strpos(lower(coalesce(o.created_by, '')), lower(@search)) > 0)
order by case when @oldest_first::boolean then b.created_at end, b.created_at desc, b.id
limit @page_size::integer offset @page_offset::integer;

-- name: ChangedBulkSwitches :many
select id from bulk_switches where changed_at > now() - @back::interval;

-- name: SetBulkSwitchStatus :one
update bulk_switches
set status = $2, changed_at = now(), finished_at = case when @ended::boolean then now() end
where id = $1 returning *;

-- name: TouchBulkSwitch :exec
update bulk_switches set changed_at = now() where id = $1;

-- name: InsertBulkSwitchClusters :exec
insert into bulk_switch_clusters (switch_id, cluster_id, position, wave, revision)
select @switch_id::uuid, unnest(@clusters::uuid[]), unnest(@positions::integer[]), unnest(@waves::integer[]), unnest(@revisions::integer[]);

-- name: CountClustersAmong :one
select count(*) from clusters where workspace_id = $1 and id = any(@ids::uuid[]);

-- name: BulkSwitchClusters :many
-- Clusters of a move in the order of its plan unless another is asked for, with the task of each:
-- those of some states, or all when none is named, and of those only what runs or began or ended since
-- a moment, when there is one. Total is how many there are of them.
select sqlc.embed(b), c.name, c.archived_at, coalesce(t.status, '') as task_status, coalesce(t.progress, 0)::float8 as task_progress,
       count(*) over () as total
from bulk_switch_clusters b
join clusters c on c.id = b.cluster_id
left join tasks t on t.id = b.task_id
where b.switch_id = $1 and (cardinality(@states::text[]) = 0 or b.status = any(@states::text[]))
  and (sqlc.narg(since)::timestamptz is null or b.status = 'running' or b.started_at > sqlc.narg(since) or b.finished_at > sqlc.narg(since))
  and (@search::text = '' or strpos(lower(c.name), lower(@search)) > 0)
order by
    case when @sort::text = 'name' then c.name end,
    case when @sort::text = '-name' then c.name end desc,
    case when @sort::text = 'status' then b.status end,
    case when @sort::text = '-status' then b.status end desc,
    case when @sort::text = '-wave' then b.position end desc,
    b.position
limit @page_size::integer offset @start::integer;

-- name: BulkSwitchCounts :many
select status, count(*) from bulk_switch_clusters where switch_id = $1 group by status;

-- name: OpenBulkSwitchClusters :many
-- The clusters of a move that run, and the first that waits.
select sqlc.embed(b), c.name, coalesce(t.status, '') as task_status
from bulk_switch_clusters b
join clusters c on c.id = b.cluster_id
left join tasks t on t.id = b.task_id
where b.switch_id = $1 and (b.status = 'running' or b.position = (
    select min(w.position) from bulk_switch_clusters w where w.switch_id = $1 and w.status = 'waiting'
))
order by b.position;

-- name: StartBulkSwitchCluster :exec
update bulk_switch_clusters set status = $3, task_id = sqlc.narg(task_id), started_at = now(),
    finished_at = case when $3 = 'running' then null else now() end
where switch_id = $1 and cluster_id = $2;

-- name: EndBulkSwitchCluster :execrows
-- Only one that stands as it was seen: it may have been started or skipped since.
update bulk_switch_clusters set status = $3, reason = sqlc.narg(reason), finished_at = now()
where switch_id = $1 and cluster_id = $2 and status = @seen;

-- name: SkipBulkSwitchClusters :exec
update bulk_switch_clusters set status = 'skipped', reason = $2, finished_at = now()
where switch_id = $1 and status = 'waiting';

-- name: SwitchCandidates :many
-- Clusters that were made from a template and have another version of it, and how many there are.
select c.id, c.name, c.revision, c.status, v.number as version_number, count(*) over () as total
from clusters c join cluster_template_versions v on v.id = c.template_version_id
where v.template_id = $1 and c.archived_at is null and v.id <> @target
  and (@from_version::integer = 0 or v.number = @from_version::integer)
  and strpos(c.name, lower(@search::text)) > 0
order by c.name, c.id
limit @page_size::integer;

-- name: UsableVersions :many
-- The versions of a workspace that clusters may get.
select v.id, v.number, v.comment, t.name as template_name, (t.current_version_id is not distinct from v.id)::boolean as current
from cluster_template_versions v join cluster_templates t on t.id = v.template_id
where t.workspace_id = $1 and t.archived_at is null and v.available
order by t.name, t.id, v.number desc;
