package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// ClusterQuery asks for clusters of a workspace. The zero value of a filter lets all through.
type ClusterQuery struct {
	WorkspaceID uuid.UUID
	Archived    bool
	// Words are looked for in names and versions; a cluster must have all of them.
	Words    []string
	Statuses []ClusterStatus
	Labels   Labels
	// Sort is a key of clusterOrders, with a minus for the other direction. Equal clusters are
	// ordered by name.
	Sort         string
	Limit, Start int
}

// clusterOrders are the orders of the list. Each has an index (migrations/0006_lists.sql), which the
// other direction reads backwards; that of an archive is read for its few clusters.
var clusterOrders = map[string]string{
	"name":      "c.name asc",
	"-name":     "c.name desc",
	"status":    "c.urgency asc, c.name asc",
	"-status":   "c.urgency desc, c.name desc",
	"version":   "c.version_order asc, c.name asc",
	"-version":  "c.version_order desc, c.name desc",
	"nodes":     "c.node_count asc, c.name asc",
	"-nodes":    "c.node_count desc, c.name desc",
	"created":   "c.created_at asc, c.name asc",
	"-created":  "c.created_at desc, c.name desc",
	"archived":  "c.archived_at asc, c.name asc",
	"-archived": "c.archived_at desc, c.name desc",
}

// where writes the conditions of a query. Each filter that is set is a condition of its own, so
// that each combination is a statement with a plan of its own: one statement for all of them would
// have to be planned for the worst. Nothing in the text comes from outside.
func (q ClusterQuery) where() (string, []any, error) {
	text := "c.workspace_id = $1 and c.archived_at is null"
	if q.Archived {
		text = "c.workspace_id = $1 and c.archived_at is not null"
	}
	args := []any{q.WorkspaceID}
	add := func(condition string, arg any) {
		args = append(args, arg)
		text += fmt.Sprintf(" and "+condition, len(args))
	}
	if len(q.Statuses) > 0 {
		statuses := make([]string, len(q.Statuses))
		for i, s := range q.Statuses {
			statuses[i] = string(s)
		}
		add("c.status = any($%d::text[])", statuses)
	}
	if len(q.Labels) > 0 {
		labels, err := json.Marshal(q.Labels)
		if err != nil {
			return "", nil, fmt.Errorf("encode labels: %w", err)
		}
		add("c.labels @> $%d::jsonb", string(labels))
	}
	for _, word := range q.Words {
		if utf8.RuneCountInString(word) < trigram {
			add("strpos(c.found_by, $%d::text) > 0", word)
			continue
		}
		add("c.found_by like $%d", "%"+LikePattern(word)+"%")
	}
	return text, args, nil
}

// trigram is how long a word must be to be found by an index of trigrams; for a shorter one such an
// index would be read whole.
const trigram = 3

// LikePattern is a text for like in which nothing stands for anything but itself.
func LikePattern(text string) string { return likeEscape.Replace(text) }

var likeEscape = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// statement is the one that finds the ids of a page. Limit is part of its text: a plan must know
// that few rows are wanted.
func (q ClusterQuery) statement() (string, []any, error) {
	where, args, err := q.where()
	if err != nil {
		return "", nil, err
	}
	order, known := clusterOrders[q.Sort]
	if !known {
		order = clusterOrders["name"]
	}
	if q.Archived {
		order += ", c.id" // names are unique only outside of an archive
	}
	args = append(args, q.Start)
	return fmt.Sprintf("select c.id from clusters c where %s order by %s limit %d offset $%d", where, order, q.Limit, len(args)), args, nil
}

func (q ClusterQuery) counting() (string, []any, error) {
	where, args, err := q.where()
	return "select count(*) from clusters c where " + where, args, err
}

// ClusterPage reads the lines of a page of the list, in its order.
func (s *Store) ClusterPage(ctx context.Context, q ClusterQuery) ([]ClusterLine, error) {
	text, args, err := q.statement()
	if err != nil {
		return nil, err
	}
	rows, err := s.Pool.Query(ctx, text, args...)
	if err != nil {
		return nil, fmt.Errorf("find clusters: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	found, err := s.ClusterLinesOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	place := make(map[uuid.UUID]int, len(found))
	for i, line := range found {
		place[line.ID] = i
	}
	lines := make([]ClusterLine, 0, len(found))
	for _, id := range ids {
		if i, there := place[id]; there { // else it went between the two statements
			lines = append(lines, found[i])
		}
	}
	return lines, nil
}

// CountEach tells how many clusters each of several queries finds, on whichever page.
func (s *Store) CountEach(ctx context.Context, queries []ClusterQuery) ([]int64, error) {
	counts := make([]int64, len(queries))
	batch := &pgx.Batch{}
	for i, q := range queries {
		text, args, err := q.counting()
		if err != nil {
			return nil, err
		}
		batch.Queue(text, args...).QueryRow(func(row pgx.Row) error { return row.Scan(&counts[i]) })
	}
	if len(queries) == 0 {
		return counts, nil
	}
	if err := s.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("count clusters: %w", err)
	}
	return counts, nil
}
