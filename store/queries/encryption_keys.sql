-- name: EncryptionKeys :many
select * from encryption_keys order by id;

-- name: InsertEncryptionKey :exec
insert into encryption_keys (id, proof) values ($1, $2) on conflict do nothing;
