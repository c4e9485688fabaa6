-- name: InsertCatalog :one
insert into catalogs (workspace_id, name, slug, exclusive, params, params_text, created_by)
values ($1, $2, $3, $4, $5, $6, $7) returning *;

-- name: Catalog :one
select * from catalogs where id = $1;

-- name: CatalogForUpdate :one
select * from catalogs where id = $1 for update;

-- name: CatalogBySlug :one
select * from catalogs where workspace_id = $1 and slug = $2 and archived_at is null;

-- name: CatalogBySlugForUpdate :one
select * from catalogs where workspace_id = $1 and slug = $2 and archived_at is null for update;

-- name: Catalogs :many
-- Catalogs of a workspace with how many records they have and how many of those are used.
select sqlc.embed(c),
       (select count(*) from records r where r.catalog_id = c.id and r.archived_at is null)::bigint as records,
       (select count(distinct u.record_id) from record_uses u join records r on r.id = u.record_id where r.catalog_id = c.id)::bigint as used
from catalogs c
where c.workspace_id = $1 and (@with_archived::boolean or c.archived_at is null)
order by c.archived_at desc nulls first, c.name, c.id;

-- name: SetCatalog :one
update catalogs set name = $2, params = $3, params_text = $4, revision = revision + 1, changed_at = now()
where id = $1 returning *;

-- name: ArchiveCatalog :one
update catalogs
set archived_at = now(), changed_at = now(), revision = revision + 1,
    archive_number = (select coalesce(max(o.archive_number), 0) + 1 from catalogs o
                      where o.workspace_id = catalogs.workspace_id and o.slug = catalogs.slug)
where catalogs.id = $1 returning *;

-- name: RestoreCatalog :one
update catalogs set archived_at = null, archive_number = null, changed_at = now(), revision = revision + 1
where id = $1 returning *;

-- name: CatalogUsers :many
-- Clusters that use a record of a catalog, each once.
select distinct c.id, c.name from record_uses u
join records r on r.id = u.record_id
join clusters c on c.id = u.cluster_id
where r.catalog_id = $1
order by c.name, c.id
limit @most::integer;

-- name: LockCatalogs :many
-- The catalogs of some slugs and of some records. Whoever takes records takes them one after
-- another: catalogs are locked in the order of their ids, so that two never wait for each other.
select * from catalogs
where workspace_id = $1
  and (slug = any(@slugs::text[]) and archived_at is null
       or id in (select r.catalog_id from records r where r.id = any(@records::uuid[])))
order by id for update;

-- name: CatalogsFor :many
-- The same without locks, for previews.
select * from catalogs
where workspace_id = $1
  and (slug = any(@slugs::text[]) and archived_at is null
       or id in (select r.catalog_id from records r where r.id = any(@records::uuid[])))
order by id;
