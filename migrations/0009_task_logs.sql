-- Logs that are written once and found fast: a chunk whose commit's answer was lost is written again
-- and must not stand there twice, and an error or a line is looked for in 200,000 of them.
alter table task_logs
    add column attempt  integer,                    -- that wrote the chunk; null for what others wrote
    add column part     integer,                    -- number of the chunk among those of its attempt, from 1
    add column troubled integer not null default 0; -- number within the chunk of its first line that tells of an error; 0 for none
update task_logs set troubled = coalesce((
    select min(l.number) from unnest(string_to_array(body, E'\n')) with ordinality as l (line, number)
    where l.line ~* '\m(error|fatal|panic|failed)\M'), 0);
create unique index task_logs_part on task_logs (task_id, attempt, part);
create unique index task_logs_line on task_logs (task_id, line);
create index task_logs_troubled on task_logs (task_id, seq) where troubled > 0;

---- create above / drop below ----

drop index task_logs_part, task_logs_line, task_logs_troubled;
alter table task_logs drop column attempt, drop column part, drop column troubled;
