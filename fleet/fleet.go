// Package fleet holds the rules of managing clusters: who may do what, which change leads to
// which task, and what must be written together.
package fleet

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"commander/internal/clock"
	"commander/store"
)

// Fleet carries out operations on behalf of actors. It is safe for concurrent use.
type Fleet struct {
	Store *store.Store
	Queue Queue
	Clock clock.Clock
	Log   *slog.Logger
	Settings
}

// Queue is the part of River that the rules need: a job that is delivered once the transaction
// that asked for it is committed.
type Queue interface {
	InsertTx(ctx context.Context, tx pgx.Tx, args river.JobArgs, opts *river.InsertOpts) (*rivertype.JobInsertResult, error)
	InsertManyTx(ctx context.Context, tx pgx.Tx, params []river.InsertManyParams) ([]*rivertype.JobInsertResult, error)
}

// Settings are what the rules must know of the installation.
type Settings struct {
	// PublicURL is where people and agents reach Commander, without a slash at the end.
	PublicURL string
	// CABundle is the PEM of the authorities behind PublicURL's certificate; empty when agents
	// find them among their own.
	CABundle string
	// QuietLimit is how long a running task may be silent before it counts as lost.
	QuietLimit time.Duration
	// FirstAdmin names who has the full role everywhere from the first sign-in on: the subject
	// or the verified mail address that the issuer tells. Empty names nobody.
	FirstAdmin string
}

// DefaultQuietLimit leaves room for the slowest end of a phase and one failover of the database;
// an engine stops itself after half of it.
const DefaultQuietLimit = 2 * time.Minute

// noDataAfter is the age at which an agent's report says nothing about now any more: six reports.
const noDataAfter = 30 * time.Second

// SyncState is what to say of a cluster's Kubernetes configuration, "no_data" when the agent's
// report is missing or older than it may be.
func (f *Fleet) SyncState(reported *time.Time, said store.SyncState) store.SyncState {
	if reported == nil || f.Clock.Now().Sub(*reported) > noDataAfter {
		return NoData
	}
	return said
}

// NoData is the sync state of a cluster whose agent is silent.
const NoData store.SyncState = "no_data"
