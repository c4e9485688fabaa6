-- name: Templates :many
-- Templates of a workspace with the version that new clusters get.
select sqlc.embed(t), v.number as current_number, v.comment as current_comment, v.available as current_available,
       (select count(*) from clusters c join cluster_template_versions cv on cv.id = c.template_version_id
        where cv.template_id = t.id and c.archived_at is null)::bigint as clusters
from cluster_templates t
left join cluster_template_versions v on v.id = t.current_version_id
where t.workspace_id = $1 and (@with_archived::boolean or t.archived_at is null)
order by t.name;

-- name: Template :one
select * from cluster_templates where id = $1;

-- name: TemplateByName :one
select * from cluster_templates where workspace_id = $1 and name = $2 and archived_at is null;

-- name: PresetTemplate :one
-- The template that a preset became in a workspace, archived or not.
select * from cluster_templates where workspace_id = $1 and preset = $2 order by created_at limit 1;

-- name: InsertTemplate :one
insert into cluster_templates (workspace_id, name, comment, preset, immutable)
values ($1, $2, $3, $4, $5) returning *;

-- name: InsertTemplateVersion :one
-- The next version of a template. The template's row must be locked.
insert into cluster_template_versions
    (template_id, number, comment, params, cluster_configuration, provider_configuration, init_configuration, resource_groups, created_by)
select sqlc.arg(template_id)::uuid, coalesce(max(v.number), 0) + 1, @comment, @params, @cluster_configuration,
       @provider_configuration, @init_configuration, @resource_groups, @created_by
from cluster_template_versions v where v.template_id = sqlc.arg(template_id)::uuid
returning *;

-- name: SetCurrentTemplateVersion :exec
update cluster_templates
set current_version_id = $2, current_revision = current_revision + 1, changed_at = now()
where id = $1;

-- name: TemplateForUpdate :one
select * from cluster_templates where id = $1 for update;

-- name: TemplateVersion :one
select * from cluster_template_versions where id = $1;

-- name: TemplateVersions :many
select * from cluster_template_versions where template_id = $1 order by number desc;

-- name: TemplateVersionsOfWorkspace :many
select v.* from cluster_template_versions v
join cluster_templates t on t.id = v.template_id
where t.workspace_id = $1
order by v.template_id, v.number desc;
