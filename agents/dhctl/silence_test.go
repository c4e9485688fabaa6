package dhctl

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var expired time.Duration
		s := newSilence(time.Minute, func() { expired = time.Since(begin) })
		defer s.end()
		for range 5 {
			<-time.After(50 * time.Second)
			s.heard()
		}
		<-time.After(59 * time.Second)
		if expired != 0 {
			t.Fatalf("expired after %s although something was heard in each minute", expired)
		}
		<-time.After(time.Hour)
		if want := 5*50*time.Second + time.Minute; expired != want {
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
