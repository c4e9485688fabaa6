-- Sealed columns are bytea beside a text column with the id of the key: AES-256-GCM with
-- table, column and row id as associated data (store/sealed.go). Hashes are SHA-256.
-- changed_at moves with every change that people see; heartbeats and reports leave it alone.

create table encryption_keys (
    id         text primary key,
    proof      bytea not null, -- a known text sealed with the key: tells at start whether the key fits
    created_at timestamptz not null default now()
);

create table workspaces (
    id         uuid primary key default gen_random_uuid(),
    slug       text not null unique,
    name       text not null,
    created_at timestamptz not null default now(),
    changed_at timestamptz not null default now()
);

create table users (
    id           uuid primary key default gen_random_uuid(),
    issuer       text not null,
    subject      text not null,
    email        text not null default '',
    name         text not null default '',
    language     text not null default '',
    theme        text not null default '',
    density      text not null default '',
    created_at   timestamptz not null default now(),
    last_seen_at timestamptz,
    unique (issuer, subject)
);

create table sessions (
    id_hash      bytea primary key,
    user_id      uuid not null references users on delete cascade,
    created_at   timestamptz not null default now(),
    last_seen_at timestamptz not null default now(),
    expires_at   timestamptz not null
);
create index sessions_user on sessions (user_id);
create index sessions_expiry on sessions (expires_at);

-- A binding without a workspace holds everywhere, in workspaces to come too.
create table role_bindings (
    id           uuid primary key default gen_random_uuid(),
    user_id      uuid not null references users on delete cascade,
    workspace_id uuid references workspaces on delete cascade,
    role         text not null check (role in ('full', 'read-only')),
    created_at   timestamptz not null default now(),
    unique nulls not distinct (user_id, workspace_id)
);

create table auth_tokens (
    id           uuid primary key default gen_random_uuid(),
    workspace_id uuid not null references workspaces on delete cascade,
    name         text not null,
    role         text not null check (role in ('full', 'read-only')),
    hash         bytea not null unique,
    created_by   text not null,
    created_at   timestamptz not null default now(),
    last_used_at timestamptz,
    expires_at   timestamptz,
    revoked_at   timestamptz
);
create index auth_tokens_workspace on auth_tokens (workspace_id, created_at desc);

create table cluster_templates (
    id                 uuid primary key default gen_random_uuid(),
    workspace_id       uuid not null references workspaces on delete cascade,
    name               text not null,
    comment            text not null default '',
    preset             text not null default '', -- name of the shipped template this came from
    immutable          boolean not null default false,
    current_version_id uuid,
    current_revision   integer not null default 1,
    created_at         timestamptz not null default now(),
    changed_at         timestamptz not null default now(),
    archived_at        timestamptz,
    archive_number     integer
);
create unique index cluster_templates_name on cluster_templates (workspace_id, name) where archived_at is null;

create table cluster_template_versions (
    id                     uuid primary key default gen_random_uuid(),
    template_id            uuid not null references cluster_templates on delete cascade,
    number                 integer not null,
    comment                text not null default '',
    available              boolean not null default true,
    params                 jsonb not null,
    cluster_configuration  text not null default '',
    provider_configuration text not null default '',
    init_configuration     text not null default '',
    resource_groups        jsonb not null default '[]',
    created_by             text not null,
    created_at             timestamptz not null default now(),
    unique (template_id, number)
);
alter table cluster_templates
    add foreign key (current_version_id) references cluster_template_versions deferrable initially deferred;

create table clusters (
    id                        uuid primary key default gen_random_uuid(),
    workspace_id              uuid not null references workspaces,
    name                      text not null,
    template_version_id       uuid references cluster_template_versions,
    template_switched_at      timestamptz,
    cluster_type              text not null default 'cloud' check (cluster_type in ('cloud', 'static')),
    status                    text not null check (status in (
        'new', 'configuration_error', 'creating', 'creation_failed', 'in_sync', 'updating',
        'synchronization_failure', 'pending_changes', 'destructive_changes', 'pending_deletion',
        'delete', 'deletion_failed', 'deleted', 'ready_to_join', 'joining', 'detached', 'unknown')),
    revision                  integer not null default 1, -- of the wanted configuration
    applied_revision          integer,                    -- of the configuration applied last
    applied_at                timestamptz,
    checked_at                timestamptz,
    was_created               boolean not null default false,
    is_locked                 boolean not null default false,
    sync_mode                 text not null default 'auto' check (sync_mode in ('auto', 'manual')),
    check_interval_minutes    integer not null default 1 check (check_interval_minutes > 0),
    destructive_change_id     text not null default '',
    ssh_public_key            text not null,
    ssh_private_key           bytea not null,
    ssh_private_key_key       text not null references encryption_keys,
    form_nonce                uuid unique, -- of the form that made it: a double submit finds it
    left_behind               text not null default '', -- what deletion could not remove
    created_at                timestamptz not null default now(),
    changed_at                timestamptz not null default now(),
    archived_at               timestamptz,
    archive_number            integer
);
create unique index clusters_name on clusters (workspace_id, name) where archived_at is null;
create index clusters_listing on clusters (workspace_id, archived_at, name);
create index clusters_changed on clusters (changed_at);

