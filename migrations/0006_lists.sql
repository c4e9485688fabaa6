-- Lists that stay quick: what clusters are sorted, filtered and found by stands in one row, so that
-- one index answers each order and each filter of the list.
alter table clusters
    -- Of the newest report; empty and 0 while the agent has never spoken.
    add column kubernetes_version text not null default '',
    add column node_count integer not null default 0;

update clusters c set kubernetes_version = r.kubernetes_version, node_count = r.node_count
from agent_reports r where r.cluster_id = c.id;

alter table clusters
    add column found_by text not null generated always as (name || ' ' || kubernetes_version) stored,
    -- 1.9 comes before 1.10; what is no version comes first.
    add column version_order bigint not null generated always as (
        coalesce(substring(kubernetes_version from '^v?(\d{1,5})')::bigint, 0) * 10000000000
        + coalesce(substring(kubernetes_version from '^v?\d{1,5}\.(\d{1,5})')::bigint, 0) * 100000
        + coalesce(substring(kubernetes_version from '^v?\d{1,5}\.\d{1,5}\.(\d{1,5})')::bigint, 0)) stored,
    -- What a person must look at comes first, what rests comes last.
    add column urgency smallint not null generated always as (case
        when status in ('destructive_changes', 'creation_failed', 'synchronization_failure', 'deletion_failed', 'configuration_error') then 1
        when status in ('pending_changes', 'pending_deletion', 'ready_to_join', 'unknown') then 2
        when status in ('creating', 'updating', 'delete', 'joining') then 3
        when status = 'new' then 4
        else 5 end) stored;

-- Descending orders read these backwards. clusters_name answers the order by name.
create index clusters_by_urgency on clusters (workspace_id, urgency, name) where archived_at is null;
create index clusters_by_version on clusters (workspace_id, version_order, name) where archived_at is null;
create index clusters_by_nodes on clusters (workspace_id, node_count, name) where archived_at is null;
create index clusters_by_creation on clusters (workspace_id, created_at, name) where archived_at is null;
create index clusters_of_status on clusters (workspace_id, status, name) where archived_at is null;
-- Read whole for words that no index of trigrams finds: it is a small part of the table.
create index clusters_found on clusters (workspace_id, found_by) include (name, id) where archived_at is null;
drop index clusters_listing;
create index clusters_archived on clusters (workspace_id, archived_at, name) where archived_at is not null;

create index tasks_of_status on tasks (workspace_id, status, created_at desc);

---- create above / drop below ----

drop index tasks_of_status, clusters_archived, clusters_found, clusters_of_status, clusters_by_creation, clusters_by_nodes,
    clusters_by_version, clusters_by_urgency;
create index clusters_listing on clusters (workspace_id, archived_at, name);
alter table clusters drop column urgency, drop column version_order, drop column found_by, drop column node_count, drop column kubernetes_version;
