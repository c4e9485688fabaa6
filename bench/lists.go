package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"commander/store"
	"commander/views/paths"
	"commander/web/session"
)

// multiplied are clusters made of the first one until there are so many, in all states, with labels,
// versions and sizes, each with its last task and its agent's report.
var multiplied = []string{
	`insert into clusters (workspace_id, name, template_version_id, status, was_created, applied_revision, applied_at, checked_at,
	    check_interval_minutes, ssh_public_key, ssh_private_key, ssh_private_key_key, labels, kubernetes_version, node_count, created_at)
	 select c.workspace_id, (array['pay', 'search', 'edge', 'ml'])[1 + i % 4] || '-' || (array['prod', 'stage', 'test'])[1 + i % 3] || '-' || i,
	    c.template_version_id,
	    (array['in_sync', 'in_sync', 'in_sync', 'in_sync', 'in_sync', 'in_sync', 'in_sync', 'destructive_changes', 'synchronization_failure', 'pending_changes'])[1 + i % 10],
	    true, 1, now(), now(), 100000, c.ssh_public_key, c.ssh_private_key, c.ssh_private_key_key,
	    jsonb_build_object('env', (array['prod', 'stage', 'test'])[1 + i % 3], 'team', 't' || i % 40),
	    'v1.' || (36 + i % 2) || '.' || i % 7, i % 40, now() - i * interval '1 minute'
	 from (select * from clusters order by created_at limit 1) c,
	      generate_series(1, $1::integer - (select count(*)::integer from clusters)) i`,
	`insert into tasks (workspace_id, cluster_id, kind, status, revision, created_by, started_at, heartbeat_at, finished_at)
	 select workspace_id, id, 'converge', 'succeeded', revision, 'Admin', now(), now(), now() from clusters c
	 where $1::integer > 0 and not exists (select 1 from tasks t where t.cluster_id = c.id)`,
	`insert into agent_reports (cluster_id, reported_at, first_reported_at, agent_version, kubernetes_version, config_etag,
	    sync_state, cpu_cores, memory_gib, root_disk_gib, pvc_gib, node_count, nodes, objects, fingerprint)
	 select id, now(), now(), '1.0.0', kubernetes_version, '1', 'configured', 6, 12, 60, 10, node_count, '[]', '[]', '\x00' from clusters
	 where $1::integer > 0 on conflict do nothing`,
	`insert into cluster_views (workspace_id, name, query, created_by)
	 select distinct c.workspace_id, v.name, v.query, 'Admin' from clusters c,
	    (values ('Production', '?q=env%3Dprod'), ('Failed tests', '?q=env%3Dtest&status=attention'), ('Old', '?q=1.36&sort=version'),
	            ('Largest of payments', '?q=pay&sort=-nodes'), ('Team seven', '?q=team%3Dt7')) v (name, query)
	 where $1::integer > 0 on conflict do nothing`,
}

// lists measures the list of many clusters as people use it: any order, filter and page, each asked
// for at random, with five saved views. Only the pages' own roles run: the role that looks after
// clusters would start a connector for each of these.
func (b *bench) lists(ctx context.Context) (figures []figure, err error) {
	s, secret, err := b.crowded(ctx)
	if err != nil {
		return nil, err
	}
	ours, _, err := s.ready(ctx, s.pages)
	defer end(ours, &err)
	if err != nil {
		return nil, err
	}
	var times, sizes, typed, counted samples
	random := rand.New(rand.NewPCG(1, 2))
	for n := range b.Requests + 20 {
		q := anyQuery(random)
		took, size, err := s.wire(ctx, "https://"+on(ours.port)+paths.ClusterList(workspace, q), secret, false)
		if err != nil {
			return nil, err
		}
		key, _, err := s.wire(ctx, "https://"+on(ours.port)+paths.ClusterList(workspace, q), secret, true)
		if err != nil {
			return nil, err
		}
		views, _, err := s.wire(ctx, "https://"+on(ours.port)+paths.ClusterViews(workspace), secret, true)
		if err != nil {
			return nil, err
		}
		if n >= 20 { // the first ones warm up
			times.addTime(took)
			typed.addTime(key)
			counted.addTime(views)
			sizes = append(sizes, float64(size))
		}
	}
	return []figure{
		{what: fmt.Sprintf("the list of %d clusters, 50 rows, any filter, order and page", b.Many), samples: times, unit: milliseconds, goal: "p99 ≤ 15 ms"},
		{what: "its size on the wire", samples: sizes, unit: kibibytes, goal: "≤ 30 KiB"},
		{what: "the answer to a key typed into its filter", samples: typed, unit: milliseconds},
		{what: "the counts of its five saved views, fetched when the page is there", samples: counted, unit: milliseconds},
	}, nil
}

func kibibytes(v float64) string { return fmt.Sprintf("%.1f KiB", v/1024) }

// crowded is the site with many clusters, and the secret of a session there.
func (b *bench) crowded(ctx context.Context) (s *site, secret string, err error) {
	if s, err = b.theSite(ctx); err != nil {
		return nil, "", err
	}
	if secret, err = s.fill(ctx, 50); err != nil {
		return nil, "", err
	}
	pool, err := store.Connect(ctx, s.url, 2)
	if err != nil {
		return nil, "", err
	}
	defer pool.Close()
	return s, secret, multiply(ctx, pool, b.Many)
}

func multiply(ctx context.Context, pool *pgxpool.Pool, clusters int) error {
	for _, statement := range multiplied {
		if _, err := pool.Exec(ctx, statement, clusters); err != nil {
			return fmt.Errorf("multiply clusters: %w", err)
		}
	}
	if _, err := pool.Exec(ctx, "vacuum analyze"); err != nil {
		return fmt.Errorf("tidy the database: %w", err)
	}
	return nil
}

// anyQuery is what somebody may ask the list for.
func anyQuery(random *rand.Rand) paths.Query {
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	q := paths.Query{
		Text:       pick("", "", "env=prod", "team=t7", "pay", "search-prod", "1.36", "ml env=test", "-42", "no-such"),
		Status:     pick("", "", "attention", "ready"),
		Sort:       pick("", "name", "status", "version", "nodes"),
		Descending: random.IntN(2) == 0,
	}
	if q.Descending && q.Sort == "" {
		q.Sort = "name"
	}
	if random.IntN(3) == 0 {
		q.Page = 1 + random.IntN(40)
	}
	return q
}

// wire asks as a browser does, and tells how long it took and how many bytes the answer had.
func (s *site) wire(ctx context.Context, address, secret string, fragment bool) (time.Duration, int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, 0, err
	}
	request.Header.Set("Accept-Encoding", "gzip") // set by us, the bytes come as they are
	if fragment {
		request.Header.Set("HX-Request", "true")
	}
	request.AddCookie(&http.Cookie{Name: session.Cookie, Value: secret})
	began := time.Now()
	answer, err := s.client.Do(request)
	if err != nil {
		return 0, 0, err
	}
	defer answer.Body.Close() //nolint:errcheck // it is read to its end
	var body bytes.Buffer
	if _, err := io.Copy(&body, answer.Body); err != nil {
		return 0, 0, err
	}
	if answer.StatusCode != http.StatusOK {
		return 0, 0, fmt.Errorf("ask for %s: %s", address, answer.Status)
	}
	return time.Since(began), body.Len(), nil
}
