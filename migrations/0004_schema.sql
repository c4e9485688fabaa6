-- Which parameters of a configuration somebody set: the others were the defaults of the template's
-- version, and follow those of the next one. Null for configurations older than this column.
alter table cluster_revisions add column given text[];

-- The schema as its author wrote it, with comments and order; params is the same as JSON. Empty for
-- catalogs older than this column.
alter table catalogs add column params_text text not null default '';

-- Values of unique parameters, as keyed hashes, of the clusters outside of the archive.
create table parameter_values (
    workspace_id uuid not null references workspaces on delete cascade,
    key          text not null,
    hash         bytea not null,
    cluster_id   uuid not null references clusters on delete cascade,
    primary key (workspace_id, key, hash)
);
create index parameter_values_cluster on parameter_values (cluster_id);

-- Moves of many clusters to a version of a template, a wave at a time.
create table bulk_switches (
    id                  uuid primary key default gen_random_uuid(),
    workspace_id        uuid not null references workspaces on delete cascade,
    template_version_id uuid not null references cluster_template_versions on delete cascade,
    wave_size           integer not null check (wave_size > 0),
    parallel            integer not null check (parallel > 0),
    stop_at_failure     boolean not null,
    status              text not null default 'running' check (status in ('running', 'stopping', 'finished', 'stopped', 'cancelled')),
    actor_type          text not null,
    actor_id            uuid,
    actor_name          text not null,
    form_nonce          uuid unique,
    created_at          timestamptz not null default now(),
    changed_at          timestamptz not null default now(),
    finished_at         timestamptz
);
create index bulk_switches_version on bulk_switches (template_version_id, created_at desc);

create table bulk_switch_clusters (
    switch_id   uuid not null references bulk_switches on delete cascade,
    cluster_id  uuid not null references clusters on delete cascade,
    position    integer not null, -- in the order of the plan, from 0
    wave        integer not null, -- from 1
    revision    integer not null, -- of the cluster that the person looked at
    status      text not null default 'waiting' check (status in ('waiting', 'running', 'done', 'failed', 'refused', 'skipped')),
    task_id     uuid references tasks on delete set null,
    reason      jsonb, -- a message: why it failed, was refused or skipped
    started_at  timestamptz,
    finished_at timestamptz,
    primary key (switch_id, cluster_id)
);
create index bulk_switch_clusters_cluster on bulk_switch_clusters (cluster_id);

---- create above / drop below ----

drop table bulk_switch_clusters, bulk_switches, parameter_values;
alter table catalogs drop column params_text;
alter table cluster_revisions drop column given;
