package process

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"testing"
)

func TestParseStat(t *testing.T) {
	t.Parallel()
	const rest = " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20"
	for _, c := range []struct {
		name, stat, state string
		start             uint64
		fails             bool
	}{
		{"plain", "7 (etcd) S" + rest, "S", 4242, false},
		{"spaces and parentheses in the name", "7 (a) R (b c) Z" + rest, "Z", 4242, false},
		{"cut off", "7 (etcd) S 1 2", "", 0, true},
		{"empty", "", "", 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			state, start, err := parseStat(c.stat)
			if state != c.state || start != c.start || (err != nil) != c.fails {
				t.Fatalf("got %q, %d, %v, want %q, %d, error %t", state, start, err, c.state, c.start, c.fails)
			}
		})
	}
}

func TestRecycledProcessIDIsSomebodyElse(t *testing.T) {
	t.Parallel()
	me, err := Identify(os.Getpid())
	if err != nil || !me.Alive() {
		t.Fatalf("got %+v, %v for this process, want it alive", me, err)
	}
	for name, other := range map[string]Identity{
		"earlier holder of the id": {PID: me.PID, Start: me.Start - 1, Boot: me.Boot},
		"before a reboot":          {PID: me.PID, Start: me.Start, Boot: "another"},
		"nobody":                   {},
	} {
		if other.Alive() {
			t.Errorf("%s: %+v counts as alive beside %+v", name, other, me)
		}
		if _, err := watch(other); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: watching gave %v, want fs.ErrNotExist", name, err)
		}
	}
}

func TestZombieIsNotAlive(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id, err := Identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	h, err := watch(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-h.ended // it has ended and nobody has collected it: a zombie
	if id.Alive() {
		t.Error("a zombie counts as alive")
	}
	h.close()
	_ = cmd.Wait()
}
