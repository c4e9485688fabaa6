package csi

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// deviceBound is how long udev may take to show a disk that DVP says is attached.
const deviceBound = 20 * time.Second

// FindDevice finds a disk of this machine by its serial number.
func FindDevice(ctx context.Context, serial string) (string, error) {
	return findDevice(ctx, v1alpha2.DeviceLinkPrefix+serial, deviceBound)
}

// findDevice follows a link, which may have yet to appear.
func findDevice(ctx context.Context, link string, bound time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		device, err := filepath.EvalSymlinks(link)
		if err == nil {
			return device, nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("wait for %s: %w", link, err)
		case <-tick.C:
		}
	}
}
