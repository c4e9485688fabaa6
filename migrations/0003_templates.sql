-- The parameters of a version as their author wrote them, with comments and order; empty for
-- versions older than this column, whose text is made of params.
alter table cluster_template_versions add column params_text text not null default '';

-- Of the form that made a template: a double submit finds it.
alter table cluster_templates add column form_nonce uuid unique;

-- Which clusters a template has, and whether a version is in use.
create index clusters_template_version on clusters (template_version_id);

---- create above / drop below ----

drop index clusters_template_version;
alter table cluster_templates drop column form_nonce;
alter table cluster_template_versions drop column params_text;
