package clock

import (
	"testing"
	"time"
)

func TestFakeStandsUntilMoved(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 2, 28, 23, 59, 0, 0, time.UTC)
	var c Clock = At(start)
	if got := c.Now(); !got.Equal(start) {
		t.Fatalf("Now = %v, want %v", got, start)
	}
	fake := c.(*Fake)
	if got, want := fake.Advance(2*time.Minute), start.Add(2*time.Minute); !got.Equal(want) || !c.Now().Equal(want) {
		t.Fatalf("after Advance Now = %v, want %v", c.Now(), want)
	}
	fake.Set(start)
	if got := c.Now(); !got.Equal(start) {
		t.Fatalf("after Set Now = %v, want %v", got, start)
	}
}

func TestSystemIsUTC(t *testing.T) {
	t.Parallel()
	if got := (System{}).Now().Location(); got != time.UTC {
		t.Fatalf("location = %v, want UTC", got)
	}
}
