package migrations

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// trigramIndexes make "contains" quick in long lists. Without them the same statements read more.
var trigramIndexes = []string{
	"create index if not exists clusters_found_trgm on clusters using gin (found_by gin_trgm_ops)",
	"create index if not exists records_label_trgm on records using gin (lower(label) gin_trgm_ops)",
}

// trigrams uses pg_trgm where the server has it and we may switch it on. It is no migration: a
// database that gets the extension later has the indexes from the next start on.
func trigrams(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, "create extension if not exists pg_trgm")
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return nil // it is not installed, or whoever runs the database has to allow it
	}
	if err != nil {
		return fmt.Errorf("look for pg_trgm: %w", err)
	}
	for _, index := range trigramIndexes {
		if _, err := conn.Exec(ctx, index); err != nil {
			return fmt.Errorf("make an index of trigrams: %w", err)
		}
	}
	return nil
}
