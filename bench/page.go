package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"commander/views/paths"
	"commander/web/session"
)

// parallel is how many browsers ask at once in the second round.
const parallel = 4

// page measures one page with many clusters, rendered by the server for a signed-in person: time
// and CPU time a request, one after the other and several at once. The floor answers with the same
// bytes.
func (b *bench) page(ctx context.Context) (figures []figure, err error) {
	s, err := b.theSite(ctx)
	if err != nil {
		return nil, err
	}
	secret, err := s.fill(ctx, b.Rows)
	if err != nil {
		return nil, err
	}
	ours, _, err := s.ready(ctx, func(port int) (*child, error) {
		return s.commander(port, "--roles=web,live", "--page-size="+strconv.Itoa(b.Rows))
	})
	defer end(ours, &err)
	if err != nil {
		return nil, err
	}
	list := &visit{site: s, pid: ours.pid(), address: "https://" + on(ours.port) + paths.Clusters(workspace), secret: secret}
	body, err := list.get(ctx)
	if err != nil {
		return nil, err
	}
	if rows := bytes.Count(body, []byte("<tr id=")); rows != b.Rows {
		return nil, fmt.Errorf("the list shows %d rows, want %d", rows, b.Rows)
	}
	floor, _, err := s.ready(ctx, func(port int) (*child, error) {
		return s.floor(port, body)
	})
	defer end(floor, &err)
	if err != nil {
		return nil, err
	}
	same := &visit{site: s, pid: floor.pid(), address: "https://" + on(floor.port) + "/"}
	what := fmt.Sprintf("a page of %d clusters (%.0f KiB)", b.Rows, float64(len(body))/1024)
	for _, at := range []int{1, parallel} {
		least, err := same.round(ctx, b.Requests, at)
		if err != nil {
			return nil, err
		}
		got, err := list.round(ctx, b.Requests, at)
		if err != nil {
			return nil, err
		}
		figures = append(figures, describeRound(what, at, got, least)...)
	}
	return figures, nil
}

// round is what requests cost: the time of each, and the CPU time of the server over all.
type round struct {
	times samples
	cpu   samples // one value: seconds a request
}

func describeRound(what string, at int, got, floor round) []figure {
	how := "one request after the other"
	if at > 1 {
		how = fmt.Sprintf("%d at a time", at)
	}
	const peer = "the same bytes from a bare TLS server"
	return []figure{
		{what: what + ", " + how, samples: got.times, unit: milliseconds, beside: ratio(got.times, floor.times, milliseconds, peer)},
		{what: "CPU time of the process a request, " + how, samples: got.cpu, unit: milliseconds, beside: ratio(got.cpu, floor.cpu, milliseconds, peer)},
	}
}

// visit is what a browser asks for, and of which process.
type visit struct {
	site            *site
	pid             int
	address, secret string
}

// round asks so many times, so many at once, after a few requests that are not counted.
func (v *visit) round(ctx context.Context, requests, at int) (round, error) {
	for range 20 {
		if _, err := v.get(ctx); err != nil {
			return round{}, err
		}
	}
	before, err := cpuOf(v.pid)
	if err != nil {
		return round{}, err
	}
	times := make(samples, requests)
	browsers, within := errgroup.WithContext(ctx)
	browsers.SetLimit(at)
	for n := range times {
		browsers.Go(func() error {
			began := time.Now()
			_, err := v.get(within)
			times[n] = time.Since(began).Seconds()
			return err
		})
	}
	if err := browsers.Wait(); err != nil {
		return round{}, err
	}
	after, err := cpuOf(v.pid)
	return round{times: times, cpu: samples{(after - before).Seconds() / float64(requests)}}, err
}

func (v *visit) get(ctx context.Context) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, v.address, nil)
	if err != nil {
		return nil, err
	}
	if v.secret != "" {
		request.AddCookie(&http.Cookie{Name: session.Cookie, Value: v.secret})
	}
	answer, err := v.site.client.Do(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(answer.Body)
	err = errors.Join(err, answer.Body.Close())
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("ask for %s: %s", v.address, answer.Status)
	}
	return body, err
}
