-- name: InsertTask :one
insert into tasks (workspace_id, cluster_id, kind, priority, revision, change_id, created_by)
values ($1, $2, $3, $4, $5, $6, $7) returning *;

-- name: InsertChecks :many
-- Checks of clusters that are locked, each with its id and its delivery. Where something is done by now
-- there is none: nothing ran when the cluster was found, but it was locked a moment later.
insert into tasks (id, workspace_id, cluster_id, kind, priority, revision, created_by, delivery)
select wanted.id, c.workspace_id, c.id, 'check', @priority::integer, c.revision, @created_by::text, wanted.delivery
from (select unnest(@ids::uuid[]) as id, unnest(@cluster_ids::uuid[]) as cluster_id, unnest(@deliveries::bigint[]) as delivery) wanted
join clusters c on c.id = wanted.cluster_id
where not exists (select 1 from tasks t where t.cluster_id = c.id and t.status in ('queued', 'running', 'waiting_approval', 'lost', 'lost_in_critical'))
returning *;

-- name: SetTaskDelivery :exec
update tasks set delivery = $2 where id = $1;

-- name: Task :one
select sqlc.embed(tasks), clusters.name as cluster_name
from tasks join clusters on clusters.id = tasks.cluster_id where tasks.id = $1;

-- name: TaskForUpdate :one
select * from tasks where id = $1 for update;

-- name: ActiveTasks :many
-- Tasks of a cluster that are not over, in the order in which they run.
select * from tasks
where cluster_id = $1 and status in ('queued', 'running', 'waiting_approval', 'lost', 'lost_in_critical')
order by (status = 'running') desc, priority, created_at;

-- name: ChangeRequests :many
-- Tasks of a workspace that asked for an approval, the newest first.
select * from tasks
where workspace_id = @workspace_id and change_id <> '' and (sqlc.narg(cluster_id)::uuid is null or cluster_id = sqlc.narg(cluster_id)::uuid)
order by created_at desc, id limit @page_size::integer;

-- name: NextQueuedTask :one
select * from tasks where cluster_id = $1 and status = 'queued' order by priority, created_at limit 1 for update;

-- name: ClaimTask :one
-- Makes a queued task this worker's. No row: it was cancelled, superseded or taken.
update tasks
set status = 'running', worker = @worker, revision = @revision, started_at = coalesce(started_at, now()), heartbeat_at = now(),
    finished_at = null, error = '', changed_at = now()
where id = @id and attempt = @attempt and status = 'queued'
returning *;

-- name: BeatTask :one
-- The worker's sign of life. No row: the attempt is over for this worker.
update tasks set heartbeat_at = now()
where id = $1 and attempt = $2 and status = 'running'
returning stop_requested;

-- name: SetTaskProgress :execrows
-- Progress of the attempt; it never goes back and is whole only at success.
update tasks
set phase = @phase, sub_phase = @sub_phase, progress = greatest(progress, least(@progress::double precision, 0.99)),
    phases = @phases, heartbeat_at = now(), changed_at = now()
where id = @id and attempt = @attempt and status = 'running';

-- name: SetTaskPhaseEnd :execrows
update tasks
set phase = @next_phase, sub_phase = '', phase_critical = @critical, phases = @phases, heartbeat_at = now(), changed_at = now()
where id = @id and attempt = @attempt and status = 'running';

-- name: FinishTask :one
update tasks
set status = @status, error = @error, progress = case when @status::text = 'succeeded' then 1 else progress end,
    phases = @phases, change_id = case when @change_id::text = '' then change_id else @change_id::text end,
    result = @result, finished_at = now(), changed_at = now()
where id = @id and attempt = @attempt and status = 'running'
returning *;

-- name: RequeueTask :one
-- The next attempt of a task: whoever holds an earlier one can write nothing any more.
update tasks
set status = 'queued', attempt = attempt + 1, worker = '', delivery = null, heartbeat_at = null, finished_at = null,
    stop_requested = false, error = '', phases = @phases, change_id = @change_id, changed_at = now()
where id = @id
returning *;

-- name: SetTaskStatus :one
update tasks
set status = @status, error = @error,
    finished_at = case when @status::text in ('succeeded', 'failed', 'cancelled', 'lost', 'lost_in_critical') then now() else finished_at end,
    phases = @phases, changed_at = now()
where id = @id returning *;

-- name: RequestTaskStop :exec
update tasks set stop_requested = true, changed_at = now() where id = $1;

-- name: Now :one
-- The time by the database's clock.
select now()::timestamptz as now;

-- name: QuietTasks :many
-- Running tasks silent for longer than the limit, by the database's own clock. Each is read
-- again under lock before anything is said about it.
select id from tasks
where status = 'running' and heartbeat_at < now() - @quiet_limit::interval
order by heartbeat_at limit 100;

-- name: QuietTaskForUpdate :one
select * from tasks
where id = $1 and status = 'running' and heartbeat_at < now() - @quiet_limit::interval
for update skip locked;

-- name: UndeliveredTasks :many
-- Queued tasks whose delivery is missing or over, the first of each cluster, older than a moment.
-- A task is claimed as soon as its delivery runs: one that is not claimed is with a dead worker. A
-- lost task holds up what waits behind it until a person has decided.
select t.id from tasks t
where t.status = 'queued' and t.changed_at < now() - @grace::interval
  and not exists (select 1 from tasks o where o.cluster_id = t.cluster_id and o.id <> t.id
                  and (o.status in ('running', 'lost', 'lost_in_critical')
                       or (o.status = 'queued' and (o.priority, o.created_at, o.id) < (t.priority, t.created_at, t.id))))
  and not exists (select 1 from river_job j where j.id = t.delivery
                  and (j.state in ('available', 'scheduled', 'retryable', 'pending') or j.state = 'running' and j.attempted_at > now() - @grace::interval))
