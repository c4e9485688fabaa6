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
insert into cluster_templates (workspace_id, name, comment, preset, immutable, form_nonce)
values ($1, $2, $3, $4, $5, sqlc.narg(form_nonce)) returning *;

-- name: TemplateByNonce :one
select * from cluster_templates where form_nonce = $1;

-- name: InsertTemplateVersion :one
-- The next version of a template. The template's row must be locked.
insert into cluster_template_versions
    (template_id, number, comment, params, params_text, cluster_configuration, provider_configuration, ssh_configuration, init_configuration, resource_groups, created_by)
select sqlc.arg(template_id)::uuid, coalesce(max(v.number), 0) + 1, @comment, @params, @params_text, @cluster_configuration,
       @provider_configuration, @ssh_configuration, @init_configuration, @resource_groups, @created_by
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

-- name: TemplateVersionHeads :many
-- What is said of the versions of a template, without what they are made of, how many clusters
-- that are still managed have each, and how many versions a filter lets through. The newest come
-- first unless another order is asked for.
select v.id, v.number, v.comment, v.available, v.created_by, v.created_at,
       coalesce(n.clusters, 0)::bigint as clusters, count(*) over () as total
from cluster_template_versions v
left join (select c.template_version_id, count(*) as clusters from clusters c where c.archived_at is null group by 1) n
    on n.template_version_id = v.id
where v.template_id = $1
  and (@search::text = '' or strpos(lower(v.comment), lower(@search)) > 0 or strpos(lower(v.created_by), lower(@search)) > 0)
  and (sqlc.narg(available)::boolean is null or v.available = sqlc.narg(available))
order by
    case when @sort::text = 'version' then v.number end,
    case when @sort::text = 'clusters' then coalesce(n.clusters, 0) end,
    case when @sort::text = '-clusters' then coalesce(n.clusters, 0) end desc,
    v.number desc
limit @page_size::integer offset @page_offset::integer;

-- name: CountTemplateVersions :one
-- How many versions a template has, and how many clusters that are still managed.
select count(distinct v.id) as versions, count(c.id) as clusters
from cluster_template_versions v
left join clusters c on c.template_version_id = v.id and c.archived_at is null
where v.template_id = $1;

-- name: TemplateVersionNumbers :many
select number from cluster_template_versions where template_id = $1 order by number desc;

-- name: VersionClusters :one
-- How many clusters that are still managed a version has.
select count(*) from clusters where template_version_id = $1 and archived_at is null;

-- name: TemplateVersionsOfWorkspace :many
select v.* from cluster_template_versions v
join cluster_templates t on t.id = v.template_id
where t.workspace_id = $1
order by v.template_id, v.number desc;

-- name: ImportTemplateVersion :one
-- A version that keeps its number from where it comes.
insert into cluster_template_versions
    (template_id, number, comment, available, params, params_text, cluster_configuration, provider_configuration, ssh_configuration, init_configuration, resource_groups, created_by)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
returning *;

-- name: SetTemplateVersion :exec
-- What may be said of a version after it was saved.
update cluster_template_versions set comment = $2, available = $3 where id = $1;

-- name: SetTemplate :one
update cluster_templates
set name = $2, comment = $3, current_revision = current_revision + 1, changed_at = now()
where id = $1 returning *;

-- name: TakeTemplateOver :exec
-- From now on the product leaves the template to people.
update cluster_templates set immutable = false where id = $1;

-- name: TouchTemplate :exec
update cluster_templates set changed_at = now() where id = $1;

-- name: ArchiveTemplate :one
update cluster_templates t
set archived_at = now(), changed_at = now(), current_revision = current_revision + 1,
    archive_number = 1 + (select coalesce(max(o.archive_number), 0) from cluster_templates o where o.workspace_id = t.workspace_id)
where t.id = $1 returning *;

-- name: RestoreTemplate :one
update cluster_templates
set archived_at = null, archive_number = null, changed_at = now(), current_revision = current_revision + 1
where id = $1 returning *;

-- name: TemplateVersionByNumber :one
select * from cluster_template_versions where template_id = $1 and number = $2;

-- name: TemplateClusterLines :many
-- The clusters made from a template that are not in the archive, those in deletion included, by name
-- unless another order is asked for, and how many a filter lets through.
select sqlc.embed(l), count(*) over () as total from cluster_lines l
where l.archived_at is null and l.id in (
    select c.id from clusters c join cluster_template_versions v on v.id = c.template_version_id
    where v.template_id = $1 and (@search::text = '' or strpos(lower(c.name), lower(@search)) > 0))
order by
    case when @sort::text = '-name' then l.name end desc,
    case when @sort::text = 'version' then l.template_number end,
    case when @sort::text = '-version' then l.template_number end desc,
    case when @sort::text = 'status' then l.status end,
    case when @sort::text = '-status' then l.status end desc,
    l.name, l.id
limit @page_size::integer offset @page_offset::integer;

-- name: TemplateLines :many
-- A page of the list of a workspace's templates; without an order archives begin with the newest.
select sqlc.embed(t), v.number as current_number, v.available as current_available,
       (select count(*) from cluster_template_versions o where o.template_id = t.id)::bigint as versions,
       (select count(*) from clusters c join cluster_template_versions cv on cv.id = c.template_version_id
        where cv.template_id = t.id and c.archived_at is null)::bigint as clusters
from cluster_templates t
left join cluster_template_versions v on v.id = t.current_version_id
where t.workspace_id = @workspace_id and (t.archived_at is not null) = @archived::boolean
  and (@search::text = '' or strpos(lower(t.name), lower(@search::text)) > 0 or strpos(lower(t.comment), lower(@search::text)) > 0)
order by
    case when @sort::text = '' then t.archived_at end desc,
    case when @sort::text = '-name' then lower(t.name) end desc,
    case when @sort::text = 'version' then v.number end,
    case when @sort::text = '-version' then v.number end desc nulls last,
    case when @sort::text = 'clusters' then (select count(*) from clusters c join cluster_template_versions cv on cv.id = c.template_version_id
        where cv.template_id = t.id and c.archived_at is null) end,
    case when @sort::text = '-clusters' then (select count(*) from clusters c join cluster_template_versions cv on cv.id = c.template_version_id
        where cv.template_id = t.id and c.archived_at is null) end desc,
    case when @sort::text = 'changed' then t.changed_at end,
    case when @sort::text = '-changed' then t.changed_at end desc,
    lower(t.name), t.name, t.archive_number, t.id
limit @page_size::integer offset @page_offset::integer;

-- name: TemplateCounts :one
-- How many templates there are in and outside of the archive, and how many of each fit a text.
select count(*) filter (where t.archived_at is null) as active,
       count(*) filter (where t.archived_at is not null) as archived,
       count(*) filter (where t.archived_at is null and fits) as active_found,
       count(*) filter (where t.archived_at is not null and fits) as archived_found
from (select archived_at, @search::text = '' or strpos(lower(name), lower(@search::text)) > 0 or strpos(lower(comment), lower(@search::text)) > 0 as fits
      from cluster_templates where workspace_id = @workspace_id) t;

-- name: LockWorkspace :exec
-- One at a time from here on in this workspace, while its rows may still be referred to.
select 1 from workspaces where id = $1 for no key update;
