package e2e

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/google/uuid"

	"commander/agents/dhctl/phases"
	"commander/fleet"
	"commander/store"
	"commander/web/session"
)

// web starts the pages of a site at an address that stays the same over restarts.
func (s *site) web(address string) *exec.Cmd {
	s.t.Helper()
	pki := filepath.Join(shared.dir, "pki")
	cmd := s.start(shared.program("commander"), "--roles=web,live", "--keys-dir="+s.path("keys"), "--listen="+address,
		"--public-url=https://"+address, "--tls-cert="+filepath.Join(pki, "server.crt"), "--tls-key="+filepath.Join(pki, "server.key"),
		"--oidc-issuer=https://issuer.test", "--oidc-client-id=e2e", "--run-dir="+s.path("run"))
	await(s.t, "the pages are served", time.Minute, func(ctx context.Context) (bool, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil, err
	})
	return cmd
}

// signedIn is a browser with the session of somebody who may do everything.
func (s *site) signedIn(url string) *browser {
	s.t.Helper()
	s.once("grant", "--issuer=https://issuer.test", "--subject=ann", "--role=full", "--workspace=site", "--keys-dir="+s.path("keys"))
	secret, _, err := s.fleet.SignIn(s.t.Context(), fleet.Identity{
		Issuer: "https://issuer.test", Subject: "ann", Email: "ann@example.com", EmailVerified: true, Name: "Ann",
	}, "127.0.0.1")
	if err != nil {
		s.t.Fatal(err)
	}
	b := newBrowser(s.t, 6*time.Minute)
	yes := true
	if _, err := chromedp.Call(b.tab, network.SetCookie, network.SetCookieParams{
		Name: session.Cookie, Value: secret, URL: url, Path: "/", Secure: &yes, HTTPOnly: &yes,
	}); err != nil {
		s.t.Fatal(err)
	}
	return b
}

// beside is another tab of the same browser.
func (b *browser) beside() *browser {
	b.t.Helper()
	tab, cancel := chromedp.NewContext(b.tab)
	b.t.Cleanup(cancel)
	other := &browser{t: b.t, tab: tab}
	if err := chromedp.Do(tab, chromedp.Navigate("about:blank")); err != nil {
		b.t.Fatal(err)
	}
	if err := chromedp.Listen(tab, other.hear); err != nil {
		b.t.Fatal(err)
	}
	return other
}

// TestCommanderRestartsUnderOpenPages takes Commander away under a task's page and the list of
// clusters while the task runs, once by kill -9 and once as an update does, and lets the task go on
// meanwhile. The pages say that the connection is lost, come back without anybody's doing, and show
// what happened: the whole log, once, and no row of before.
func TestCommanderRestartsUnderOpenPages(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	port, err := freePorts()
	if err != nil {
		t.Fatal(err)
	}
	address := "localhost:" + strconv.Itoa(port)
	url := "https://" + address
	web := c.web(address)
	page := c.signedIn(url)
	list := page.beside()
	list.open(url + "/workspaces/site/clusters")

	// away restarts Commander in a phase of a task; the task ends while nobody serves its page.
	away := func(kind store.TaskKind, phase string, how syscall.Signal, begin func() (*store.Task, error)) {
		t.Helper()
		release := c.hold(kind, phase)
		task, err := begin()
		if err != nil {
			t.Fatal(err)
		}
		c.awaitHeld("the "+string(kind), task.ID)
		page.open(url + "/tasks/" + task.ID.String())
		list.open(url + "/workspaces/site/clusters")
		for _, b := range []*browser{page, list} {
			b.until("updates come", visible("#connection", "Live"))
			js[bool](b, `(window.samePage = true)`)
		}
		if kind == store.TaskBootstrap { // a deletion says its first word at the end of this phase
			page.until("the log has begun", `document.querySelector("[data-log] li")`)
		}
		list.until("the cluster is listed", visible("#cluster-list tbody tr", "phoenix"))
		if err := web.Process.Signal(how); err != nil {
			t.Fatal(err)
		}
		for _, b := range []*browser{page, list} {
			b.until("it says that the connection is lost", visible("#connection", "Reconnecting"))
		}
		page.picture("restart-lost-" + string(kind))
		release()
		if now := c.awaitOver("the "+string(kind), task.ID); now.Status != store.TaskSucceeded {
			t.Fatalf("the %s: got %s (%s)", kind, now.Status, now.Error)
		}
		_ = web.Wait()
		web = c.web(address)
		for _, b := range []*browser{page, list} {
			b.until("updates come again", visible("#connection", "Live"))
		}
		page.ends("Succeeded")
		c.showsTheWholeLog(page, task.ID)
		page.picture("restart-back-" + string(kind))
		for _, b := range []*browser{page, list} {
			if !js[bool](b, `window.samePage === true`) {
				t.Error("the page was loaded anew")
			}
			if said := b.complaints(); len(said) > 0 {
				t.Errorf("the browser complained: %q", said)
			}
		}
	}

	var cluster store.Cluster
	away(store.TaskBootstrap, phases.InstallDeckhouse, syscall.SIGKILL, func() (task *store.Task, err error) {
		cluster, task, err = c.fleet.CreateCluster(t.Context(), fleet.System, c.fresh("phoenix", store.Values{"workerCount": 1}))
		return task, err
	})
	list.until("the cluster's row says that it is ready", visible("#cluster-"+cluster.ID.String()+"-row .chip", "Ready"))

	away(store.TaskDestroy, phases.AllNodes, syscall.SIGTERM, func() (*store.Task, error) {
		_, task, err := c.fleet.DeleteCluster(t.Context(), fleet.System, cluster.ID)
		return task, err
	})
	list.until("the row of the deleted cluster is gone", fmt.Sprintf("!document.getElementById(%q)", "cluster-"+cluster.ID.String()+"-row"))
}

// showsTheWholeLog compares the lines on a task's page with those in the database.
func (c *crew) showsTheWholeLog(b *browser, task uuid.UUID) {
	c.t.Helper()
	chunks, err := c.fleet.TaskLog(c.t.Context(), fleet.System, task, 0, 1000)
	if err != nil {
		c.t.Fatal(err)
	}
	var want []string
	for _, chunk := range chunks {
		want = append(want, strings.Split(chunk.Body, "\n")...)
	}
	b.until("the log is whole", fmt.Sprintf(`document.querySelectorAll("[data-log] li").length >= %d`, len(want)))
	if got := js[[]string](b, `[...document.querySelectorAll("[data-log] li > span")].map(l => l.textContent)`); !slices.Equal(got, want) {
		c.t.Errorf("the log says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if numbers := js[[]int](b, `[...document.querySelectorAll("[data-log] li")].map(l => Number(l.dataset.n))`); !slices.IsSorted(numbers) || numbers[0] != 1 || numbers[len(numbers)-1] != len(want) {
		c.t.Errorf("the lines have numbers %v", numbers)
	}
}