order by t.priority, t.created_at limit 100;

-- name: TaskRows :many
select sqlc.embed(tasks), clusters.name as cluster_name
from tasks join clusters on clusters.id = tasks.cluster_id
where tasks.workspace_id = @workspace_id
  and (cardinality(@statuses::text[]) = 0 or tasks.status = any(@statuses::text[]))
  and (@named::text = '' or strpos(lower(clusters.name), lower(@named)) > 0)
order by tasks.created_at desc, tasks.id
limit @page_size::integer offset @page_offset::integer;

-- name: OldestTaskRows :many
-- The same, the oldest first: an order of its own, so that an index has it.
select sqlc.embed(tasks), clusters.name as cluster_name
from tasks join clusters on clusters.id = tasks.cluster_id
where tasks.workspace_id = @workspace_id
  and (cardinality(@statuses::text[]) = 0 or tasks.status = any(@statuses::text[]))
  and (@named::text = '' or strpos(lower(clusters.name), lower(@named)) > 0)
order by tasks.created_at, tasks.id
limit @page_size::integer offset @page_offset::integer;

-- name: ClusterTaskRows :many
-- A page of the tasks of one cluster, the newest first unless turned, and how many the filter lets
-- through in all.
select sqlc.embed(tasks), count(*) over () as total
from tasks
where cluster_id = @cluster_id
  and (cardinality(@statuses::text[]) = 0 or status = any(@statuses::text[]))
  and (@by_whom::text = '' or strpos(lower(created_by), lower(@by_whom)) > 0)
order by case when @oldest_first::boolean then created_at end, created_at desc, id
limit @page_size::integer offset @page_offset::integer;

-- name: ClusterTaskStatusCounts :many
select status, count(*) as tasks from tasks where cluster_id = $1 group by status;

-- name: CountNamedTasks :one
-- How many tasks are of clusters whose name holds a text.
select count(*) from tasks join clusters on clusters.id = tasks.cluster_id
where tasks.workspace_id = @workspace_id
  and (cardinality(@statuses::text[]) = 0 or tasks.status = any(@statuses::text[]))
  and strpos(lower(clusters.name), lower(@named::text)) > 0;

-- name: TaskStatusCounts :many
select status, count(*) as tasks from tasks where workspace_id = $1 group by status;

-- name: TasksOfCluster :many
select * from tasks where cluster_id = $1 order by created_at desc, id limit @page_size::integer;

-- name: ChangedTasks :many
select id, cluster_id, workspace_id from tasks where changed_at > now() - @back::interval;

-- name: DeleteOlderChecks :exec
-- A check that is over replaces the ones before it.
delete from tasks where cluster_id = $1 and kind = 'check' and id <> $2 and status in ('succeeded', 'failed', 'cancelled');

-- name: DeleteOldTasks :execrows
-- Those that are over. What is lost or waits for approval is there until a person has decided.
delete from tasks where id in (
    select o.id from tasks o where o.status in ('succeeded', 'failed', 'cancelled') and o.created_at < now() - @older_than::interval
    order by o.created_at limit @batch::integer);

-- name: AppendTaskLog :one
-- The next chunk of a task's log, by the attempt that holds the task. A part that is there already
-- was written by a call whose answer was lost, and is not written again.
with held as (
    select t.id from tasks t where t.id = @task_id and t.attempt = @attempt
), written as (
    insert into task_logs (task_id, seq, line, lines, troubled, body, attempt, part)
    select h.id,
           coalesce((select max(l.seq) from task_logs l where l.task_id = h.id), 0) + 1,
           coalesce((select l.line + l.lines from task_logs l where l.task_id = h.id order by l.seq desc limit 1), 1),
           @lines::integer, @troubled::integer, @body::text, case when sqlc.narg(part)::integer is not null then @attempt end, sqlc.narg(part)
    from held h
    on conflict (task_id, attempt, part) do nothing
    returning seq
)
select (select count(*) from written)::integer as chunks from held;

-- name: TaskLog :many
-- Chunks after a given one, oldest first.
select * from task_logs where task_id = $1 and seq > @after_seq order by seq limit @chunks::integer;

-- name: TaskLogEnd :many
-- Chunks before a given one, newest first.
select * from task_logs where task_id = $1 and seq < @before_seq order by seq desc limit @chunks::integer;

-- name: TaskLogFrom :many
-- Chunks from the one that has a line.
select * from task_logs c
where c.task_id = @task_id
  and c.line >= coalesce((select max(l.line) from task_logs l where l.task_id = @task_id and l.line <= @first_line), 0)
order by c.line limit @chunks::integer;

-- name: FirstTroubledChunk :one
-- The first chunk with a line that tells of an error.
select * from task_logs where task_id = $1 and troubled > 0 order by seq limit 1;

-- name: SearchTaskLog :many
-- Chunks that hold a text, from the one that has a line to before another line.
select * from task_logs c
where c.task_id = @task_id
  and c.line >= coalesce((select max(l.line) from task_logs l where l.task_id = @task_id and l.line <= @first_line), 0)
  and c.line < @until_line and strpos(lower(c.body), lower(@text)) > 0
order by c.line limit @chunks::integer;

-- name: TaskLogLines :one
-- How many lines a log has.
select coalesce((select l.line + l.lines - 1 from task_logs l where l.task_id = $1 order by l.seq desc limit 1), 0)::integer as lines;
