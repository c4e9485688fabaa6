-- The life of a cluster: what a check found in it, how it is reached until its agent dials out,
-- when changes may start by themselves, and who is told of what.

-- What the last check found in a cluster.
create table cluster_checks (
    cluster_id uuid primary key references clusters on delete cascade,
    status     text not null,  -- in the engine's words: InSync, OutOfSync, DestructiveOutOfSync
    details    jsonb not null, -- the engine's statistics of machines and configuration
    actual     bytea not null, -- sealed JSON: store.Actual, the documents that are in the cluster
    actual_key text not null references encryption_keys,
    found_at   timestamptz not null default now()
);

-- How a cluster that was not made here is reached.
create table cluster_connections (
    cluster_id     uuid primary key references clusters on delete cascade,
    kubeconfig     bytea not null, -- sealed
    kubeconfig_key text not null references encryption_keys,
    server         text not null,  -- the address in it, for people
    version        text not null,  -- of Kubernetes, as the connection check saw it
    tested_at      timestamptz not null default now()
);

alter table clusters
    add column attached boolean not null default false, -- not made here: its machines are somebody else's
    add column left_items jsonb not null default '[]',  -- names of what was left behind
    add column silence_told boolean not null default false, -- people were told that its agent is silent
    drop constraint clusters_status_check,
    add constraint clusters_status_check check (status in (
        'new', 'configuration_error', 'creating', 'creation_failed', 'in_sync', 'updating',
        'synchronization_failure', 'pending_changes', 'destructive_changes', 'pending_deletion',
        'delete', 'deletion_failed', 'deleted', 'ready_to_join', 'joining', 'detaching', 'detached', 'unknown'));

-- When changes may start by themselves. A cluster without windows of its own has those of its
-- workspace; without any, changes may always start.
create table maintenance_windows (
    id           uuid primary key default gen_random_uuid(),
    workspace_id uuid not null references workspaces on delete cascade,
    cluster_id   uuid references clusters on delete cascade, -- null: of the workspace
    time_zone    text not null,                                           -- such as Europe/Berlin
    days         integer not null check (days between 1 and 127),         -- bits from Monday, 1, to Sunday, 64
    starts       integer not null check (starts between 0 and 1439),      -- minute of the day
    minutes      integer not null check (minutes between 1 and 1440),     -- how long it lasts
    created_by   text not null,
    created_at   timestamptz not null default now()
);
create index maintenance_windows_workspace on maintenance_windows (workspace_id);
create index maintenance_windows_cluster on maintenance_windows (cluster_id);

-- Who is told of what happens in a workspace.
create table notification_channels (
    id           uuid primary key default gen_random_uuid(),
    workspace_id uuid not null references workspaces on delete cascade,
    name         text not null,
    kind         text not null check (kind in ('webhook', 'mail')),
    address      text not null,  -- a URL, or a mail address
    secret       bytea not null, -- sealed: what a webhook is signed with
    secret_key   text not null references encryption_keys,
    events       text[] not null,
    created_by   text not null,
    created_at   timestamptz not null default now(),
    unique (workspace_id, name)
);

-- What was to be told. A row of River's delivers it and tries again.
create table notifications (
    id           uuid primary key default gen_random_uuid(),
    channel_id   uuid not null references notification_channels on delete cascade,
    event        text not null,
    body         jsonb not null,
    attempts     integer not null default 0,
    error        text not null default '', -- of the last attempt
    created_at   timestamptz not null default now(),
    delivered_at timestamptz,
    failed_at    timestamptz -- given up
);
create index notifications_channel on notifications (channel_id, created_at desc);
create index notifications_created on notifications (created_at);

---- create above / drop below ----

drop table notifications, notification_channels, maintenance_windows, cluster_connections, cluster_checks;
alter table clusters
    drop column attached, drop column left_items, drop column silence_told,
    drop constraint clusters_status_check,
    add constraint clusters_status_check check (status in (
        'new', 'configuration_error', 'creating', 'creation_failed', 'in_sync', 'updating',
        'synchronization_failure', 'pending_changes', 'destructive_changes', 'pending_deletion',
        'delete', 'deletion_failed', 'deleted', 'ready_to_join', 'joining', 'detached', 'unknown'));
