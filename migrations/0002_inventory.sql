-- What a cluster is made from besides its template: records of the inventory and a registry, and
-- what it is found by: labels and saved views.

-- A random key for hashes that must stay equal while encryption keys change. Sealed.
create table hash_keys (
    name    text primary key,
    id      uuid not null default gen_random_uuid(),
    key     bytea not null,
    key_key text not null references encryption_keys
);

create table catalogs (
    id             uuid primary key default gen_random_uuid(),
    workspace_id   uuid not null references workspaces on delete cascade,
    name           text not null,
    slug           text not null, -- never changes
    exclusive      boolean not null, -- a record serves one cluster at a time
    params         jsonb not null,
    revision       integer not null default 1,
    created_by     text not null,
    created_at     timestamptz not null default now(),
    changed_at     timestamptz not null default now(),
    archived_at    timestamptz,
    archive_number integer
);
create unique index catalogs_slug on catalogs (workspace_id, slug) where archived_at is null;

create table records (
    id             uuid primary key default gen_random_uuid(),
    catalog_id     uuid not null references catalogs on delete cascade,
    revision       integer not null default 1,
    plain          jsonb not null,
    secrets        bytea not null, -- sealed JSON object: values of password fields
    secrets_key    text not null references encryption_keys,
    label          text not null, -- one line, of the identifier fields
    schema_matches boolean not null default true,
    created_by     text not null,
    created_at     timestamptz not null default now(),
    changed_at     timestamptz not null default now(),
    archived_at    timestamptz,
    archive_number integer
);
create index records_listing on records (catalog_id, label, id) where archived_at is null;

-- Values of unique fields, as keyed hashes, of the records outside of the archive.
create table record_values (
    record_id  uuid not null references records on delete cascade,
    catalog_id uuid not null references catalogs on delete cascade,
    key        text not null,
    hash       bytea not null,
    primary key (record_id, key)
);
create unique index record_values_unique on record_values (catalog_id, key, hash);

-- Which cluster uses which record. The second index is what makes taking an exclusive record safe.
create table record_uses (
    record_id  uuid not null references records,
    cluster_id uuid not null references clusters on delete cascade,
    exclusive  boolean not null,
    revision   integer not null, -- of the record in the cluster's wanted configuration
    taken_at   timestamptz not null default now(),
    primary key (record_id, cluster_id)
);
create unique index record_uses_exclusive on record_uses (record_id) where exclusive;
create index record_uses_cluster on record_uses (cluster_id);

create table registries (
    id           uuid primary key default gen_random_uuid(),
    workspace_id uuid not null references workspaces on delete cascade,
    name         text not null,
    images_repo  text not null, -- host[:port]/path
    scheme       text not null default 'https' check (scheme in ('https', 'http')),
    username     text not null default '',
    password     bytea not null,
    password_key text not null references encryption_keys,
    ca           text not null default '', -- PEM
    revision     integer not null default 1,
    created_by   text not null,
    created_at   timestamptz not null default now(),
    changed_at   timestamptz not null default now()
);
create unique index registries_name on registries (workspace_id, name);

alter table clusters
    add column registry_id uuid references registries on delete set null,
    add column registry_mode text not null default 'Direct' check (registry_mode in ('Direct', 'Unmanaged')),
    add column labels jsonb not null default '{}';
create index clusters_registry on clusters (registry_id) where registry_id is not null;
create index clusters_labels on clusters using gin (labels jsonb_path_ops);

-- A list of clusters that somebody gave a name, for everybody in the workspace.
create table cluster_views (
    id           uuid primary key default gen_random_uuid(),
    workspace_id uuid not null references workspaces on delete cascade,
    name         text not null,
    query        text not null, -- of the list's address
    created_by   text not null,
    created_at   timestamptz not null default now(),
    unique (workspace_id, name)
);

create or replace view cluster_lines as
select c.id, c.workspace_id, c.name, c.status, c.is_locked, c.was_created, c.revision, c.applied_revision,
       c.created_at, c.changed_at, c.archived_at, c.archive_number,
       r.reported_at,
       coalesce(r.sync_state, '') as sync_state,
       coalesce(r.kubernetes_version, '') as kubernetes_version,
       coalesce(r.node_count, 0) as node_count,
       coalesce(r.cpu_cores, 0) as cpu_cores,
       coalesce(r.memory_gib, 0) as memory_gib,
       t.id as task_id,
       coalesce(t.kind, '') as task_kind,
       coalesce(t.status, '') as task_status,
       coalesce(t.phase, '') as task_phase,
       t.created_at as task_created_at,
       t.finished_at as task_finished_at,
       coalesce(p.name, '') as template_name,
       coalesce(v.number, 0) as template_number,
       c.labels
from clusters c
left join agent_reports r on r.cluster_id = c.id
left join cluster_template_versions v on v.id = c.template_version_id
left join cluster_templates p on p.id = v.template_id
left join lateral (
    select o.id, o.kind, o.status, o.phase, o.created_at, o.finished_at from tasks o
    where o.cluster_id = c.id and o.kind <> 'check' order by o.created_at desc limit 1
) t on true;

---- create above / drop below ----

drop view cluster_lines;

create view cluster_lines as
select c.id, c.workspace_id, c.name, c.status, c.is_locked, c.was_created, c.revision, c.applied_revision,
       c.created_at, c.changed_at, c.archived_at, c.archive_number,
       r.reported_at,
       coalesce(r.sync_state, '') as sync_state,
       coalesce(r.kubernetes_version, '') as kubernetes_version,
       coalesce(r.node_count, 0) as node_count,
       coalesce(r.cpu_cores, 0) as cpu_cores,
       coalesce(r.memory_gib, 0) as memory_gib,
       t.id as task_id,
       coalesce(t.kind, '') as task_kind,
       coalesce(t.status, '') as task_status,
       coalesce(t.phase, '') as task_phase,
       t.created_at as task_created_at,
       t.finished_at as task_finished_at,
       coalesce(p.name, '') as template_name,
       coalesce(v.number, 0) as template_number
from clusters c
left join agent_reports r on r.cluster_id = c.id
left join cluster_template_versions v on v.id = c.template_version_id
left join cluster_templates p on p.id = v.template_id
left join lateral (
    select o.id, o.kind, o.status, o.phase, o.created_at, o.finished_at from tasks o
    where o.cluster_id = c.id and o.kind <> 'check' order by o.created_at desc limit 1
) t on true;

drop table cluster_views;
alter table clusters drop column registry_id, drop column registry_mode, drop column labels;
drop table registries, record_uses, record_values, records, catalogs, hash_keys;
