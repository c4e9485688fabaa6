-- name: SetClusterCheck :exec
-- What a check found, in place of what the one before it did.
insert into cluster_checks (cluster_id, status, details, actual, actual_key)
values ($1, $2, $3, $4, $5)
on conflict (cluster_id) do update
set status = excluded.status, details = excluded.details, actual = excluded.actual, actual_key = excluded.actual_key, found_at = now();

-- name: ClusterCheck :one
select * from cluster_checks where cluster_id = $1;

-- name: DeleteClusterCheck :exec
delete from cluster_checks where cluster_id = $1;

-- name: SetClusterConnection :exec
insert into cluster_connections (cluster_id, kubeconfig, kubeconfig_key, server, version)
values ($1, $2, $3, $4, $5)
on conflict (cluster_id) do update
set kubeconfig = excluded.kubeconfig, kubeconfig_key = excluded.kubeconfig_key, server = excluded.server,
    version = excluded.version, tested_at = now();

-- name: ClusterConnection :one
select * from cluster_connections where cluster_id = $1;

-- name: DeleteClusterConnection :exec
delete from cluster_connections where cluster_id = $1;

-- name: SetClusterAttached :exec
update clusters set attached = true, changed_at = now() where id = $1;

-- name: MoveCluster :exec
-- Takes a cluster to another workspace, without its template and its registry.
update clusters set workspace_id = $2, name = $3, template_version_id = null, registry_id = null, changed_at = now() where id = $1;

-- name: MoveTasksOfCluster :exec
update tasks set workspace_id = $2, changed_at = now() where cluster_id = $1;

-- name: MaintenanceWindows :many
-- Those of a workspace and of its clusters.
select * from maintenance_windows where workspace_id = $1 order by cluster_id nulls first, starts, id;

-- name: MaintenanceWindowsFor :many
-- Those that hold for a cluster: its own, or those of its workspace when it has none.
select w.* from maintenance_windows w
join clusters c on c.id = @cluster_id and c.workspace_id = w.workspace_id
where w.cluster_id = c.id
   or (w.cluster_id is null and not exists (select 1 from maintenance_windows o where o.cluster_id = c.id))
order by w.starts, w.id;

-- name: InsertMaintenanceWindow :one
insert into maintenance_windows (workspace_id, cluster_id, time_zone, days, starts, minutes, created_by)
values (@workspace_id, sqlc.narg(cluster_id), @time_zone, @days, @starts, @minutes, @created_by)
returning *;

-- name: DeleteMaintenanceWindow :one
delete from maintenance_windows where id = $1 and workspace_id = $2 returning *;

-- name: DeleteMaintenanceWindowsOfCluster :exec
delete from maintenance_windows where cluster_id = $1;

-- name: NotificationChannels :many
-- The channels of a workspace, each with what was told last: at the epoch means never.
select sqlc.embed(c), coalesce(n.created_at, 'epoch'::timestamptz)::timestamptz as last_at, coalesce(n.event, '') as last_event, coalesce(n.error, '') as last_error,
       n.delivered_at as last_delivered_at, coalesce(n.failed_at is not null, false)::boolean as last_failed
from notification_channels c
left join lateral (
    select * from notifications o where o.channel_id = c.id order by o.created_at desc limit 1
) n on true
where c.workspace_id = $1
order by c.name, c.id;

-- name: NotificationChannel :one
select * from notification_channels where id = $1;

-- name: ChannelsForEvent :many
select * from notification_channels where workspace_id = $1 and @event::text = any(events) order by id;

-- name: InsertNotificationChannel :one
insert into notification_channels (id, workspace_id, name, kind, address, secret, secret_key, events, created_by)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning *;

-- name: DeleteNotificationChannel :one
delete from notification_channels where id = $1 and workspace_id = $2 returning *;

-- name: InsertNotification :one
insert into notifications (channel_id, event, body) values ($1, $2, $3) returning *;

-- name: Notification :one
select sqlc.embed(n), sqlc.embed(c) from notifications n join notification_channels c on c.id = n.channel_id where n.id = $1;

-- name: SetNotificationDelivered :exec
update notifications set attempts = attempts + 1, error = '', delivered_at = now() where id = $1;

-- name: SetNotificationFailed :exec
-- An attempt came to nothing; the last one gives up.
update notifications
set attempts = attempts + 1, error = $2, failed_at = case when @give_up::boolean then now() end
where id = $1;

-- name: DeleteOldNotifications :execrows
delete from notifications where id in (
    select o.id from notifications o where o.created_at < now() - @older_than::interval limit @batch::integer);

-- name: SilentClusters :many
-- Clusters whose agent has been silent for longer than the limit and of which nobody was told yet.
select c.id from clusters c join agent_reports r on r.cluster_id = c.id
where c.archived_at is null and c.was_created and not c.silence_told
  and c.status not in ('delete', 'detaching') and r.reported_at < now() - @silent_limit::interval
order by r.reported_at limit @batch::integer;

-- name: SetSilenceTold :execrows
update clusters set silence_told = $2 where id = $1 and silence_told <> $2;

-- name: ForgetSilence :exec
-- Agents that speak again may be told of again.
update clusters c set silence_told = false from agent_reports r
where r.cluster_id = c.id and c.silence_told and r.reported_at > now() - @silent_limit::interval;

-- name: MoveRecord :one
-- Puts a record into another catalog; its unique values are claimed there by the caller.
update records set catalog_id = $2, revision = revision + 1, changed_at = now() where id = $1 returning *;

-- name: MoveMaintenanceWindows :exec
update maintenance_windows set workspace_id = $2 where cluster_id = $1;

-- name: CheckLoad :one
-- How many checks a minute the installed clusters ask for together, and how many of them wait for a
-- manager.
select coalesce(sum(1.0 / c.check_interval_minutes), 0)::double precision as per_minute,
       (select count(*) from tasks t where t.kind = 'check' and t.status = 'queued')::integer as waiting
from clusters c
where c.archived_at is null and c.was_created;

-- name: LateChecks :one
-- The clusters of a workspace, or one of them, whose check is overdue by more than the grace, because
-- it was not started or still waits, and since when the longest is due: at the epoch for none.
select count(*)::integer as late, coalesce(min(d.due), 'epoch'::timestamptz)::timestamptz as due_since
from (
    select c.id, c.checked_at + make_interval(mins => c.check_interval_minutes) as due from clusters c
    where c.workspace_id = @workspace_id and (sqlc.narg(cluster_id)::uuid is null or c.id = sqlc.narg(cluster_id))
      and c.archived_at is null and c.was_created
      and (c.status in ('in_sync', 'unknown', 'synchronization_failure') or c.status = 'pending_changes' and c.sync_mode = 'auto')
) d
where d.due < now() - @grace::interval
  and not exists (select 1 from tasks t where t.cluster_id = d.id and t.kind <> 'check' and t.status in ('queued', 'running', 'waiting_approval', 'lost', 'lost_in_critical'));
