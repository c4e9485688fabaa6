-- name: InsertAgentToken :one
insert into agent_tokens (cluster_id, hash) values ($1, $2) returning *;

-- name: AgentTokenByHash :one
-- A living token of a living cluster.
select t.* from agent_tokens t join clusters c on c.id = t.cluster_id
where t.hash = $1 and t.cluster_id = $2 and t.revoked_at is null and c.archived_at is null;

-- name: RevokeAgentTokens :execrows
update agent_tokens set revoked_at = now() where cluster_id = $1 and revoked_at is null;

-- name: RevokeOlderAgentTokens :execrows
-- Leaves the two newest tokens alive: the one in use and the one being handed over.
update agent_tokens t set revoked_at = now()
where t.cluster_id = $1 and t.revoked_at is null
  and t.id not in (select a.id from agent_tokens a where a.cluster_id = $1 and a.revoked_at is null order by a.created_at desc limit 2);

-- name: PutAgentReport :exec
-- Stores a report, and in the cluster's row what its list is sorted and found by.
with seen as (
    update clusters c set kubernetes_version = $3, node_count = $10
    where c.id = $1 and (c.kubernetes_version <> $3 or c.node_count <> $10)
)
insert into agent_reports (cluster_id, reported_at, first_reported_at, agent_version, kubernetes_version, config_etag, sync_state,
    cpu_cores, memory_gib, root_disk_gib, pvc_gib, node_count, nodes, objects, fingerprint)
values ($1, now(), now(), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
on conflict (cluster_id) do update
set reported_at = now(), agent_version = excluded.agent_version, kubernetes_version = excluded.kubernetes_version,
    config_etag = excluded.config_etag, sync_state = excluded.sync_state, cpu_cores = excluded.cpu_cores,
    memory_gib = excluded.memory_gib, root_disk_gib = excluded.root_disk_gib, pvc_gib = excluded.pvc_gib,
    node_count = excluded.node_count, nodes = excluded.nodes, objects = excluded.objects, fingerprint = excluded.fingerprint;

-- name: TouchAgentReport :execrows
-- A report that says nothing new moves only its time; zero rows mean that something is new.
update agent_reports set reported_at = now() where cluster_id = $1 and fingerprint = $2;

-- name: AgentReport :one
select * from agent_reports where cluster_id = $1;

-- name: DeleteAgentReport :exec
with seen as (update clusters c set kubernetes_version = '', node_count = 0 where c.id = $1)
delete from agent_reports where cluster_id = $1;
