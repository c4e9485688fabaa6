-- name: SetClusterLabels :exec
update clusters set labels = $2, changed_at = now() where id = $1;

-- name: SetClusterLock :exec
update clusters set is_locked = $2, changed_at = now() where id = $1;

-- name: LabelsOfWorkspace :many
-- The labels of a workspace's clusters with how many clusters have each, the frequent ones first.
select l.key::text as key, l.value::text as value, count(*)::bigint as clusters
from clusters c, jsonb_each_text(c.labels) as l(key, value)
where c.workspace_id = $1 and c.archived_at is null
group by l.key, l.value
order by count(*) desc, l.key, l.value
limit @most::integer;

-- name: InsertClusterView :one
insert into cluster_views (workspace_id, name, query, created_by) values ($1, $2, $3, $4) returning *;

-- name: ClusterViews :many
select * from cluster_views where workspace_id = $1 order by name;

-- name: ClusterView :one
select * from cluster_views where id = $1;

-- name: RenameClusterView :one
update cluster_views set name = $2 where id = $1 returning *;

-- name: DeleteClusterView :exec
delete from cluster_views where id = $1;

-- name: SetClusterGroupControl :exec
update clusters set group_control = $2, changed_at = now() where id = $1;
