-- name: InsertRecord :one
insert into records (id, catalog_id, plain, secrets, secrets_key, label, created_by)
values ($1, $2, $3, $4, $5, $6, $7) returning *;

-- name: Record :one
select * from records where id = $1;

-- name: RecordForUpdate :one
select * from records where id = $1 for update;

-- name: CountRecords :one
-- How many records of a catalog are outside of the archive, used, and in the archive.
select count(*) filter (where r.archived_at is null)::bigint as records,
       count(*) filter (where r.archived_at is null and exists (select 1 from record_uses u where u.record_id = r.id))::bigint as used,
       count(*) filter (where r.archived_at is null and not r.schema_matches)::bigint as misfits,
       count(*) filter (where r.archived_at is not null)::bigint as archived
from records r where r.catalog_id = $1;

-- name: RecordRows :many
-- A page of a catalog's records with the clusters that use each. state is free, used, misfits,
-- archived, or empty for all outside of the archive. Unless a sort is asked for, an archive begins
-- with the newest. All of a catalog are counted anyway, so an order that is chosen loses no index.
select sqlc.embed(r),
       coalesce((select jsonb_agg(jsonb_build_object('id', c.id, 'name', c.name) order by c.name)
                 from record_uses u join clusters c on c.id = u.cluster_id where u.record_id = r.id), '[]')::jsonb as users,
       count(*) over ()::bigint as total
from records r
where r.catalog_id = $1
  and (r.archived_at is not null) = (@state::text = 'archived')
  and (@search::text = '' or strpos(lower(r.label), lower(@search)) > 0)
  and (@state <> 'free' or not exists (select 1 from record_uses u where u.record_id = r.id))
  and (@state <> 'used' or exists (select 1 from record_uses u where u.record_id = r.id))
  and (@state <> 'misfits' or not r.schema_matches)
order by case when @sort::text = '' then r.archived_at end desc,
         case when @sort = '-name' then lower(r.label) end desc,
         case @sort when 'users' then (select count(*) from record_uses u where u.record_id = r.id)
                    when '-users' then -(select count(*) from record_uses u where u.record_id = r.id) end,
         lower(r.label), r.id
limit @page_size::integer offset @page_offset::integer;

-- name: RecordsOfCatalog :many
-- All records of a catalog, the archive last.
select * from records where catalog_id = $1 order by archived_at is not null, label, id;

-- name: RecordsOfWorkspace :many
-- All records of a workspace for the API, the oldest first, with the first cluster that uses each.
select sqlc.embed(r), u.cluster_id
from records r
join catalogs c on c.id = r.catalog_id
left join lateral (select o.cluster_id from record_uses o where o.record_id = r.id order by o.taken_at, o.cluster_id limit 1) u on true
where c.workspace_id = $1 and (@with_archived::boolean or r.archived_at is null and c.archived_at is null)
order by r.created_at, r.id;

-- name: FreeRecords :many
-- Records of a catalog that a cluster may take now: they fit the schema, and an exclusive one is
-- free or its own already, which then comes first.
select r.* from records r
left join record_uses mine on mine.record_id = r.id and mine.cluster_id = @cluster_id
where r.catalog_id = @catalog_id and r.archived_at is null and r.schema_matches
  and (not @exclusive::boolean or not exists (
      select 1 from record_uses u where u.record_id = r.id and u.cluster_id <> @cluster_id))
order by mine.record_id is null, r.label, r.id
limit @most::integer;

-- name: SetRecord :one
update records
set plain = $2, secrets = $3, secrets_key = $4, label = $5, schema_matches = true, revision = revision + 1, changed_at = now()
where id = $1 returning *;

-- name: SetRecordFit :exec
-- What a changed schema makes of a record that it may or may not fit: what people see of it, and
-- which values are sealed.
update records
set plain = $2, secrets = $3, secrets_key = $4, label = $5, schema_matches = $6, changed_at = now()
where id = $1;

-- name: ArchiveRecord :one
update records
set archived_at = now(), changed_at = now(), revision = revision + 1,
    archive_number = (select coalesce(max(o.archive_number), 0) + 1 from records o where o.catalog_id = records.catalog_id)
where records.id = $1 returning *;

-- name: RestoreRecord :one
update records set archived_at = null, archive_number = null, changed_at = now(), revision = revision + 1
where id = $1 returning *;

-- name: DeleteRecord :exec
delete from records where id = $1;

-- name: InsertRecordValue :exec
insert into record_values (record_id, catalog_id, key, hash) values ($1, $2, $3, $4);

