package fencing

import (
	"os"
	"testing"
	"time"
)

// The kernel's own watchdog, where bench/guest.sh has one: it is fed beyond its timeout and disarmed;
// or it is left alone, and then this test does not end, but the kernel.
func TestRealSoftdog(t *testing.T) {
	how := os.Getenv("COMMANDER_TEST_SOFTDOG")
	if how == "" {
		t.Skip("not run: it may end the kernel that it runs on; bench/guest.sh gives it one")
	}
	const timeout = 4 * time.Second
	device := NewDevice("/dev/watchdog", timeout)
	if err := device.Arm(); err != nil {
		t.Fatal(err)
	}
	if how == "starve" {
		<-time.After(10 * timeout)
		t.Fatal("the kernel lives")
	}
	tick := time.NewTicker(TickOf(timeout))
	defer tick.Stop()
	for range 12 {
		<-tick.C
		if err := device.Feed(); err != nil {
			t.Fatal(err)
		}
	}
	if err := device.Disarm(); err != nil {
		t.Fatal(err)
	}
	<-time.After(2 * timeout) // it would have expired
}
