-- name: FreeParameterValues :exec
-- A cluster gives back its unique values but the kept ones.
delete from parameter_values where cluster_id = $1 and not (hash = any(@kept::bytea[]));

-- name: TakeParameterValue :execrows
-- No row is taken when a cluster has the value already; somebody who is taking it now is waited for.
insert into parameter_values (workspace_id, key, hash, cluster_id) values ($1, $2, $3, $4) on conflict do nothing;

-- name: HolderOfParameterValue :one
select c.id, c.name from parameter_values v join clusters c on c.id = v.cluster_id
where v.workspace_id = $1 and v.key = $2 and v.hash = $3;
