package simulation

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"commander/fleet"
	"commander/store"
)

// Server is a PostgreSQL database in which runs take place one after another, to be compared with
// those in memory.
type Server struct {
	config *pgx.ConnConfig
	keys   *store.Keyring
	given  *given
}

// clock gives a database the time of a bubble. A function named like PostgreSQL's own is found first
// when its schema stands first in search_path; defaults of columns keep the function that they were
// made with, so that they are made anew. Nothing of the product is changed.
const clock = `
create schema simulation;
create function simulation.now() returns timestamptz stable language sql
    as $$ select current_setting('simulation.now')::timestamptz $$;
create function simulation.clock_timestamp() returns timestamptz stable language sql as $$ select simulation.now() $$;
create function simulation.statement_timestamp() returns timestamptz stable language sql as $$ select simulation.now() $$;
create function simulation.transaction_timestamp() returns timestamptz stable language sql as $$ select simulation.now() $$;
do $$
declare c record;
begin
    for c in select table_name, column_name from information_schema.columns
             where table_schema = 'public' and column_default similar to '(pg_catalog.)?now\(\)|CURRENT_TIMESTAMP' loop
        execute format('alter table public.%I alter column %I set default simulation.now()', c.table_name, c.column_name);
    end loop;
end $$;
alter table clusters alter column check_interval_minutes set default 1;
`

// PrepareServer makes a migrated database of its own ready for runs.
func PrepareServer(ctx context.Context, url string) (*Server, error) {
	keys, err := keyring()
	if err != nil {
		return nil, err
	}
	pool, err := store.Connect(ctx, url, 1)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	if _, err := store.Open(ctx, pool, keys); err != nil {
		return nil, fmt.Errorf("introduce the keys: %w", err)
	}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the address of the database: %w", err)
	}
	config.RuntimeParams["search_path"] = "simulation, public, pg_catalog"
	config.RuntimeParams["simulation.now"] = "2000-01-01Z"
	s := &Server{config: config, keys: keys, given: &given{}}
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	if _, err := c.Exec(ctx, clock); err != nil {
		return nil, fmt.Errorf("give the database another clock: %w", err)
	}
	return s, s.give(ctx, store.New(c))
}

func (s *Server) give(ctx context.Context, q store.Querier) (err error) {
	want := givenRows()
	if s.given.workspace, err = q.InsertWorkspace(ctx, store.InsertWorkspaceParams{Slug: want.workspace.Slug, Name: want.workspace.Name}); err != nil {
		return fmt.Errorf("make a workspace: %w", err)
	}
	if s.given.template, err = q.InsertTemplate(ctx, store.InsertTemplateParams{WorkspaceID: s.given.workspace.ID, Name: want.template.Name}); err != nil {
		return fmt.Errorf("make a template: %w", err)
	}
	if s.given.version, err = q.InsertTemplateVersion(ctx, store.InsertTemplateVersionParams{
		TemplateID: s.given.template.ID, Params: want.version.Params, ClusterConfiguration: want.version.ClusterConfiguration,
		ResourceGroups: store.ResourceGroups{},
	}); err != nil {
		return fmt.Errorf("make a version of the template: %w", err)
	}
	return q.SetCurrentTemplateVersion(ctx, store.SetCurrentTemplateVersionParams{ID: s.given.template.ID, CurrentVersionID: &s.given.version.ID})
}

// run is a run's own connection: all transactions go over it, one after another, as they do in memory.
type serverRun struct {
	mu    sync.Mutex // protects what follows
	conn  *pgx.Conn
	river *river.Client[pgx.Tx]
	jobs  []serverJob
}

// serverJob is a job as River keeps it, and what it delivers. Both databases number deliveries alike.
type serverJob struct {
	delivery
	river int64
}

// open gives a run an empty database. The connection is made in the run's bubble: while PostgreSQL
// is asked, time stands still.
func (s *Server) open(ctx context.Context) (*serverRun, error) {
	c, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	if _, err := c.Exec(ctx, "delete from tasks; delete from clusters; delete from audits; delete from river_job"); err != nil {
		return nil, fmt.Errorf("empty the database: %w", err)
	}
	client, err := river.NewClient(riverpgxv5.New(nil), &river.Config{Logger: quiet})
	if err != nil {
		return nil, fmt.Errorf("make a client of River: %w", err)
	}
	return &serverRun{conn: c, river: client}, nil
}

