package jobs

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"syscall"

	"commander/fleet"
)

// Headers of a webhook. The signature is the HMAC-SHA256 of the time, a dot and the body, so that
// nobody can send an old one again later.
const (
	headerTime      = "Commander-Time" // Unix seconds
	headerSignature = "Commander-Signature"
	headerID        = "Commander-Notification" // the same for each try: receivers know repeats by it
)

// Sign is the signature of a webhook's body.
func Sign(secret, at string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(at + "."))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// inside are networks that no webhook reaches unless the operator allows it: whoever may add a channel
// in a workspace could else have Commander ask what only it can reach, such as the metadata of a cloud.
var inside = networks(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
	"::/127", "100::/64", "2001:db8::/32", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
)

// carriers are networks of IPv6 whose addresses hold one of IPv4, each with the byte where it begins:
// NAT64, 6to4 and what is left of IPv4-compatible addresses.
var carriers = map[netip.Prefix]int{
	netip.MustParsePrefix("64:ff9b::/96"): 12, netip.MustParsePrefix("2002::/16"): 2, netip.MustParsePrefix("::/96"): 12,
}

func networks(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

func has(all []netip.Prefix, address netip.Addr) bool {
	return slices.ContainsFunc(all, func(p netip.Prefix) bool { return p.Contains(address) })
}

// reachable tells whether webhooks may go to an address: to any outside, and to those that the operator
// allows.
func reachable(address netip.Addr, allowed []netip.Prefix) bool {
	address = address.Unmap().WithZone("")
	if has(allowed, address) {
		return true
	}
	for carrier, at := range carriers {
		if carrier.Contains(address) && address.Is6() {
			bytes := address.As16()
			within := netip.AddrFrom4([4]byte(bytes[at : at+4]))
			return !has(inside, address) && reachable(within, allowed)
		}
	}
	return !has(inside, address)
}

// mostHeader bounds the headers of an answer; its body is not read at all.
const mostHeader = 32 << 10

// newWebhookClient makes the client that sends webhooks. It looks at each address that it connects to,
// after names were resolved, follows no redirects and asks no proxy: all of these could lead inside.
func newWebhookClient(allowed []netip.Prefix) *http.Client {
	dialer := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if !reachable(to.Addr(), allowed) {
			return fmt.Errorf("%s is an address inside of this installation's networks; an operator may allow it with --webhook-networks", to.Addr())
		}
		return nil
	}}
	return &http.Client{
		Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, MaxResponseHeaderBytes: mostHeader},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}

func (w *notifyWorker) post(ctx context.Context, t fleet.Telling) error {
	body, err := json.Marshal(t.Notice)
	if err != nil {
		return fmt.Errorf("encode notification: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.Channel.Address, bytes.NewReader(body))
	if err != nil {
		return errors.New("send notification: the channel's address is no URL")
	}
	at := strconv.FormatInt(w.fleet.Clock.Now().Unix(), 10)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Commander")
	request.Header.Set(headerID, t.ID.String())
	request.Header.Set(headerTime, at)
	request.Header.Set(headerSignature, Sign(t.Secret, at, body))
	answer, err := w.client.Do(request)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err // the address may hold the receiver's secret
		}
		return fmt.Errorf("send notification: %w", err)
	}
	_ = answer.Body.Close()
	switch {
	case answer.StatusCode/100 == 3:
		return fmt.Errorf("send notification: the receiver answered %d and wants it elsewhere; redirects are not followed: give the channel the final address", answer.StatusCode)
	case answer.StatusCode/100 != 2:
		return fmt.Errorf("send notification: the receiver answered %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	}
	return nil
}
