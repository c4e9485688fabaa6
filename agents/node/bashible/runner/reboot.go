package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"time"
)

// kubeletBound is how long kubelet may take to end before the machine starts anew without it.
const kubeletBound = 20 * time.Second

// Reboot starts the machine anew if a step asked for it and that is approved: kubelet ends and the
// Node is marked as not ready first, so that nothing is scheduled to it meanwhile.
func (r *Run) Reboot(ctx context.Context) error {
	if !r.flagged(flagReboot) {
		return nil
	}
	if err := r.Disruption(ctx); err != nil {
		return err
	}
	if err := r.dropFlag(flagReboot); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, kubeletBound)
	defer cancel()
	if err := systemctl(bounded, "stop", "kubelet.service"); err != nil {
		r.log.Warn("kubelet does not end", "error", err)
	}
	if err := r.notReady(ctx); err != nil {
		r.log.Warn("the node is not marked", "error", err)
	}
	return systemctl(ctx, "reboot")
}

func (r *Run) notReady(ctx context.Context) error {
	now := r.clock.Now().UTC().Format(time.RFC3339)
	body, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []any{map[string]any{
		"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "the machine starts anew",
		"lastHeartbeatTime": now, "lastTransitionTime": now,
	}}}})
	if err != nil {
		return fmt.Errorf("write status: %w", err)
	}
	return r.kube.Do(ctx, http.MethodPatch, r.nodePath()+"/status", "application/strategic-merge-patch+json", body, nil)
}

func systemctl(ctx context.Context, arguments ...string) error {
	if said, err := exec.CommandContext(ctx, "systemctl", arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("systemctl %s: %w: %s", arguments[0], err, said)
	}
	return nil
}
