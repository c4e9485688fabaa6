-- name: InsertCluster :one
insert into clusters (id, workspace_id, name, template_version_id, template_switched_at, cluster_type, status,
    ssh_public_key, ssh_private_key, ssh_private_key_key, form_nonce)
values ($1, $2, $3, $4, now(), $5, $6, $7, $8, $9, sqlc.narg(form_nonce))
returning *;

-- name: Cluster :one
select * from clusters where id = $1;

-- name: ClusterForUpdate :one
select * from clusters where id = $1 for update;

-- name: ClusterOfTaskForUpdate :one
select * from clusters where id = (select cluster_id from tasks where tasks.id = $1) for update;

-- name: ClusterByNonce :one
select * from clusters where form_nonce = $1;

-- name: ClusterLinesOf :many
-- The lines of some clusters, in no order; which and how is said by store.ClusterQuery.
select * from cluster_lines where id = any(@ids::uuid[]);

-- name: ClusterLine :one
select * from cluster_lines where id = $1;

-- name: CountNewerClusters :one
select count(*) from clusters
where workspace_id = $1 and archived_at is null and created_at > @since::timestamptz;

-- name: WorkspaceCounts :many
-- How many clusters are in each status, how many are archived, and how many tasks are not at their
-- end, by status.
select 'cluster' as thing, status, count(*) as number from clusters
where clusters.workspace_id = @workspace_id and archived_at is null group by status
union all
select 'archived', '', count(*) from clusters
where clusters.workspace_id = @workspace_id and archived_at is not null
union all
select 'task', status, count(*) from tasks
where tasks.workspace_id = @workspace_id and status in ('queued', 'running') group by status;

-- name: SetClusterStatus :exec
update clusters set status = $2, changed_at = now() where id = $1;

-- name: TouchCluster :exec
update clusters set changed_at = now() where id = $1;

-- name: SetClusterConfiguration :one
-- The next wanted configuration; the caller holds the row's lock and has compared revisions.
update clusters
set name = $2, template_version_id = sqlc.narg(template_version_id), revision = revision + 1, status = $3,
    template_switched_at = case when template_version_id is distinct from sqlc.narg(template_version_id) then now() else template_switched_at end,
    changed_at = now()
where id = $1
returning *;

-- name: SetClusterApplied :exec
update clusters
set applied_revision = $2, applied_at = now(), checked_at = now(), was_created = true, changed_at = now()
where id = $1;

-- name: SetClusterChecked :exec
update clusters set checked_at = now(), changed_at = now() where id = $1;

-- name: SetDestructiveChange :exec
update clusters set destructive_change_id = $2, changed_at = now() where id = $1;

-- name: ArchiveCluster :exec
update clusters
set status = $2, left_behind = $3, left_items = $4, archived_at = now(), changed_at = now(), form_nonce = null,
    archive_number = (select coalesce(max(o.archive_number), 0) + 1 from clusters o
                      where o.workspace_id = clusters.workspace_id and o.name = clusters.name)
where clusters.id = $1;

-- name: InsertClusterRevision :one
insert into cluster_revisions (id, cluster_id, revision, template_version_id, parameters, secret_parameters, secret_parameters_key,
    rendered, rendered_key, render_errors, created_by, given)
values ($1, $2, $3, sqlc.narg(template_version_id), $4, $5, $6, $7, $8, $9, $10, @given::text[])
returning *;

-- name: ClusterRevision :one
select * from cluster_revisions where cluster_id = $1 and revision = $2;

-- name: ClusterState :one
select * from cluster_states where cluster_id = $1;

-- name: SetClusterState :exec
insert into cluster_states (cluster_id, state, state_key, task_id, attempt, phase)
values ($1, $2, $3, $4, $5, $6)
on conflict (cluster_id) do update
set state = excluded.state, state_key = excluded.state_key, task_id = excluded.task_id,
    attempt = excluded.attempt, phase = excluded.phase, written_at = now();

-- name: DeleteClusterState :exec
delete from cluster_states where cluster_id = $1;

-- name: ConnectedClusterIDs :many
-- Clusters that need a connector: created or being created, and not archived.
select c.id from clusters c
where c.archived_at is null
  and (c.was_created or c.status in ('creating', 'creation_failed', 'joining'))
order by c.id;

-- name: ChangedClusters :many
-- What changed lately, for live pages that missed a notice.
select id, workspace_id from clusters where changed_at > now() - @back::interval;

-- name: ClustersDueForCheck :many
-- Installed clusters whose last check is older than their interval and on which nothing is done,
-- the longest overdue first. What waits for a maintenance window is looked at again as well. They are
-- locked; whoever somebody else holds is left to the next look.
select c.id from clusters c
where c.archived_at is null and c.was_created and (c.status in ('in_sync', 'unknown', 'synchronization_failure') or c.status = 'pending_changes' and c.sync_mode = 'auto')
  and (c.checked_at is null or c.checked_at < now() - make_interval(mins => c.check_interval_minutes))
  and not exists (select 1 from tasks t where t.cluster_id = c.id and t.status in ('queued', 'running', 'waiting_approval', 'lost', 'lost_in_critical'))
order by c.checked_at + make_interval(mins => c.check_interval_minutes) nulls first
limit @batch::integer for update of c skip locked;

-- name: SetClusterSync :one
update clusters set sync_mode = $2, check_interval_minutes = $3, changed_at = now() where id = $1 returning *;

-- name: ClusterRevisions :many
-- A page of the history of a cluster's wanted configuration, the newest first unless turned, without
-- what is sealed: each with the parameters before it, and how many a text fits in all.
select r.revision, r.template_version_id, r.parameters, r.render_errors, r.created_by, r.created_at,
       coalesce(p.name, '') as template_name, coalesce(v.number, 0) as template_number,
       coalesce((select b.parameters from cluster_revisions b where b.cluster_id = r.cluster_id and b.revision < r.revision
                 order by b.revision desc limit 1), '{}')::jsonb as parameters_before,
       count(*) over () as total
from cluster_revisions r
left join cluster_template_versions v on v.id = r.template_version_id
left join cluster_templates p on p.id = v.template_id
where r.cluster_id = $1
  and (@search::text = '' or strpos(lower(r.created_by), lower(@search)) > 0 or strpos(lower(coalesce(p.name, '')), lower(@search)) > 0)
order by case when @oldest_first::boolean then r.revision end, r.revision desc
limit @page_size::integer offset @page_offset::integer;
