-- name: FindThings :many
-- Clusters, templates and records of some workspaces whose name holds a text, those that begin with
-- it first; a few of each. The patterns are those of like, in small letters.
(select 'cluster'::text as kind, c.id, c.name::text as title, w.slug, w.name::text as workspace
 from clusters c join workspaces w on w.id = c.workspace_id
 where c.workspace_id = any(@cluster_places::uuid[]) and c.archived_at is null and c.found_by like @pattern::text
 order by c.name not like @prefix::text, c.name, c.id limit @most::integer)
union all
(select 'template'::text, t.id, t.name::text, w.slug, w.name::text
 from cluster_templates t join workspaces w on w.id = t.workspace_id
 where t.workspace_id = any(@template_places::uuid[]) and t.archived_at is null and lower(t.name) like @pattern::text
 order by lower(t.name) not like @prefix::text, t.name, t.id limit @most::integer)
union all
(select 'record'::text, r.id, r.label::text, w.slug, w.name::text
 from records r join catalogs k on k.id = r.catalog_id join workspaces w on w.id = k.workspace_id
 where k.workspace_id = any(@record_places::uuid[]) and k.archived_at is null and r.archived_at is null and lower(r.label) like @pattern::text
 order by lower(r.label) not like @prefix::text, r.label, r.id limit @most::integer);
