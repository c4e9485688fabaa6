-- How the machines of a cluster are reached: the documents SSHConfig and SSHHost of a template.
alter table cluster_template_versions add column ssh_configuration text not null default '';

---- create above / drop below ----

alter table cluster_template_versions drop column ssh_configuration;
