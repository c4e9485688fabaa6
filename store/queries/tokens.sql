-- name: InsertAuthToken :one
insert into auth_tokens (workspace_id, name, role, hash, created_by, expires_at)
values ($1, $2, $3, $4, $5, $6) returning *;

-- name: AuthTokenByHash :one
-- A token that may be used now.
select * from auth_tokens
where hash = $1 and revoked_at is null and (expires_at is null or expires_at > now());

-- name: AuthTokens :many
select * from auth_tokens where workspace_id = $1 order by revoked_at is not null, created_at desc;

-- name: AuthToken :one
select * from auth_tokens where id = $1;

-- name: RevokeAuthToken :exec
update auth_tokens set revoked_at = now() where id = $1 and revoked_at is null;

-- name: RevokeAuthTokensNamed :exec
update auth_tokens set revoked_at = now() where workspace_id = $1 and name = $2 and revoked_at is null;

-- name: TouchAuthToken :exec
-- Notes the use of a token, at most once a minute.
update auth_tokens set last_used_at = now()
where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute');

-- name: InsertKubeToken :one
insert into kube_tokens (cluster_id, user_id, auth_token_id, hash, expires_at)
values ($1, sqlc.narg(user_id), sqlc.narg(auth_token_id), $2, now() + @lifetime::interval) returning *;

-- name: KubeTokenByHash :one
-- A token that may be used now, for the one cluster that it was made for.
select * from kube_tokens where hash = $1 and cluster_id = $2 and revoked_at is null and expires_at > now();

-- name: TouchKubeToken :exec
update kube_tokens set last_used_at = now()
where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute');

-- name: RevokeKubeTokensOfCluster :execrows
update kube_tokens set revoked_at = now() where cluster_id = $1 and revoked_at is null;

-- name: RevokeKubeTokensOfUser :execrows
update kube_tokens set revoked_at = now() where cluster_id = $1 and user_id = $2 and revoked_at is null;

-- name: DeleteExpiredKubeTokens :execrows
delete from kube_tokens where expires_at < now() - interval '1 day';
