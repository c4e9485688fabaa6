package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"commander/internal/run"
)

// lead makes work that is done only while this replica is the leader. Who stops leading ends: the
// controllers cannot begin twice in one process.
func lead(client kubernetes.Interface, log *slog.Logger, work func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		host, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("find own name: %w", err)
		}
		chosen := make(chan struct{})
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "dvp-cloud-controller-manager"},
				Client:    client.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: host + "_" + uuid.NewString()},
			},
			LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { close(chosen) },
				OnStoppedLeading: func() {},
				OnNewLeader:      func(identity string) { log.InfoContext(ctx, "leader chosen", "leader", identity) },
			},
		})
		if err != nil {
			return fmt.Errorf("take part in the election: %w", err)
		}
		// The group ends the one when the other ends.
		var group run.Group
		group.Add("election", func(ctx context.Context) error {
			if elector.Run(ctx); ctx.Err() != nil {
				return nil
			}
			return errors.New("another replica leads now")
		})
		group.Add("work", func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				return nil
			case <-chosen:
				return work(ctx)
			}
		})
		return group.Run(ctx)
	}
}
