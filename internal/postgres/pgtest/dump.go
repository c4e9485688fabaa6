package pgtest

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// What a dump shows at most: it is read by a person, beside a failed test.
const (
	dumpRows  = 20
	dumpWidth = 400 // characters of a row
)

// dump lists the rows of all tables that have any.
func dump(ctx context.Context, address string) string {
	var out strings.Builder
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err.Error()
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, "select quote_ident(schemaname) || '.' || quote_ident(tablename) from pg_tables where schemaname not in ('pg_catalog', 'information_schema') order by 1")
	if err != nil {
		return err.Error()
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err.Error()
	}
	for _, table := range tables {
		rows, err := conn.Query(ctx, fmt.Sprintf("select left(to_jsonb(t)::text, %d) from %s t limit %d", dumpWidth, table, dumpRows+1))
		if err != nil {
			fmt.Fprintf(&out, "%s: %v\n", table, err)
			continue
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			fmt.Fprintf(&out, "%s: %v\n", table, err)
			continue
		}
		for i, line := range lines {
			if i == dumpRows {
				line = "and more"
			}
			fmt.Fprintf(&out, "%s: %s\n", table, line)
		}
	}
	return out.String()
}
