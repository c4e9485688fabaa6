-- How the people of a cluster want its Kubernetes groups to be kept, where the template lets them
-- choose: by the group's name, true for as declared.
alter table clusters add column group_control jsonb not null default '{}';

---- create above / drop below ----

alter table clusters drop column group_control;
