package model

import (
	"errors"
	"time"

	"commander/internal/clock"
)

// dog is a watchdog as the kernel has it: it runs on when its device is closed without the letter
// that disarms it, and opening it again feeds it.
type dog struct {
	timeout time.Duration
	clock   clock.Clock
	runs    bool
	held    bool // by the agent
	fed     time.Time
}

var errHeld = errors.New("the device is busy")

func (d *dog) Arm() error {
	if d.held {
		return errHeld
	}
	d.runs, d.held, d.fed = true, true, d.clock.Now()
	return nil
}

func (d *dog) Feed() error {
	if !d.held {
		return errHeld
	}
	d.fed = d.clock.Now()
	return nil
}

func (d *dog) Disarm() error {
	d.runs, d.held = false, false
	return nil
}

func (d *dog) expired() bool { return d.runs && d.clock.Now().Sub(d.fed) > d.timeout }
