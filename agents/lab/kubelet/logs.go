package kubelet

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// followEvery is how often a followed log gets a line, so that one sees that it is followed.
const followEvery = 2 * time.Second

// logs answers with what a container that runs no program has to say.
func logs(w http.ResponseWriter, r *http.Request) {
	c, query := containerOf(r), r.URL.Query()
	stamped := query.Get("timestamps") == "true"
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if query.Get("previous") == "true" {
		http.Error(w, "the container was never started before", http.StatusBadRequest)
		return
	}
	if query.Get("tailLines") != "0" {
		line := fmt.Sprintf("container %s of pod %s/%s is played by the lab: no program runs in it", c.name, c.namespace, c.pod)
		if _, err := io.WriteString(w, stamp(line, stamped, time.Now())); err != nil {
			return
		}
	}
	if query.Get("follow") != "true" {
		return
	}
	_ = follow(r.Context(), flushing{w}, c, stamped) // ends when the reader goes away
}

// follow writes a line every now and then until ctx ends or the reader goes away.
func follow(ctx context.Context, w io.Writer, c container, stamped bool) error {
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	if _, err := w.Write(nil); err != nil { // sends what is buffered
		return err
	}
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticker.C:
			line := fmt.Sprintf("container %s is still played, line %d of this watch", c.name, n)
			if _, err := io.WriteString(w, stamp(line, stamped, now)); err != nil {
				return nil
			}
		}
	}
}

func stamp(line string, stamped bool, at time.Time) string {
	if stamped {
		return at.UTC().Format(time.RFC3339Nano) + " " + line + "\n"
	}
	return line + "\n"
}

// flushing sends each write at once.
type flushing struct{ w http.ResponseWriter }

func (f flushing) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	if err != nil {
		return n, err
	}
	return n, http.NewResponseController(f.w).Flush()
}
