-- What sqlc must know of River's own table; River's migrations create the real one.
create table river_job (
    id    bigint primary key,
    state text not null
);
