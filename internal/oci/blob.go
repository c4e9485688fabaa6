package oci

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
)

// Blob writes a blob of the client's repository, however long that takes: ctx bounds it. It fails
// with ErrNotFound if there is none, and with ErrProtocol if what came has another digest; then
// what was written must be thrown away.
func (c *Client) Blob(ctx context.Context, wanted string, into io.Writer) error {
	hexadecimal, is := strings.CutPrefix(wanted, "sha256:")
	if !is {
		return fmt.Errorf("read blob: %w: the digest %q is of another kind", ErrProtocol, wanted)
	}
	patient := *c.http
	patient.Timeout = 0
	response, err := c.ask(ctx, &patient, c.address("", "blobs", wanted), "*/*")
	if err != nil {
		return fmt.Errorf("read blob %s: %w", wanted, err)
	}
	defer func() { _ = response.Body.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(into, sum), response.Body); err != nil {
		return fmt.Errorf("read blob %s: %w", wanted, broken(err))
	}
	if got := digest(sum); got != hexadecimal {
		return fmt.Errorf("read blob %s: %w: it has the digest %s", wanted, ErrProtocol, got)
	}
	return nil
}