-- Each wanted configuration of a cluster: what was asked for and what the template made of it.
-- A rendering is stored once and never computed again, so that a check compares with what was wanted.
create table cluster_revisions (
    id                    uuid primary key default gen_random_uuid(),
    cluster_id            uuid not null references clusters on delete cascade,
    revision              integer not null,
    template_version_id   uuid references cluster_template_versions,
    parameters            jsonb not null,
    secret_parameters     bytea not null, -- sealed JSON object: values of password parameters
    secret_parameters_key text not null references encryption_keys,
    rendered              bytea not null, -- sealed JSON: store.Rendering
    rendered_key          text not null references encryption_keys,
    render_errors         jsonb not null default '[]',
    created_by            text not null,
    created_at            timestamptz not null default now(),
    unique (cluster_id, revision)
);

-- The installer's state of a cluster, as it gave it at the end of a phase.
create table cluster_states (
    cluster_id uuid primary key references clusters on delete cascade,
    state      bytea not null,
    state_key  text not null references encryption_keys,
    task_id    uuid not null,
    attempt    integer not null,
    phase      text not null,
    written_at timestamptz not null default now()
);

create table agent_tokens (
    id         uuid primary key default gen_random_uuid(),
    cluster_id uuid not null references clusters on delete cascade,
    hash       bytea not null unique,
    created_at timestamptz not null default now(),
    revoked_at timestamptz
);
create index agent_tokens_cluster on agent_tokens (cluster_id, created_at desc);

-- The last words of a cluster's agent.
create table agent_reports (
    cluster_id         uuid primary key references clusters on delete cascade,
    reported_at        timestamptz not null,
    first_reported_at  timestamptz not null,
    agent_version      text not null,
    kubernetes_version text not null,
    config_etag        text not null,
    sync_state         text not null check (sync_state in ('configured', 'not_configured', 'applying')),
    cpu_cores          double precision not null,
    memory_gib         double precision not null,
    root_disk_gib      double precision not null,
    pvc_gib            double precision not null,
    node_count         integer not null,
    nodes              jsonb not null,
    objects            jsonb not null,
    fingerprint        bytea not null -- of all but the time: tells whether anything changed
);

create table kube_tokens (
    id           uuid primary key default gen_random_uuid(),
    cluster_id   uuid not null references clusters on delete cascade,
    user_id      uuid references users on delete cascade,
    auth_token_id uuid references auth_tokens on delete cascade,
    hash         bytea not null unique,
    created_at   timestamptz not null default now(),
    expires_at   timestamptz not null,
    last_used_at timestamptz,
    revoked_at   timestamptz,
    check (num_nonnulls(user_id, auth_token_id) = 1)
);
create index kube_tokens_cluster on kube_tokens (cluster_id);

-- A task is what people see of an operation on a cluster; a River row is only its delivery.
create table tasks (
    id              uuid primary key default gen_random_uuid(),
    workspace_id    uuid not null references workspaces,
    cluster_id      uuid not null references clusters,
    kind            text not null check (kind in ('bootstrap', 'converge', 'destroy', 'check', 'abort', 'attach', 'detach')),
    status          text not null default 'queued' check (status in (
        'queued', 'running', 'succeeded', 'failed', 'cancelled', 'waiting_approval', 'lost', 'lost_in_critical')),
    priority        integer not null default 2 check (priority between 1 and 4), -- 1 is the most urgent
    revision        integer not null, -- of the cluster when the task was made
    attempt         integer not null default 1, -- of delivery: fences whoever holds an earlier one
    delivery        bigint, -- river_job.id of the attempt
    worker          text not null default '',
    phase           text not null default '',
    sub_phase       text not null default '',
    phase_critical  boolean not null default false, -- interrupting the phase is unsafe
    progress        double precision not null default 0,
    phases          jsonb not null default '[]',
    stop_requested  boolean not null default false,
    error           text not null default '',
    change_id       text not null default '', -- approved, or asking for approval
    result          jsonb not null default '{}', -- what the installer found, as it says it
    created_by      text not null,
    created_at      timestamptz not null default now(),
    changed_at      timestamptz not null default now(),
    started_at      timestamptz,
    heartbeat_at    timestamptz,
    finished_at     timestamptz
);
create unique index tasks_one_running on tasks (cluster_id) where status = 'running';
create index tasks_cluster on tasks (cluster_id, created_at desc);
create index tasks_workspace on tasks (workspace_id, created_at desc);
create index tasks_heartbeat on tasks (heartbeat_at) where status = 'running';
create index tasks_queued on tasks (priority, created_at) where status = 'queued';
create index tasks_changed on tasks (changed_at);

create table task_logs (
    task_id uuid not null references tasks on delete cascade,
    seq     integer not null, -- of the chunk within the task, from 1
    line    integer not null, -- number of the chunk's first line within the task, from 1
    lines   integer not null,
    body    text not null,
    at      timestamptz not null default now(),
    primary key (task_id, seq)
);

create table audits (
    id             uuid primary key default gen_random_uuid(),
    workspace_id   uuid,
    workspace_slug text not null default '',
    actor_type     text not null,
    actor_id       uuid,
    actor_name     text not null,
    remote_address text not null default '',
    request_id     text not null default '',
    action         text not null,
    object_type    text not null,
    object_id      uuid not null,
    changes        jsonb not null default '{}',
    at             timestamptz not null default now()
);
create index audits_object on audits (object_id, at desc);
create index audits_workspace on audits (workspace_id, at desc);

-- A line of the list of clusters: the cluster with its newest report, last task and template.
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

---- create above / drop below ----

drop view cluster_lines;

drop table audits, task_logs, tasks, kube_tokens, agent_reports, agent_tokens, cluster_states, cluster_revisions, clusters,
    auth_tokens, role_bindings, sessions, users, workspaces, encryption_keys cascade;
drop table cluster_templates, cluster_template_versions cascade;
