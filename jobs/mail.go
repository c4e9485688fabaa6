package jobs

import (
	"bytes"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"strings"
	"time"

	"commander/fleet"
)

var subjects = map[string]string{
	fleet.EventTaskFailed:     "A task failed",
	fleet.EventTaskLost:       "A task was lost",
	fleet.EventApprovalNeeded: "A destructive change waits for approval",
	fleet.EventAgentSilent:    "An agent is silent",
	fleet.EventTest:           "A test",
}

// message is a mail, whole: heads that are safe whatever things are called, and a plain text.
func message(from string, t fleet.Telling) []byte {
	subject := subjects[t.Event]
	if t.Cluster != "" {
		subject += ": " + t.Cluster
	}
	var text strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&text, "%s: %s\r\n", name, value)
		}
	}
	text.WriteString(subjects[t.Event] + ".\r\n\r\n")
	line("Workspace", t.Workspace)
	line("Cluster", t.Cluster)
	line("Task", t.Task)
	line("At", t.At.Format(time.RFC3339))
	text.WriteString("\r\n" + t.URL + "\r\n")
	var out bytes.Buffer
	fmt.Fprintf(&out, "From: Commander <%s>\r\nTo: <%s>\r\nSubject: %s\r\nDate: %s\r\nMessage-ID: <%s@commander>\r\n", from, t.Channel.Address,
		mime.QEncoding.Encode("utf-8", "[Commander] "+subject), t.At.Format(time.RFC1123Z), t.ID)
	out.WriteString("MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n")
	body := quotedprintable.NewWriter(&out)
	_, _ = body.Write([]byte(text.String())) // a buffer takes everything
	_ = body.Close()
	return out.Bytes()
}
