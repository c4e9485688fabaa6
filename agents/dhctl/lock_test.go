package dhctl

import (
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pb "commander/agents/dhctl/dhctlpb"
)

func TestALockHasOneHolderAndLeavesNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var holders, most atomic.Int32
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			release, err := lock(t.Context(), dir, "a", "test", time.Minute)
			if err != nil {
				t.Error(err)
				return
			}
			most.Store(max(most.Load(), holders.Add(1)))
			holders.Add(-1)
			release()
		})
	}
	all.Wait()
	if most.Load() != 1 {
		t.Errorf("got %d holders at a time", most.Load())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
	release, err := lock(t.Context(), dir, "a", "the first", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if _, err := lock(t.Context(), dir, "a", "the second", lockStep); err == nil || !strings.HasPrefix(err.Error(), pb.BusyPrefix+"the first") {
		t.Errorf("got %v, want that the first holds it", err)
	}
}