-- name: DeleteRecordValues :exec
delete from record_values where record_id = $1;

-- name: DeleteCatalogValues :exec
delete from record_values where catalog_id = $1;

-- name: RecordOfValue :one
-- The record that has a value of a unique field already.
select r.* from record_values v join records r on r.id = v.record_id
where v.catalog_id = $1 and v.key = $2 and v.hash = $3;

-- name: UseRecord :exec
insert into record_uses (record_id, cluster_id, exclusive, revision) values ($1, $2, $3, $4)
on conflict (record_id, cluster_id) do update set revision = excluded.revision;

-- name: RecordUsers :many
-- Clusters that use a record.
select c.id, c.name, u.revision from record_uses u join clusters c on c.id = u.cluster_id
where u.record_id = $1 order by c.name, c.id;

-- name: RecordsOfCluster :many
-- Records that a cluster uses, with their catalogs.
select sqlc.embed(r), sqlc.embed(c) from record_uses u
join records r on r.id = u.record_id
join catalogs c on c.id = r.catalog_id
where u.cluster_id = $1 order by c.name, r.label, r.id;

-- name: FreeRecordsOf :exec
-- A cluster gives back all records but the kept ones.
delete from record_uses where cluster_id = $1 and not (record_id = any(@kept::uuid[]));

-- name: StaleRecordUsers :many
-- Clusters whose wanted configuration has an older revision of the record.
select u.cluster_id from record_uses u join records r on r.id = u.record_id
where u.record_id = $1 and u.revision < r.revision order by u.cluster_id;

-- name: InsertHashKey :exec
insert into hash_keys (name, id, key, key_key) values ($1, $2, $3, $4) on conflict (name) do nothing;

-- name: HashKey :one
select * from hash_keys where name = $1;

-- name: RecordsByID :many
-- Records with the first other cluster that uses each.
select sqlc.embed(r), coalesce(u.id, '00000000-0000-0000-0000-000000000000')::uuid as user_id, coalesce(u.name, '')::text as user_name
from records r
left join lateral (
    select c.id, c.name from record_uses o join clusters c on c.id = o.cluster_id
    where o.record_id = r.id and o.cluster_id <> @cluster_id order by o.taken_at, c.id limit 1
) u on true
where r.id = any(@ids::uuid[]);

-- name: RecordChoices :many
-- Records of a catalog that a form offers, with the first other cluster that uses each: those that
-- are chosen already, whatever they are, then those that nobody uses, then the others, all of them with
-- a text in their label. Each part ends at the limit, so that a large catalog is not read to its end.
with offered as (
    (select r.id, 0 as part from records r where r.catalog_id = @catalog_id and r.id = any(@chosen::uuid[]))
    union all
    (select r.id, 1 from records r
     where r.catalog_id = @catalog_id and r.archived_at is null and r.id <> all(@chosen::uuid[])
       and (@search::text = '' or strpos(lower(r.label), lower(@search)) > 0)
       and not exists (select 1 from record_uses o where o.record_id = r.id and o.cluster_id <> @cluster_id)
     order by r.label, r.id limit @most::integer)
    union all
    (select r.id, 2 from records r
     where r.catalog_id = @catalog_id and r.archived_at is null and r.id <> all(@chosen::uuid[])
       and (@search::text = '' or strpos(lower(r.label), lower(@search)) > 0)
       and exists (select 1 from record_uses o where o.record_id = r.id and o.cluster_id <> @cluster_id)
     order by r.label, r.id limit @most::integer)
)
select r.id, r.label, r.schema_matches, (r.archived_at is not null)::boolean as archived, coalesce(u.name, '')::text as user_name
from offered f
join records r on r.id = f.id
left join lateral (
    select c.name from record_uses o join clusters c on c.id = o.cluster_id
    where o.record_id = r.id and o.cluster_id <> @cluster_id order by o.taken_at, c.id limit 1
) u on true
order by f.part, r.label, r.id
limit @most::integer;

-- name: CountRecordChoices :one
-- How many records of a catalog have a text in their label, apart from those that are chosen.
select count(*) from records r
where r.catalog_id = @catalog_id and r.archived_at is null and r.id <> all(@chosen::uuid[])
  and (@search::text = '' or strpos(lower(r.label), lower(@search)) > 0);

-- name: CatalogsOfRecords :many
-- The catalog of each record, in the workspace.
select r.id, r.catalog_id from records r join catalogs c on c.id = r.catalog_id
where r.id = any(@ids::uuid[]) and c.workspace_id = @workspace_id;
