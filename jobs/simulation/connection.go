package simulation

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"commander/fleet"
	"commander/store"
)

// database runs transactions one after another, at a time that it is told: rows in memory, or
// PostgreSQL.
type database interface {
	// run does fn in one transaction and returns the deliveries that fn made.
	run(ctx context.Context, now time.Time, fn func(pgx.Tx, store.Querier) error) ([]delivery, error)
	// settled notes what became of a delivery.
	settled(ctx context.Context, now time.Time, id int64, state string) error
}

// connection is what one actor has of the database. Each question takes a while, in which anything
// may happen to the actor or to the database.
type connection struct {
	store.Querier // nil

	w    *world
	p    *process
	name string
	// delivery is what a worker's connection is for.
	delivery fleet.Delivery
	asked    int // the time, for a fault
}

// errGone answers a process that is dead: whatever it still does reaches nobody.
var errGone = errors.New("the process is dead")

// errConnection is what PostgreSQL says when it ends a connection.
var errConnection error = &pgconn.PgError{Code: "57P01", Message: "the connection broke"}

func (c *connection) begin(ctx context.Context, fn func(pgx.Tx, store.Querier) error) error {
	return c.ask(ctx, "transaction", fn)
}

// ask does fn as one transaction, unless a fault comes between: before the commit nothing was
// written, after it everything was, and the caller is told the same.
func (c *connection) ask(ctx context.Context, what string, fn func(pgx.Tx, store.Querier) error) error {
	luck := c.w.of(c.name, what)
	time.Sleep(luck.between(time.Millisecond, 900*time.Millisecond))
	c.p.thaw()
	if c.p.dead {
		return errGone
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.w.faulty() && (c.w.databaseAway() || luck.in(150)) {
		if c.w.fault == unnoticed && slices.Contains(c.w.judges, c.p) {
			return errors.New("something is wrong")
		}
		return errConnection
	}
	made, err := c.w.database.run(context.WithoutCancel(ctx), c.w.databaseNow(), c.planted(fn))
	if err != nil {
		return err
	}
	c.w.committed(made)
	if c.w.faulty() && luck.in(150) {
		c.w.tell("%s does not learn of its commit (%s)", c.name, what)
		return errConnection
	}
	return nil
}

func one[R any](ctx context.Context, c *connection, what string, question func(q store.Querier) (R, error)) (answer R, err error) {
	err = c.ask(ctx, what, func(_ pgx.Tx, q store.Querier) error {
		answer, err = question(q)
		return err
	})
	return answer, err
}

// What the rules ask outside of a transaction.

func (c *connection) BeatTask(ctx context.Context, p store.BeatTaskParams) (bool, error) {
	return one(ctx, c, "beat", func(q store.Querier) (bool, error) { return q.BeatTask(ctx, p) })
}

func (c *connection) AppendTaskLog(ctx context.Context, p store.AppendTaskLogParams) (int, error) {
	return one(ctx, c, "log", func(q store.Querier) (int, error) { return q.AppendTaskLog(ctx, p) })
}

func (c *connection) QuietTasks(ctx context.Context, limit time.Duration) ([]uuid.UUID, error) {
	return one(ctx, c, "quiet", func(q store.Querier) ([]uuid.UUID, error) { return q.QuietTasks(ctx, limit) })
}

func (c *connection) Now(ctx context.Context) (time.Time, error) {
	return one(ctx, c, "now", func(q store.Querier) (time.Time, error) { return q.Now(ctx) })
}

func (c *connection) UndeliveredTasks(ctx context.Context, grace time.Duration) ([]uuid.UUID, error) {
	return one(ctx, c, "undelivered", func(q store.Querier) ([]uuid.UUID, error) { return q.UndeliveredTasks(ctx, grace) })
}

func (c *connection) Cluster(ctx context.Context, id uuid.UUID) (store.Cluster, error) {
	return one(ctx, c, "cluster", func(q store.Querier) (store.Cluster, error) { return q.Cluster(ctx, id) })
}

func (c *connection) Template(ctx context.Context, id uuid.UUID) (store.ClusterTemplate, error) {
	return one(ctx, c, "template", func(q store.Querier) (store.ClusterTemplate, error) { return q.Template(ctx, id) })
}

func (c *connection) TemplateVersion(ctx context.Context, id uuid.UUID) (store.ClusterTemplateVersion, error) {
	return one(ctx, c, "version", func(q store.Querier) (store.ClusterTemplateVersion, error) { return q.TemplateVersion(ctx, id) })
}

func (c *connection) TasksOfCluster(ctx context.Context, p store.TasksOfClusterParams) ([]store.Task, error) {
	return one(ctx, c, "tasks", func(q store.Querier) ([]store.Task, error) { return q.TasksOfCluster(ctx, p) })
}

func (c *connection) ClusterRevision(ctx context.Context, p store.ClusterRevisionParams) (store.ClusterRevision, error) {
	return one(ctx, c, "revision", func(q store.Querier) (store.ClusterRevision, error) { return q.ClusterRevision(ctx, p) })
}
