package dhctl

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var after atomic.Int64
		s := newSilence(time.Minute, func() { after.Store(int64(time.Since(begin))) })
		defer s.end()
		for range 5 {
			<-time.After(50 * time.Second)
			s.heard()
		}
		<-time.After(59 * time.Second)
		if expired := time.Duration(after.Load()); expired != 0 {
			t.Fatalf("expired after %s although something was heard in each minute", expired)
		}
		<-time.After(time.Hour)
		want := 5*50*time.Second + time.Minute
		if expired := time.Duration(after.Load()); expired != want {
			t.Errorf("expired after %s, want %s", expired, want)
		}
		s.heard() // too late: it must not begin anew
	})
}

func TestSilenceWithoutLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSilence(0, func() { t.Error("expired without a limit") })
		<-time.After(1000 * time.Hour)
		s.heard()
		s.end()
	})
}
