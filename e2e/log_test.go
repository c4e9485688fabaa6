package e2e

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"commander/fleet"
	"commander/store"
)

// TestALongLogInABrowser reads a log that is longer than a page of it: its first error, a search, its
// end that grows, and what came while Commander was away.
func TestALongLogInABrowser(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, task, err := s.fleet.CreateCluster(t.Context(), fleet.System, s.fresh("talkative", nil))
	if err != nil {
		t.Fatal(err)
	}
	d := fleet.Delivery{TaskID: task.ID, Attempt: 1}
	if _, err := s.fleet.Claim(t.Context(), d, "test"); err != nil {
		t.Fatal(err)
	}
	var announcing sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	announcing.Go(func() { _ = s.fleet.Store.Announce(ctx) })
	t.Cleanup(func() {
		cancel()
		announcing.Wait()
	})
	lines, parts := 0, 0
	say := func(count int) {
		t.Helper()
		chunk := make([]string, count)
		for i := range chunk {
			lines++
			switch lines {
			case 50:
				chunk[i] = "error: it broke"
			case 60, 2500:
				chunk[i] = "here is the Needle"
			default:
				chunk[i] = fmt.Sprintf("line %d", lines)
			}
		}
		parts++
		if err := s.fleet.AppendLog(t.Context(), d, parts, chunk); err != nil {
			t.Fatal(err)
		}
	}
	for range 6 {
		say(500)
	}
	port, err := freePorts()
	if err != nil {
		t.Fatal(err)
	}
	address := "localhost:" + strconv.Itoa(port)
	web := s.web(address)
	b := s.signedIn("https://" + address)
	b.open("https://" + address + "/tasks/" + task.ID.String())
	b.until("updates come", visible("#connection", "Live"))

	const at = `Number(document.querySelector(".log .at")?.dataset.n)`
	contiguous := func(first, last int) {
		t.Helper()
		b.until(fmt.Sprintf("lines %d to %d are there, each once", first, last), fmt.Sprintf(
			`(n => n[0] === %d && n.at(-1) === %d && n.every((v, i) => v === n[0] + i))([...document.querySelectorAll("[data-log] li")].map(l => Number(l.dataset.n)))`, first, last))
	}
	contiguous(2001, 3000)
	b.press("First error")
	b.until("the error is shown", at+" === 50")
	contiguous(1, 1000)
	b.until("its address can be kept", `location.search === "?line=50"`)

	b.until("the part has settled", `!document.querySelector(".htmx-request, .htmx-swapping, .htmx-settling, .htmx-added")`)
	b.fill("[data-find]", "needle")
	b.until("both lines are found", `document.querySelectorAll("a[data-line]").length === 2`)
	enter := `document.querySelector("[data-find]").dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true, cancelable: true}))`
	js[bool](b, enter+", true")
	b.until("the first one is gone to", at+" === 60")
	js[bool](b, enter+", true")
	b.until("the second one is fetched", at+" === 2500")
	contiguous(2001, 3000)
	b.until("the field for the search keeps the focus", `document.activeElement.name === "q"`)

	b.open("https://" + address + "/tasks/" + task.ID.String() + "?line=50")
	b.until("updates come", visible("#connection", "Live"))
	say(3)
	contiguous(1, 1000) // a part in the middle does not grow
	b.press("Show the end")
	contiguous(2004, 3003)
	b.until("it follows", `document.querySelector("[data-follow]").getAttribute("aria-pressed") === "true"`)
	say(2)
	contiguous(2004, 3005)

	if err := web.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	b.until("it says that the connection is lost", visible("#connection", "Reconnecting"))
	for range 3 {
		say(500)
	}
	_ = web.Wait()
	s.web(address)
	contiguous(3506, 4505) // more came than is sent at once: what is shown has no gap
	b.until("it says what stands before", `document.querySelector("[data-earlier]").textContent === "3505"`)
	for range 6 {
		say(500)
	}
	b.until("a log that is followed keeps its end only", fmt.Sprintf(`(n => n.length <= 3000 && n.at(-1) === %d && n.every((v, i) => v === n[0] + i) &&
		document.querySelector("[data-earlier]").textContent.replace(",", "") === String(n[0] - 1))([...document.querySelectorAll("[data-log] li")].map(l => Number(l.dataset.n)))`, lines))
	if err := s.fleet.Finish(t.Context(), d, fleet.Ending{Status: store.TaskFailed, Error: "it broke"}); err != nil {
		t.Fatal(err)
	}
	b.ends("Failed")
	if said := b.complaints(); len(said) > 0 {
		t.Errorf("the browser complained: %q", said)
	}
}
