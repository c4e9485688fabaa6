// Package store keeps the facts in PostgreSQL: the queries that sqlc made of queries/*.sql, the
// columns that are sealed, and the notices about what changed.
package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"commander/internal/fault"
)

// Store is the database of the product. It is safe for concurrent use.
type Store struct {
	Querier
	Pool *pgxpool.Pool
	Keys *Keyring
	topics
	// begin runs one try of a transaction.
	begin func(ctx context.Context, fn func(inner pgx.Tx, q Querier) error) error
}

// longestTransaction bounds every transaction, since whoever sweeps over changed_at looks back
// just past it: a row committed later carries an earlier time.
const longestTransaction = 30 * time.Second

// Connect opens a pool whose sessions speak UTC and end transactions that last too long.
// maxConns of zero leaves pgx's default.
func Connect(ctx context.Context, url string, maxConns int) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the database URL: %w", hideURL(err))
	}
	if maxConns > 0 {
		config.MaxConns = int32(maxConns)
	}
	limit := fmt.Sprintf("%dms", longestTransaction.Milliseconds())
	config.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = limit
	config.ConnConfig.RuntimeParams["application_name"] = "commander"
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	return pool, nil
}

// hideURL keeps the password of a malformed URL out of the message.
func hideURL(err error) error {
	var parse *pgconn.ParseConfigError
	if errors.As(err, &parse) {
		return errors.New("it is not a PostgreSQL URL or connection string")
	}
	return err
}

// Open returns a store over a migrated database. It fails when the keys do not fit the database.
func Open(ctx context.Context, pool *pgxpool.Pool, keys *Keyring) (*Store, error) {
	s := On(pool, keys)
	if err := keys.prove(ctx, s.Querier); err != nil {
		return nil, err
	}
	return s, nil
}

// On returns a store over a database that is known to fit the keys.
func On(pool *pgxpool.Pool, keys *Keyring) *Store {
	queries := New(pool)
	s := Over(queries, keys, func(ctx context.Context, fn func(pgx.Tx, Querier) error) error {
		return pgx.BeginFunc(ctx, pool, func(inner pgx.Tx) error { return fn(inner, queries.WithTx(inner)) })
	})
	s.Pool = pool
	return s
}

// Over returns a store over any queries, with begin to run one transaction of them. It lets the rules
// run over something that is not PostgreSQL, with faults and times of a test's choice.
func Over(q Querier, keys *Keyring, begin func(ctx context.Context, fn func(inner pgx.Tx, q Querier) error) error) *Store {
	return &Store{Querier: q, Keys: keys, begin: begin}
}

// Tx is one transaction: its queries, and itself for whoever must join it (River's InsertTx).
type Tx struct {
	Querier
	Tx   pgx.Tx
	Keys *Keyring

	changed []string
}

// Changed notes a topic that live pages should look at again once the transaction is committed.
func (tx *Tx) Changed(topics ...string) { tx.changed = append(tx.changed, topics...) }

// InTx runs fn in one transaction and afterwards publishes the topics that fn changed.
// Serialization failures and deadlocks are tried again: fn must have no effect outside of tx.
func (s *Store) InTx(ctx context.Context, fn func(tx *Tx) error) error {
	const tries = 3
	for try := 1; ; try++ {
		tx := &Tx{Keys: s.Keys}
		err := s.begin(ctx, func(inner pgx.Tx, q Querier) error {
			tx.Tx, tx.Querier = inner, q
			return fn(tx)
		})
		if err == nil {
			s.Publish(tx.changed...)
			return nil
		}
		if try == tries || !again(err) {
			return AsFault(err)
		}
	}
}

func again(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}

// Unique reports whether an error is the violation of the named unique index.
func Unique(err error, index string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23505" && pg.ConstraintName == index
}

// AsFault gives what the database says a kind: no row is NotFound, a database that is away is
// Unavailable, a text that it cannot hold is Invalid. Faults and other errors pass unchanged.
func AsFault(err error) error {
	var known *fault.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return fault.Wrap(fault.NotFound, err, "fault.not_found")
	}
	if Away(err) {
		return fault.Wrap(fault.Unavailable, err, "fault.database_away")
	}
	if unstorable(err) {
		return fault.Wrap(fault.Invalid, err, "fault.unstorable")
	}
	return err
}

// unstorable reports whether an error means that a text has characters that PostgreSQL cannot
// hold: zeros, or bytes that are no UTF-8.
func unstorable(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "22021" || pg.Code == "22P05")
}

// Away reports whether an error means that the database cannot be reached now, or did not answer in
// the time that it was given: asking again later helps.
func Away(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return false
	}
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		// Class 57P is a server that stops or starts; 53300 has no connection to give; 08 is the connection itself.
		return pg.Code == "57P01" || pg.Code == "57P02" || pg.Code == "57P03" || pg.Code == "53300" || pg.Code[:2] == "08"
	}
	return pgconn.SafeToRetry(err) || errors.Is(err, pgx.ErrTxClosed) || isNetwork(err)
}