func (s *serverRun) run(ctx context.Context, now time.Time, fn func(pgx.Tx, store.Querier) error) ([]delivery, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := len(s.jobs)
	begin := fmt.Sprintf("begin; set local simulation.now = '%s'", now.Format(time.RFC3339Nano))
	err := pgx.BeginTxFunc(ctx, s.conn, pgx.TxOptions{BeginQuery: begin}, func(tx pgx.Tx) error { return fn(tx, store.New(tx)) })
	if err != nil {
		s.jobs = s.jobs[:known]
		return nil, err
	}
	var made []delivery
	for _, job := range s.jobs[known:] {
		made = append(made, job.delivery)
	}
	return made, nil
}

// InsertTx hands a job in, as production does.
func (s *serverRun) InsertTx(ctx context.Context, tx pgx.Tx, args river.JobArgs, o *river.InsertOpts) (*rivertype.JobInsertResult, error) {
	result, err := s.river.InsertTx(ctx, tx, args, o)
	if err == nil {
		s.note(args, result)
	}
	return result, err
}

// InsertManyTx hands jobs in together.
func (s *serverRun) InsertManyTx(ctx context.Context, tx pgx.Tx, params []river.InsertManyParams) ([]*rivertype.JobInsertResult, error) {
	results, err := s.river.InsertManyTx(ctx, tx, params)
	for i, result := range results {
		s.note(params[i].Args, result)
	}
	return results, err
}

func (s *serverRun) note(args river.JobArgs, made *rivertype.JobInsertResult) {
	if carried, is := args.(interface{ Of() fleet.Delivery }); is {
		d := carried.Of()
		s.jobs = append(s.jobs, serverJob{delivery{id: int64(len(s.jobs) + 1), task: d.TaskID, attempt: d.Attempt, state: "available"}, made.Job.ID})
	}
}

func (s *serverRun) settled(ctx context.Context, now time.Time, id int64, state string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	job := &s.jobs[id-1]
	job.state = state
	var err error
	if state == "running" {
		_, err = s.conn.Exec(ctx, "update river_job set state = 'running', attempted_at = $2, finalized_at = null where id = $1", job.river, now)
	} else {
		_, err = s.conn.Exec(ctx, "update river_job set state = $2::text::river_job_state, finalized_at = $3 where id = $1", job.river, state, now)
	}
	if err != nil {
		return fmt.Errorf("settle job %d: %w", job.river, err)
	}
	return nil
}

// rows reads how a run ended.
func (s *serverRun) rows(ctx context.Context) (*rows, error) {
	r := &rows{}
	for _, job := range s.jobs {
		r.jobs.insert(job.delivery)
	}
	return r, errors.Join(
		collect(ctx, s.conn, &r.clusters, "select * from clusters order by name"),
		collect(ctx, s.conn, &r.tasks, "select * from tasks order by created_at"),
		collect(ctx, s.conn, &r.states, "select * from cluster_states order by written_at"),
		collect(ctx, s.conn, &r.revisions, "select * from cluster_revisions order by created_at"),
		collect(ctx, s.conn, &r.audits, `select workspace_slug, actor_type, actor_name, remote_address, request_id, action, object_type, object_id,
			changes, workspace_id, actor_id from audits`),
	)
}

func collect[R any](ctx context.Context, c *pgx.Conn, t *table[R], sql string) error {
	found, err := c.Query(ctx, sql)
	if err != nil {
		return err
	}
	t.rows, err = pgx.CollectRows(found, pgx.RowToAddrOfStructByPos[R])
	return err
}

// Run lets a seed run on PostgreSQL, as the function Run does in memory.
func (s *Server) Run(t *testing.T, seed uint64, o Options) (end Ended) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		r, err := s.open(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.conn.Close(ctx) }()
		clusters, err := install(ctx, r, r, s.keys, s.given)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // what PostgreSQL cuts off is cut off alike
		w := newWorld(s.keys, clusters, seed, o)
		w.database, w.queue = r, r
		w.run()
		ended, err := r.rows(ctx)
		if err != nil {
			t.Fatal(err)
		}
		end = Ended{w.problem, ended, w.began, s.keys}
	})
	return end
}
