package jobs

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/internal/clock"
)

var loopback = networks("127.0.0.0/8", "::1/128")

// verify is what a receiver does, written from what the documentation says: the time is of now, and the
// signature is that of the time and the body.
func verify(secret string, header http.Header, body []byte, now time.Time) error {
	at, err := strconv.ParseInt(header.Get("Commander-Time"), 10, 64)
	if err != nil {
		return err
	}
	if age := now.Sub(time.Unix(at, 0)); age.Abs() > 5*time.Minute {
		return fmt.Errorf("it was signed %s ago", age)
	}
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = fmt.Fprintf(mac, "%d.%s", at, body)
	given, err := hex.DecodeString(strings.TrimPrefix(header.Get("Commander-Signature"), "sha256="))
	if err != nil || !hmac.Equal(given, mac.Sum(nil)) {
		return errors.New("the signature is wrong")
	}
	return nil
}

// told is a notification of a channel with an address, ready to be delivered.
func told(t *testing.T, b *fleettest.Bench, address string) (id uuid.UUID, secret string) {
	t.Helper()
	channel, secret, err := b.AddChannel(t.Context(), b.Admin, b.Workspace.ID, fleet.NewChannel{
		Name: uuid.NewString(), Kind: fleet.ChannelWebhook, Address: address, Events: fleet.Events,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.TestChannel(t.Context(), b.Admin, b.Workspace.ID, channel.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.Store.Pool.QueryRow(t.Context(), "select id from notifications where channel_id = $1", channel.ID).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id, secret
}

func TestAReceiverTellsForgedAndOldWebhooks(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	header := http.Header{}
	at := strconv.FormatInt(now.Unix(), 10)
	header.Set("Commander-Time", at)
	header.Set("Commander-Signature", Sign("secret", at, []byte("{}")))
	if err := verify("secret", header, []byte("{}"), now.Add(time.Minute)); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{
		"another body":   verify("secret", header, []byte("[]"), now),
		"another secret": verify("other", header, []byte("{}"), now),
		"an old one":     verify("secret", header, []byte("{}"), now.Add(time.Hour)),
	} {
		if err == nil {
			t.Errorf("%s passes", what)
		}
	}
	header.Set("Commander-Time", strconv.FormatInt(now.Unix()+1, 10))
	if verify("secret", header, []byte("{}"), now) == nil {
		t.Error("another time passes")
	}
}

// TestReceiversThatBehaveBadly sends webhooks to receivers that redirect, never end or never begin.
func TestReceiversThatBehaveBadly(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	var inside atomic.Int32
	victim := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside.Add(1) }))
	t.Cleanup(victim.Close)
	released := make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/endless": // a body without an end counts as an answer, and is not read
			w.WriteHeader(http.StatusOK)
			for {
				if _, err := io.WriteString(w, strings.Repeat("x", 1<<16)); err != nil {
					return
				}
			}
		case "/silent":
			select {
			case <-r.Context().Done():
			case <-released:
			}
		case "/headers":
			w.Header().Set("X-Long", strings.Repeat("x", 2*mostHeader))
		default:
			code, _ := strconv.Atoi(r.URL.Path[1:])
			w.Header().Set("Location", victim.URL)
			w.WriteHeader(code)
		}
	}))
	t.Cleanup(receiver.Close)
	t.Cleanup(func() { close(released) })
	w := &notifyWorker{fleet: b.Fleet, client: newWebhookClient(loopback), limit: time.Second}
	for path, want := range map[string]string{
		"/endless": "", "/204": "", "/silent": "deadline exceeded", "/headers": "header",
		"/301": "redirects are not followed", "/302": "redirects are not followed", "/307": "redirects are not followed", "/308": "redirects are not followed",
		"/404": "404 Not Found", "/500": "500 Internal Server Error",
	} {
		id, _ := told(t, b, receiver.URL+path)
		err := attempt(t.Context(), w, id, 1)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
	if inside.Load() != 0 {
		t.Error("a redirect was followed")
	}
}

