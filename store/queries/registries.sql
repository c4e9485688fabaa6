-- name: InsertRegistry :one
insert into registries (id, workspace_id, name, images_repo, scheme, username, password, password_key, ca, created_by)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning *;

-- name: Registry :one
select * from registries where id = $1;

-- name: RegistryForUpdate :one
select * from registries where id = $1 for update;

-- name: Registries :many
select sqlc.embed(r),
       (select count(*) from clusters c where c.registry_id = r.id and c.archived_at is null)::bigint as clusters
from registries r where r.workspace_id = $1 order by r.name;

-- name: SetRegistry :one
update registries
set name = $2, images_repo = $3, scheme = $4, username = $5, password = $6, password_key = $7, ca = $8,
    revision = revision + 1, changed_at = now()
where id = $1 returning *;

-- name: DeleteRegistry :exec
delete from registries where id = $1;

-- name: RegistryUsers :many
-- Clusters that use a registry, as many as a message can name.
select id, name from clusters where registry_id = $1 and archived_at is null order by name limit @most::integer;

-- name: SetClusterRegistry :exec
update clusters set registry_id = sqlc.narg(registry_id), registry_mode = $2, changed_at = now() where id = $1;

-- name: RegistryForUse :one
-- A registry that must not be deleted before the transaction ends.
select * from registries where id = $1 for key share;
