package store

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Hasher makes hashes under a key of the database, so that sealed values can be compared for
// equality and a stolen copy of the table tells nothing of them. The key stays the same when
// encryption keys change.
type Hasher struct{ key []byte }

// Hasher is the one of a purpose. Its key is made at its first use.
func (tx *Tx) Hasher(ctx context.Context, purpose string) (Hasher, error) {
	row, err := tx.HashKey(ctx, purpose)
	if errors.Is(err, pgx.ErrNoRows) {
		key, id := make([]byte, KeySize), uuid.New()
		_, _ = rand.Read(key) // never fails (crypto/rand)
		fresh := InsertHashKeyParams{Name: purpose, ID: id}
		fresh.Key, fresh.KeyKey = tx.Keys.Seal("hash_keys", "key", id, key)
		if err := tx.InsertHashKey(ctx, fresh); err != nil {
			return Hasher{}, fmt.Errorf("write the hash key %s: %w", purpose, err)
		}
		row, err = tx.HashKey(ctx, purpose) // perhaps that of somebody faster
	}
	if err != nil {
		return Hasher{}, fmt.Errorf("read the hash key %s: %w", purpose, err)
	}
	key, err := tx.Keys.Unseal("hash_keys", "key", row.ID, row.Key, row.KeyKey)
	return Hasher{key}, err
}

// Sum is the hash of some parts, each apart from the others.
func (h Hasher) Sum(parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, h.key)
	for _, part := range parts {
		fmt.Fprintf(mac, "%d:", len(part))
		mac.Write(part)
	}
	return mac.Sum(nil)
}
