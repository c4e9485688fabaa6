package fleet_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"commander/fleet"
	"commander/store"
)

// restless are zones with everything that clocks do, each with a year in which they do it: by an hour,
// by half an hour and by two, at midnight, with offsets of half and quarter hours, and by a whole day.
var restless = []struct {
	zone string
	year int
}{
	{"Europe/Berlin", 2026},
	{"America/New_York", 2026},
	{"America/St_Johns", 2026},
	{"Australia/Lord_Howe", 2026},
	{"Australia/Adelaide", 2026},
	{"Pacific/Chatham", 2026},
	{"America/Havana", 2026},
	{"America/Sao_Paulo", 2018},
	{"Asia/Beirut", 2022},
	{"Antarctica/Troll", 2026},
	{"Asia/Tehran", 2021},
	{"Asia/Kolkata", 2026},
	{"Pacific/Apia", 2011},
	{"UTC", 2026},
}

// walk is what the clock on the wall shows, minute by minute.
type walk struct {
	moments []time.Time
	labels  []string
}

// label is a minute of a day as people write it.
func label(day time.Time, minute int) string {
	day = day.AddDate(0, 0, minute/(24*60))
	return fmt.Sprintf("%s %02d:%02d", day.Format(time.DateOnly), minute/60%24, minute%60)
}

func newWalk(zone *time.Location, from time.Time, days int) walk {
	var w walk
	for at := from; at.Before(from.AddDate(0, 0, days)); at = at.Add(time.Minute) {
		w.moments = append(w.moments, at)
		w.labels = append(w.labels, at.In(zone).Format("2006-01-02 15:04"))
	}
	return w
}

// open walks along the minutes and tells of each whether a window is open.
func (w walk) open(window store.MaintenanceWindow) []bool {
	shown := map[string]bool{}
	for _, l := range w.labels {
		shown[l] = true
	}
	within := map[string]bool{}
	out := make([]bool, len(w.labels))
	first, _ := time.Parse("2006-01-02 15:04", w.labels[0])
	last, _ := time.Parse("2006-01-02 15:04", w.labels[len(w.labels)-1])
	for day := first.Truncate(24*time.Hour).AddDate(0, 0, -1); !day.After(last); day = day.AddDate(0, 0, 1) {
		if window.Days&(1<<((int(day.Weekday())+6)%7)) == 0 {
			continue
		}
		seen := false
		for m := range window.Minutes {
			l := label(day, window.Starts+m)
			within[l] = true
			seen = seen || shown[l]
		}
		begin := label(day, window.Starts)
		if seen || begin < w.labels[0] || begin > w.labels[len(w.labels)-1] {
			continue
		}
		for i, l := range w.labels { // the clock never showed it: it opens at what came instead
			if l > begin {
				for j := i; j < min(i+window.Minutes, len(out)); j++ {
					out[j] = true
				}
				break
			}
		}
	}
	for i, l := range w.labels {
		out[i] = out[i] || within[l]
	}
	return out
}

// changes are the moments of a year at which a zone's clocks are put forward or back, or one moment
// where they never are.
func changes(zone *time.Location, year int) []time.Time {
	var found []time.Time
	begin := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	for at := begin; at.Year() == year; at = at.Add(time.Hour) {
		_, before := at.In(zone).Zone()
		_, after := at.Add(time.Hour).In(zone).Zone()
		if before != after {
			found = append(found, at)
		}
	}
	if len(found) == 0 {
		found = []time.Time{begin.AddDate(0, 2, 0)}
	}
	return found
}

// TestWindowsWhereClocksChange compares what is open around each change of the clocks with an oracle
// that walks along the minutes.
func TestWindowsWhereClocksChange(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 24))
	for _, c := range restless {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range changes(zone, c.year) {
			w := newWalk(zone, change.AddDate(0, 0, -4), 8)
			windows := []store.MaintenanceWindow{
				{Days: 127, Starts: 0, Minutes: 24 * 60},
				{Days: 127, Starts: 23*60 + 30, Minutes: 24 * 60},
				{Days: 127, Starts: 2 * 60, Minutes: 60},
				{Days: 127, Starts: 2 * 60, Minutes: 30},
				{Days: 127, Starts: 2*60 + 15, Minutes: 10},
				{Days: 127, Starts: 0, Minutes: 60},
				{Days: 127, Starts: 0, Minutes: 1},
				{Days: 127, Starts: 23 * 60, Minutes: 60},
				{Days: 127, Starts: 22 * 60, Minutes: 6 * 60},
			}
			for range 12 {
				windows = append(windows, store.MaintenanceWindow{
					Days: 1 + random.IntN(127), Starts: random.IntN(24 * 60), Minutes: 1 + random.IntN(24*60),
				})
			}
			for _, window := range windows {
				window.TimeZone = c.zone
				want := w.open(window)
				for i := 36 * 60; i < len(want)-36*60; i += 1 + random.IntN(47) { // the walk's ends lack what went before
					second := time.Duration(random.IntN(60)) * time.Second
					if got := fleet.WindowOpen(window, w.moments[i].Add(second)); got != want[i] {
						t.Fatalf("%s: days %b from %s for %d minutes at %s: got %v, want %v",
							c.zone, window.Days, label(time.Time{}, window.Starts)[11:], window.Minutes, w.labels[i], got, want[i])
					}
				}
			}
		}
	}
}

// TestWindowsSaidInWords are what people are told of windows where clocks change.
func TestWindowsSaidInWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what   string
		zone   string
		starts int
		length int
		moment string
		want   bool
	}{
		{"a window that the spring leaves out opens after the gap", "Europe/Berlin", 2 * 60, 60, "2026-03-29T01:00:00Z", true},
		{"for as long as it lasts", "Europe/Berlin", 2 * 60, 60, "2026-03-29T01:59:00Z", true},
		{"and no longer", "Europe/Berlin", 2 * 60, 60, "2026-03-29T02:00:00Z", false},
		{"in autumn it is open the first time", "Europe/Berlin", 2 * 60, 60, "2026-10-25T00:30:00Z", true},
		{"and the second time", "Europe/Berlin", 2 * 60, 60, "2026-10-25T01:30:00Z", true},
		{"and is over then", "Europe/Berlin", 2 * 60, 60, "2026-10-25T02:00:00Z", false},
		{"a window over the gap ends by the clock", "Europe/Berlin", 60, 240, "2026-03-29T03:00:00Z", false},
		{"half an hour is left out on Lord Howe", "Australia/Lord_Howe", 2 * 60, 30, "2026-10-03T15:30:00Z", true},
		{"the whole week stays whole in autumn", "Europe/Berlin", 0, 24 * 60, "2026-10-25T22:30:00Z", true},
	} {
		at, err := time.Parse(time.RFC3339, c.moment)
		if err != nil {
			t.Fatal(err)
		}
		if got := fleet.WindowOpen(store.MaintenanceWindow{TimeZone: c.zone, Days: 127, Starts: c.starts, Minutes: c.length}, at); got != c.want {
			t.Errorf("%s: got %v", c.what, got)
		}
	}
}
