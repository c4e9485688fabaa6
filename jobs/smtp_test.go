package jobs

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/store"
)

// mailServer takes mails as an SMTP server does and hands over their texts; with a certificate it
// offers encryption, and takes passwords after that.
func mailServer(t *testing.T, certificate *tls.Certificate) (string, chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	mails := make(chan string, 10)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go takeMail(conn, certificate, mails)
		}
	}()
	return l.Addr().String(), mails
}

func takeMail(conn net.Conn, certificate *tls.Certificate, mails chan<- string) {
	defer func() { _ = conn.Close() }()
	say := func(line string) { _, _ = io.WriteString(conn, line+"\r\n") }
	say("220 test")
	in, said := bufio.NewScanner(conn), ""
	for in.Scan() {
		switch word, _, _ := strings.Cut(in.Text(), " "); word {
		case "EHLO":
			if certificate == nil {
				say("250 fine")
			} else {
				say("250-fine\r\n250-AUTH PLAIN\r\n250 STARTTLS")
			}
		case "STARTTLS":
			say("220 go on")
			encrypted := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12})
			if encrypted.Handshake() != nil {
				return
			}
			conn, in, said, certificate = encrypted, bufio.NewScanner(encrypted), "encrypted\r\n", nil
		case "AUTH", "MAIL", "RCPT":
			said += in.Text() + "\r\n"
			if word == "AUTH" {
				say("235 welcome")
			} else {
				say("250 fine")
			}
		case "DATA":
			say("354 go on")
			var text strings.Builder
			for in.Scan() && in.Text() != "." {
				text.WriteString(in.Text() + "\r\n")
			}
			mails <- said + text.String()
			say("250 taken")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("502 not known")
		}
	}
}

func telling(address string) fleet.Telling {
	return fleet.Telling{Notice: fleet.Notice{ID: uuid.New(), Event: fleet.EventTest, At: time.Unix(1_800_000_000, 0)}, Channel: store.NotificationChannel{Kind: fleet.ChannelMail, Address: address}}
}

// TestMailIsEncryptedOrNotSent gives mail to a server with a certificate that nobody vouches for, to
// one that somebody does, and to one that offers no encryption.
func TestMailIsEncryptedOrNotSent(t *testing.T) {
	t.Parallel()
	other := httptest.NewUnstartedServer(nil) // for its certificate
	other.StartTLS()
	t.Cleanup(other.Close)
	server, mails := mailServer(t, &other.TLS.Certificates[0])
	w := &notifyWorker{mail: Mail{Server: server, From: "commander@example.com", User: "commander", Password: "hunter2"}}
	var unknown x509.UnknownAuthorityError
	if err := w.send(t.Context(), telling("team@example.com")); !errors.As(err, &unknown) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a certificate that nobody vouches for: got %v", err)
	}
	w.mail.Roots = x509.NewCertPool()
	w.mail.Roots.AddCert(other.Certificate())
	if err := w.send(t.Context(), telling("team@example.com")); err != nil {
		t.Fatal(err)
	}
	if got := <-mails; !strings.HasPrefix(got, "encrypted\r\nAUTH PLAIN ") || !strings.Contains(got, "RCPT TO:<team@example.com>") {
		t.Errorf("the server heard %q", got)
	}

	for _, plain := range []bool{false, true} {
		near, far := net.Pipe()
		heard := make(chan string, 1)
		go takeMail(far, nil, heard)
		err := speak(near, "mail.example.com", false, Mail{From: "commander@example.com", Plain: plain}, telling("team@example.com"))
		_ = near.Close()
		if plain && err != nil || !plain && !errors.Is(err, errPlain) {
			t.Errorf("a server without encryption, allowed %v: got %v", plain, err)
		}
		if !plain && len(heard) != 0 {
			t.Error("it was sent all the same")
		}
	}
}

// TestMailServersThatBehaveBadly talks to servers that are silent or talk without an end.
func TestMailServersThatBehaveBadly(t *testing.T) {
	t.Parallel()
	for what, behave := range map[string]func(net.Conn){
		"silent": func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) },
		"endless": func(conn net.Conn) {
			for {
				if _, err := io.WriteString(conn, strings.Repeat("2", 1<<16)); err != nil {
					return
				}
			}
		},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			if conn, err := l.Accept(); err == nil {
				behave(conn)
			}
		}()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		w := &notifyWorker{mail: Mail{Server: l.Addr().String(), From: "commander@example.com"}}
		if err := w.send(ctx, telling("team@example.com")); err == nil || what == "endless" && !strings.Contains(err.Error(), "without an end") {
			t.Errorf("%s: got %v", what, err)
		}
		cancel()
	}
}

// TestNamesCannotForgeMail puts line ends and heads into everything that a mail is made of.
func TestNamesCannotForgeMail(t *testing.T) {
	t.Parallel()
	for _, evil := range []string{"x\r\nBcc: evil@example.com", "x\nBcc: evil@example.com\n\n", "x\r\n.\r\nMAIL FROM:<evil@example.com>", "=?utf-8?q?x?=\r\n Bcc: evil"} {
		told := telling("team@example.com")
		told.Event, told.Cluster, told.Workspace, told.URL = fleet.EventTaskFailed, evil, evil, "https://commander.test/"+evil
		parsed, err := mail.ReadMessage(strings.NewReader(string(message("commander@example.com", told))))
		if err != nil {
			t.Fatal(err)
		}
		if len(parsed.Header) != 8 || parsed.Header.Get("Bcc") != "" || parsed.Header.Get("To") != "<team@example.com>" {
			t.Errorf("%q: the heads are %v", evil, parsed.Header)
		}
	}
	for _, address := range []string{
		"a@example.com\r\nBcc: evil@example.com", "a@example.com>\r\nDATA", "<a@example.com>", "A <a@example.com>", "a@example.com, b@example.com", "a@example.com NOTIFY=NEVER", "\"a\r\nb\"@example.com",
	} {
		if err := (&fleet.NewChannel{Name: "x", Kind: fleet.ChannelMail, Address: address, Events: fleet.Events}).Check(); err == nil {
			t.Errorf("%q is taken for an address", address)
		}
	}
}
