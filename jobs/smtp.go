package jobs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/smtp"

	"commander/fleet"
)

// Mail is how mail leaves; an empty Server means that it does not.
type Mail struct {
	Server, From string // host:port, and the address that mail comes from
	User         string
	Password     string
	// Roots are who may vouch for the server; nil for those of the system.
	Roots *x509.CertPool
	// Plain lets mail go unencrypted to a server that offers nothing better.
	Plain bool
}

// implicitTLS is the port whose conversations are encrypted from the first byte on.
const implicitTLS = "465"

// send mails a notification.
func (w *notifyWorker) send(ctx context.Context, t fleet.Telling) error {
	if w.mail.Server == "" {
		return errors.New("send mail: no mail server is set; start commander with --smtp-server and --smtp-from")
	}
	host, port, err := net.SplitHostPort(w.mail.Server)
	if err != nil {
		return fmt.Errorf("send mail: %w", err)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", w.mail.Server)
	if err != nil {
		return fmt.Errorf("send mail: %w", err)
	}
	if deadline, bounded := ctx.Deadline(); bounded {
		_ = conn.SetDeadline(deadline)
	}
	conn = &terse{conn, mostSaid}
	encrypted := port == implicitTLS
	if encrypted {
		conn = tls.Client(conn, w.mail.tls(host))
	}
	defer func() { _ = conn.Close() }()
	if err := speak(conn, host, encrypted, w.mail, t); err != nil {
		return fmt.Errorf("send mail by %s: %w", w.mail.Server, err)
	}
	return nil
}

// mostSaid is how much a mail server may say in one conversation, in bytes.
const mostSaid = 1 << 20

// terse is a connection whose other end may say so much and no more.
type terse struct {
	net.Conn
	left int
}

func (t *terse) Read(b []byte) (int, error) {
	if t.left <= 0 {
		return 0, errors.New("the server talks without an end")
	}
	n, err := t.Conn.Read(b[:min(len(b), t.left)])
	t.left -= n
	return n, err
}

func (m Mail) tls(host string) *tls.Config {
	return &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12, RootCAs: m.Roots}
}

// errPlain says that mail would be readable on its way. A server on this machine may have it so.
var errPlain = errors.New("the server offers no encryption; allow mail without it with --smtp-plain")

// speak leads one conversation in SMTP; a password is never sent in the clear.
func speak(conn net.Conn, host string, encrypted bool, m Mail, t fleet.Telling) error {
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		return err
	}
	if offered, _ := c.Extension("STARTTLS"); offered && !encrypted {
		if err := c.StartTLS(m.tls(host)); err != nil {
			return err
		}
		encrypted = true
	}
	ip := net.ParseIP(host)
	if here := host == "localhost" || ip != nil && ip.IsLoopback(); !encrypted && !m.Plain && !here {
		return errPlain
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