// TestWebhooksStayOutside tries the addresses that only Commander can reach.
func TestWebhooksStayOutside(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"93.184.216.34": true, "2606:2800:220:1::1": true, "64:ff9b::5db8:d822": true,
		"127.0.0.1": false, "127.8.8.8": false, "::1": false, "::": false, "0.0.0.0": false, "::ffff:127.0.0.1": false, "::7f00:1": false,
		"10.1.2.3": false, "172.16.0.1": false, "172.31.255.255": false, "172.32.0.1": true, "192.168.1.1": false, "100.100.100.200": false,
		"169.254.169.254": false, "::ffff:169.254.169.254": false, "64:ff9b::a9fe:a9fe": false, "2002:a9fe:a9fe::1": false, "2002:5db8:d822::1": true,
		"fe80::1": false, "fe80::1%eth0": false, "fd00:ec2::254": false, "ff02::1": false, "224.0.0.1": false, "255.255.255.255": false,
		"192.0.0.192": false, "198.18.0.1": false,
	} {
		if got := reachable(netip.MustParseAddr(address), nil); got != want {
			t.Errorf("%s: got %v, want %v", address, got, want)
		}
	}
	allowed := networks("10.1.0.0/16", "fd00::/8")
	for address, want := range map[string]bool{
		"10.1.2.3": true, "10.2.0.1": false, "::ffff:10.1.2.3": true, "fd00:ec2::254": true, "127.0.0.1": false, "64:ff9b::a01:203": true,
	} {
		if got := reachable(netip.MustParseAddr(address), allowed); got != want {
			t.Errorf("%s with %v allowed: got %v, want %v", address, allowed, got, want)
		}
	}
	b := fleettest.New(t)
	var reached atomic.Bool
	victim := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	t.Cleanup(victim.Close)
	_, port, err := net.SplitHostPort(victim.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	w := &notifyWorker{fleet: b.Fleet, client: newWebhookClient(nil), limit: notifyLimit}
	// Each is this machine by another name.
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]"} {
		id, _ := told(t, b, "http://"+host+":"+port+"/hook")
		if err := attempt(t.Context(), w, id, 1); err == nil {
			t.Errorf("%s was reached", host)
		} else if host == "localhost" && !strings.Contains(err.Error(), "--webhook-networks") {
			t.Errorf("%s: got %v, want what an operator can do", host, err)
		}
	}
	if reached.Load() {
		t.Error("a webhook came in")
	}
}

// TestSecretsOfReceiversStayHidden looks for what a webhook's address holds, and for what it is signed
// with, in whatever people and logs are shown.
func TestSecretsOfReceiversStayHidden(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	const hidden = "T0pSecretT0ken"
	var all strings.Builder
	for _, address := range []string{"http://127.0.0.1:1/services/" + hidden, "https://127.0.0.1:1/?token=" + hidden, "http://127.0.0.1:1/#" + hidden} {
		id, secret := told(t, b, address)
		w := &notifyWorker{fleet: b.Fleet, client: newWebhookClient(loopback), limit: notifyLimit}
		err := attempt(t.Context(), w, id, 1)
		if err == nil {
			t.Fatal("it was delivered")
		}
		all.WriteString(err.Error())
		rows, err := b.Channels(t.Context(), b.Viewer, b.Workspace.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			all.WriteString(row.LastError + fleet.ShownAddress(row.NotificationChannel))
		}
		var audits string
		if err := b.Store.Pool.QueryRow(t.Context(), "select string_agg(changes::text, ' ') from audits").Scan(&audits); err != nil {
			t.Fatal(err)
		}
		all.WriteString(audits)
		if strings.Contains(all.String(), secret) {
			t.Errorf("the secret that a webhook is signed with is in %s", all.String())
		}
	}
	if strings.Contains(all.String(), hidden) {
		t.Errorf("an address is told in %s", all.String())
	}
}

// TestDeliveriesAreTriedForADay adds up the pauses that River makes between the tries.
func TestDeliveriesAreTriedForADay(t *testing.T) {
	t.Parallel()
	var policy river.DefaultClientRetryPolicy
	var all time.Duration
	for n := 1; n < fleet.NotifyAttempts; n++ {
		at := clock.System{}.Now()
		// River counts the errors there are: that of this attempt is added after it asks.
		next := policy.NextRetry(&rivertype.JobRow{Attempt: n, AttemptedAt: &at, Errors: make([]rivertype.AttemptError, n-1)})
		pause := next.Sub(at)
		if pause <= 0 || pause > 12*time.Hour {
			t.Errorf("after try %d: a pause of %s", n, pause)
		}
		all += pause
	}
	if all < 20*time.Hour || all > 30*time.Hour {
		t.Errorf("it is tried for %s, want about a day", all)
	}
}
