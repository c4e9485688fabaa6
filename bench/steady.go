package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// checkMinutes is the interval of checks of all clusters.
const checkMinutes = 5

// steady measures what many clusters cost that are only checked, and nothing is found. The engine is
// played by a script in a process of its own, whose time is not counted.
func (b *bench) steady(ctx context.Context) ([]figure, error) {
	s, err := b.theSite(ctx)
	if err != nil {
		return nil, err
	}
	c, err := s.crewOf(ctx, "steady")
	defer c.close()
	if err != nil {
		return nil, err
	}
	say("%d clusters are made …", b.Checked)
	if _, err := c.installed(ctx, b.Checked, checkMinutes); err != nil {
		return nil, err
	}
	engine, stop, err := c.dhctl(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = stop() }()
	client, err := c.client(engine, atOnce)
	if err != nil {
		return nil, err
	}
	var before, after state
	var late samples
	if err := c.during(ctx, client, func(ctx context.Context) (err error) {
		// What fell due while the clusters were made comes first.
		if err := until(ctx, time.Second, 10*time.Minute, c.caughtUp); err != nil {
			return err
		}
		if before, err = c.look(ctx); err != nil {
			return err
		}
		if err := pause(ctx, b.Steady); err != nil {
			return err
		}
		if after, err = c.look(ctx); err != nil {
			return err
		}
		late, err = c.seconds(ctx, `select greatest(0, extract(epoch from now() - checked_at) - 60 * check_interval_minutes)::float8 from clusters`)
		return err
	}); err != nil {
		return nil, err
	}
	checks, took := float64(after.checks-before.checks), after.at.Sub(before.at).Seconds()
	if checks == 0 {
		return nil, fmt.Errorf("no check ended in %s", b.Steady)
	}
	each := func(v float64) samples { return samples{v / checks} }
	return []figure{
		{what: fmt.Sprintf("checks a second, of %d clusters every %d minutes", b.Checked, checkMinutes), samples: samples{checks / took}, unit: fraction,
			goal: fmt.Sprintf("%.1f", float64(b.Checked)/checkMinutes/60)},
		{what: "how late a check is", samples: late, unit: seconds},
		{what: "Commander, of one core", samples: samples{100 * (after.ours - before.ours).Seconds() / took}, unit: percent},
		{what: "PostgreSQL, of one core", samples: samples{100 * (after.postgres - before.postgres).Seconds() / took}, unit: percent},
		{what: "CPU time of Commander a check", samples: each((after.ours - before.ours).Seconds()), unit: milliseconds},
		{what: "CPU time of PostgreSQL a check", samples: each((after.postgres - before.postgres).Seconds()), unit: milliseconds},
		{what: "rows written a check", samples: each(float64(after.written - before.written)), unit: fraction},
		{what: "bytes of write-ahead log a check", samples: each(float64(after.wal - before.wal)), unit: kibibytes},
		{what: "rows of tasks that stay, a check", samples: each(float64(after.tasks - before.tasks)), unit: fraction, goal: "0"},
	}, nil
}

func fraction(v float64) string { return fmt.Sprintf("%.1f", v) }
func percent(v float64) string  { return fmt.Sprintf("%.0f %%", v) }

// caughtUp reports whether no check is later than a look of the checker.
func (c *crew) caughtUp(ctx context.Context) error {
	late, err := c.count(ctx, `select count(*) from clusters where checked_at < now() - make_interval(mins => check_interval_minutes) - interval '20 seconds'`)
	if err == nil && late > 0 {
		err = fmt.Errorf("%d checks are late", late)
	}
	return err
}

// state is what was used up to a moment.
type state struct {
	at                          time.Time
	ours, postgres              time.Duration
	checks, tasks, written, wal int64
}

func (c *crew) look(ctx context.Context) (s state, err error) {
	if s.ours, err = cpuOf(os.Getpid()); err != nil {
		return s, err
	}
	if s.postgres, err = c.postgresTime(ctx); err != nil {
		return s, err
	}
	s.at = time.Now()
	err = c.pool.QueryRow(ctx, `select (select coalesce(max(id), 0) from river_job where kind = 'cluster.check'), (select count(*) from tasks),
		(select sum(n_tup_ins + n_tup_upd + n_tup_del) from pg_stat_user_tables)::bigint, (pg_current_wal_lsn() - '0/0')::bigint`).
		Scan(&s.checks, &s.tasks, &s.written, &s.wal)
	if err != nil {
		return s, fmt.Errorf("look at the database: %w", err)
	}
	return s, nil
}

// postgresTime is the CPU time of a server's processes: those that live, and those that it has seen end.
func (c *crew) postgresTime(ctx context.Context) (total time.Duration, err error) {
	var parent int
	var dir string
	if err := c.pool.QueryRow(ctx, "show data_directory").Scan(&dir); err != nil {
		return 0, fmt.Errorf("find PostgreSQL: %w", err)
	}
	body, err := os.ReadFile(filepath.Join(dir, "postmaster.pid"))
	if err == nil {
		first, _, _ := strings.Cut(string(body), "\n")
		parent, err = strconv.Atoi(first)
	}
	if err != nil {
		return 0, fmt.Errorf("find PostgreSQL: %w", err)
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, stat := range stats {
		body, err := os.ReadFile(stat)
		if err != nil {
			continue // it ended meanwhile
		}
		fields := strings.Fields(string(body[strings.LastIndexByte(string(body), ')')+1:]))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
		if len(fields) < 15 || pid != parent && fields[1] != strconv.Itoa(parent) {
			continue
		}
		for _, used := range fields[11:15] { // its own and its ended children's, user and system
			ticks, err := strconv.ParseInt(used, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read CPU time of process %d: %w", pid, err)
			}
			total += time.Duration(ticks) * tick
		}
	}
	return total, nil
}

func collectFloats(rows pgx.Rows) (samples, error) {
	found, err := pgx.CollectRows(rows, pgx.RowTo[float64])
	if err != nil {
		return nil, fmt.Errorf("read numbers: %w", err)
	}
	return found, nil
}
