package store_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"commander/store"
	"commander/store/storetest"
)

// plan is a node of what EXPLAIN answers.
type plan struct {
	Kind     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Index    string  `json:"Index Name"`
	Cost     float64 `json:"Total Cost"`
	Plans    []plan
}

// nodes are all nodes of a plan.
func (p plan) nodes() []plan {
	all := []plan{p}
	for _, below := range p.Plans {
		all = append(all, below.nodes()...)
	}
	return all
}

func (p plan) String() string {
	var words []string
	for _, n := range p.nodes() {
		words = append(words, strings.TrimSpace(n.Kind+" "+n.Index))
	}
	return strings.Join(words, " < ")
}

// planner explains statements on one connection. A generic plan is the one that serves all
// parameters: a statement that is prepared and often used may end with it.
type planner struct {
	t    *testing.T
	conn *pgx.Conn
}

func (p planner) explain(generic bool, text string, args []any) plan {
	p.t.Helper()
	ctx := p.t.Context()
	if generic {
		for _, statement := range []string{"set plan_cache_mode = force_generic_plan", "deallocate all", "prepare list as " + text} {
			_, err := p.conn.Exec(ctx, statement, pgx.QueryExecModeSimpleProtocol)
			require.NoError(p.t, err, statement)
		}
		holes := make([]string, len(args))
		for i := range args {
			holes[i] = fmt.Sprintf("$%d", i+1)
		}
		text = "execute list(" + strings.Join(holes, ", ") + ")"
	}
	var body []byte
	row := p.conn.QueryRow(ctx, "explain (format json) "+text, append([]any{pgx.QueryExecModeSimpleProtocol}, args...)...)
	require.NoError(p.t, row.Scan(&body), text)
	var found []struct{ Plan plan }
	require.NoError(p.t, json.Unmarshal(body, &found))
	return found[0].Plan
}

// byIndex fails for a plan that reads the table from its beginning to its end.
func byIndex(t *testing.T, p plan, what string) {
	t.Helper()
	index := false
	for _, n := range p.nodes() {
		require.NotEqual(t, "Seq Scan", n.Kind, "%s: %s", what, p)
		index = index || n.Index != ""
	}
	require.True(t, index, "%s: %s", what, p)
}

// inOrder fails for a plan that sorts: the index must give the order.
func inOrder(t *testing.T, p plan, what string) {
	t.Helper()
	for _, n := range p.nodes() {
		require.NotContains(t, n.Kind, "Sort", "%s: %s", what, p)
	}
}

func TestTheListIsReadByIndexes(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	workspace := fillClusters(t, s, 100_000)
	connection, err := s.Pool.Acquire(t.Context())
	require.NoError(t, err)
	defer connection.Release()
	p := planner{t, connection.Conn()}

	look := func(state string) {
		for _, generic := range []bool{false, true} {
			for _, sort := range listOrders {
				for _, direction := range []string{"", "-"} {
					q := store.ClusterQuery{WorkspaceID: workspace, Sort: direction + sort, Limit: 50}
					text, args, err := q.Statement()
					require.NoError(t, err)
					what := fmt.Sprintf("by %s, generic %v, %s", q.Sort, generic, state)
					got := p.explain(generic, text, args)
					byIndex(t, got, what)
					inOrder(t, got, what)
				}
			}
			for name, q := range filters(workspace) {
				text, args, err := q.Statement()
				require.NoError(t, err)
				what := fmt.Sprintf("%s, generic %v, %s", name, generic, state)
				byIndex(t, p.explain(generic, text, args), what)
				if generic || name != "status" && name != "rare label" {
					continue // what much of the table may have is counted by reading the table
				}
				text, args, err = q.Counting()
				require.NoError(t, err)
				byIndex(t, p.explain(generic, text, args), "count "+what)
			}
		}
	}
	look("with trigrams, where there are any")
	_, err = s.Pool.Exec(t.Context(), "drop extension if exists pg_trgm cascade")
	require.NoError(t, err)
	look("without trigrams")

	archive := store.ClusterQuery{WorkspaceID: workspace, Archived: true, Sort: "-archived", Limit: 50}
	text, args, err := archive.Statement()
	require.NoError(t, err)
	byIndex(t, p.explain(false, text, args), "the archive")
}
