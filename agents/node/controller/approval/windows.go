package approval

import (
	"time"

	v1 "commander/agents/node/api/v1"
)

// open says whether a moment lies in any of the windows; none means always. A window that cannot
// be read is closed.
func open(windows []v1.Window, now time.Time) bool {
	if len(windows) == 0 {
		return true
	}
	for _, w := range windows {
		if inside(w, now.UTC()) {
			return true
		}
	}
	return false
}

func inside(w v1.Window, now time.Time) bool {
	from, err1 := time.Parse("15:04", w.From)
	to, err2 := time.Parse("15:04", w.To)
	if err1 != nil || err2 != nil || !onDay(w.Days, now) {
		return false
	}
	begin, end, at := minutes(from), minutes(to), minutes(now)
	if end <= begin { // crosses midnight
		return at >= begin || at <= end
	}
	return at >= begin && at <= end
}

func minutes(t time.Time) int { return t.Hour()*60 + t.Minute() }

func onDay(days []v1.Day, now time.Time) bool {
	for _, day := range days {
		if string(day) == now.Weekday().String()[:3] {
			return true
		}
	}
	return len(days) == 0
}
