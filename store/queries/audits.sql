-- name: InsertAudit :exec
insert into audits (workspace_id, workspace_slug, actor_type, actor_id, actor_name, remote_address, request_id, action, object_type, object_id, changes)
values (sqlc.narg(workspace_id), $1, $2, sqlc.narg(actor_id), $3, $4, $5, $6, $7, $8, $9);

-- name: AuditsOfObject :many
select * from audits where object_id = $1 order by at desc limit @page_size::integer;
