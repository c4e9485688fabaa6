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
	"io"
	"net"
	"net/http"
	"net/smtp"
	"strconv"
	"time"

	"github.com/riverqueue/river"

	"commander/fleet"
)

// Mail is how mail leaves; an empty Server means that it does not.
type Mail struct {
	Server, From string // host:port, and the address that mail comes from
	User         string
	Password     string
}

// notifyLimit bounds one delivery.
const notifyLimit = 20 * time.Second

type notifyWorker struct {
	river.WorkerDefaults[fleet.NotifyArgs]
	fleet  *fleet.Fleet
	client *http.Client
	mail   Mail
}

// Timeout bounds one attempt.
func (w *notifyWorker) Timeout(*river.Job[fleet.NotifyArgs]) time.Duration { return 2 * notifyLimit }

// Work delivers one notification. An error makes River try again, each time later; the last one
// is kept for people to see.
func (w *notifyWorker) Work(ctx context.Context, job *river.Job[fleet.NotifyArgs]) error {
	telling, waits, err := w.fleet.Telling(ctx, job.Args.ID)
	if err != nil || !waits {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, notifyLimit)
	defer cancel()
	failure := w.deliver(bounded, telling)
	if err := w.fleet.Told(ctx, job.Args.ID, failure, job.Attempt >= job.MaxAttempts); err != nil {
		return errors.Join(failure, err)
	}
	return failure
}

func (w *notifyWorker) deliver(ctx context.Context, t fleet.Telling) error {
	if t.Channel.Kind == fleet.ChannelMail {
		return w.send(ctx, t)
	}
	return w.post(ctx, t)
}

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

func (w *notifyWorker) post(ctx context.Context, t fleet.Telling) error {
	body, err := json.Marshal(t.Notice)
	if err != nil {
		return fmt.Errorf("encode notification: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.Channel.Address, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("send notification: %w", err)
	}
	at := strconv.FormatInt(w.fleet.Clock.Now().Unix(), 10)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Commander")
	request.Header.Set(headerID, t.ID.String())
	request.Header.Set(headerTime, at)
	request.Header.Set(headerSignature, Sign(t.Secret, at, body))
	answer, err := w.client.Do(request)
	if err != nil {
		return fmt.Errorf("send notification: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<16))
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("send notification: the receiver answered %s", answer.Status)
	}
	return nil
}

// send mails a notification.
func (w *notifyWorker) send(ctx context.Context, t fleet.Telling) error {
	if w.mail.Server == "" {
		return errors.New("send mail: no mail server is set; start commander with --smtp-server and --smtp-from")
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", w.mail.Server)
	if err != nil {
		return fmt.Errorf("send mail: %w", err)
	}
	defer func() { _ = conn.Close() }()
	if deadline, bounded := ctx.Deadline(); bounded {
		_ = conn.SetDeadline(deadline)
	}
	if err := speak(conn, w.mail, t); err != nil {
		return fmt.Errorf("send mail by %s: %w", w.mail.Server, err)
	}
	return nil
}

// speak leads one conversation in SMTP, encrypted when the server offers it; a password is never
// sent in the clear.
func speak(conn net.Conn, m Mail, t fleet.Telling) error {
	host, _, err := net.SplitHostPort(m.Server)
	if err != nil {
		return err
	}
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		return err
	}
	if offered, _ := c.Extension("STARTTLS"); offered {
		if err := c.StartTLS(tlsFor(host)); err != nil {
			return err
		}
	}
	if m.User != "" {
		if err := c.Auth(smtp.PlainAuth("", m.User, m.Password, host)); err != nil {
			return err
		}
	}
	if err := c.Mail(m.From); err != nil {
		return err
	}
	if err := c.Rcpt(t.Channel.Address); err != nil {
		return err
	}
	data, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := data.Write(message(m.From, t)); err != nil {
		return err
	}
	if err := data.Close(); err != nil {
		return err
	}
	return c.Quit()
}
