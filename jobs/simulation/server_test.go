//go:build !race

package simulation_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"commander/jobs/simulation"
	"commander/store/storetest"
)

const (
	onServer = 500
	servers  = 4 // of which one is busy while another waits for PostgreSQL
)

// TestSchedulesEndAlikeOnPostgreSQL holds the rows in memory against what they stand for.
func TestSchedulesEndAlikeOnPostgreSQL(t *testing.T) {
	t.Parallel()
	s := start(t)
	for part := range uint64(servers) {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			server, err := simulation.PrepareServer(t.Context(), storetest.URL(t))
			if err != nil {
				t.Fatal(err)
			}
			for seed := part; seed < onServer; seed += servers {
				want := simulation.Run(t, s, seed, simulation.Options{}).String()
				end := server.Run(t, seed, simulation.Options{})
				if got := end.String(); end.Problem == "" && got != want {
					// Once in many thousand runs, and never again with the same seed, a wait on a busy
					// machine was some milliseconds shorter. What the rules do wrong repeats.
					t.Logf("seed %d differed once\n%s", seed, different(got, want))
					end = server.Run(t, seed, simulation.Options{})
				}
				if got := end.String(); end.Problem != "" || got != want {
					t.Fatalf("seed %d %s: on PostgreSQL and in memory differ\n%s", seed, end.Problem, different(got, want))
				}
			}
		})
	}
}

// different are the lines that only one of two texts has.
func different(got, want string) string {
	var b strings.Builder
	for _, side := range []struct{ sign, of, in string }{{"+ ", got, want}, {"- ", want, got}} {
		for line := range strings.Lines(side.of) {
			if !strings.Contains(side.in, line) {
				b.WriteString(side.sign + line)
			}
		}
	}
	return b.String()
}

// The time of a run reaches PostgreSQL through functions; these words cannot be given another meaning.
func TestQueriesAskForTheTimeByAFunction(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../store/queries/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d files, %v", len(files), err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if word := regexp.MustCompile(`(?i)\b(current_(timestamp|date|time)|localtime(stamp)?)\b`).Find(body); word != nil {
			t.Errorf("%s asks for %s: use now()", file, word)
		}
	}
}
