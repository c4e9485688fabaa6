-- name: UpsertUser :one
-- The account of an identity; what the issuer says of the person follows each sign-in.
insert into users (issuer, subject, email, name, last_seen_at)
values ($1, $2, $3, $4, now())
on conflict (issuer, subject) do update
set email = excluded.email, name = excluded.name, last_seen_at = now()
returning *;

-- name: EnsureUser :one
-- The account of an identity that may not have signed in yet.
insert into users (issuer, subject) values ($1, $2)
on conflict (issuer, subject) do update set subject = excluded.subject
returning *;

-- name: User :one
select * from users where id = $1;

-- name: SetUserSettings :exec
update users set language = $2, theme = $3, density = $4 where id = $1;

-- name: InsertSession :exec
insert into sessions (id_hash, user_id, expires_at) values ($1, $2, now() + @lifetime::interval);

-- name: SessionUser :one
-- The person of a living session.
select sqlc.embed(users), sessions.last_seen_at as seen_at, sessions.expires_at
from sessions join users on users.id = sessions.user_id
where sessions.id_hash = $1 and sessions.expires_at > now();

-- name: TouchSession :exec
-- Renews a session while its person is active, up to a bound from its start.
update sessions
set last_seen_at = now(), expires_at = least(now() + @idle::interval, created_at + @lifetime::interval)
where id_hash = $1;

-- name: DeleteSession :exec
delete from sessions where id_hash = $1;

-- name: DeleteUserSessions :exec
delete from sessions where user_id = $1;

-- name: DeleteExpiredSessions :execrows
delete from sessions where expires_at < now();

-- name: RoleBindingsOfUser :many
select * from role_bindings where user_id = $1;

-- name: SetRoleBinding :exec
insert into role_bindings (user_id, workspace_id, role) values ($1, sqlc.narg(workspace_id), $2)
on conflict (user_id, workspace_id) do update set role = excluded.role;
