package store

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// Keyring holds the keys that seal columns. New values are sealed with the current key; older
// keys stay for what they sealed.
type Keyring struct {
	current string
	aeads   map[string]cipher.AEAD
}

// KeySize is the length of a key in bytes (AES-256).
const KeySize = 32

// NewKeyring makes a keyring of 32-byte keys by their ids; current names the one for new values.
func NewKeyring(current string, keys map[string][]byte) (*Keyring, error) {
	ring := &Keyring{current: current, aeads: map[string]cipher.AEAD{}}
	for id, key := range keys {
		if len(key) != KeySize {
			return nil, fmt.Errorf("encryption key %q has %d bytes instead of %d", id, len(key), KeySize)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, fmt.Errorf("use encryption key %q: %w", id, err)
		}
		if ring.aeads[id], err = cipher.NewGCM(block); err != nil {
			return nil, fmt.Errorf("use encryption key %q: %w", id, err)
		}
	}
	if ring.aeads[current] == nil {
		return nil, fmt.Errorf("the current encryption key %q is not in the keyring", current)
	}
	return ring, nil
}

// Current is the id of the key that seals new values.
func (k *Keyring) Current() string { return k.current }

// place binds a sealed value to where it stands, so that it cannot be moved elsewhere.
func place(table, column string, row uuid.UUID) []byte {
	return fmt.Appendf(nil, "commander/v1\x00%s\x00%s\x00%s", table, column, row)
}

// Seal encrypts a value of a row's column and returns it with the id of its key.
func (k *Keyring) Seal(table, column string, row uuid.UUID, value []byte) (sealed []byte, keyID string) {
	return k.seal(k.current, place(table, column, row), value), k.current
}

func (k *Keyring) seal(keyID string, place, value []byte) []byte {
	aead := k.aeads[keyID]
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(value)+aead.Overhead())
	_, _ = rand.Read(nonce) // never fails (crypto/rand)
	return aead.Seal(nonce, nonce, value, place)
}

// Unseal decrypts a value that Seal made for the same place. It fails when the key is not in the
// keyring, or when the value was changed or moved.
func (k *Keyring) Unseal(table, column string, row uuid.UUID, sealed []byte, keyID string) ([]byte, error) {
	value, err := k.unseal(keyID, place(table, column, row), sealed)
	if err != nil {
		return nil, fmt.Errorf("unseal %s.%s of %s: %w", table, column, row, err)
	}
	return value, nil
}

func (k *Keyring) unseal(keyID string, place, sealed []byte) ([]byte, error) {
	aead := k.aeads[keyID]
	if aead == nil {
		return nil, fmt.Errorf("encryption key %q is not in the keyring", keyID)
	}
	if len(sealed) < aead.NonceSize() {
		return nil, errors.New("the sealed value is too short")
	}
	nonce, body := sealed[:aead.NonceSize()], sealed[aead.NonceSize():]
	value, err := aead.Open(nil, nonce, body, place)
	if err != nil {
		return nil, errors.New("the sealed value was changed, moved or made with another key")
	}
	return value, nil
}

// SealJSON seals a value as JSON.
func (k *Keyring) SealJSON(table, column string, row uuid.UUID, value any) (sealed []byte, keyID string, err error) {
	body, err := json.Marshal(value)
	if err != nil {
		return nil, "", fmt.Errorf("encode %s.%s of %s: %w", table, column, row, err)
	}
	sealed, keyID = k.Seal(table, column, row, body)
	return sealed, keyID, nil
}

// UnsealJSON reads a value that SealJSON sealed into the pointer.
func (k *Keyring) UnsealJSON(table, column string, row uuid.UUID, sealed []byte, keyID string, into any) error {
	body, err := k.Unseal(table, column, row, sealed, keyID)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("decode %s.%s of %s: %w", table, column, row, err)
	}
	return nil
}

// proofPlace is where the text that proves a key stands.
func proofPlace(keyID string) []byte {
	return []byte("commander/v1\x00encryption_keys\x00proof\x00" + keyID)
}

var proofText = []byte("this key fits this database")

// prove compares the keyring with the keys that the database knows: one that the database needs
// must be there and must be the same; a new one is made known.
func (k *Keyring) prove(ctx context.Context, q Querier) error {
	known, err := q.EncryptionKeys(ctx)
	if err != nil {
		return fmt.Errorf("read encryption keys: %w", err)
	}
	seen := map[string]bool{}
	for _, key := range known {
		seen[key.ID] = true
		if k.aeads[key.ID] == nil {
			return fmt.Errorf("the database has values sealed with the encryption key %q, which is not among the configured keys: "+
				"restore that key file or use the database that belongs to these keys", key.ID)
		}
		text, err := k.unseal(key.ID, proofPlace(key.ID), key.Proof)
		if err != nil || !hmac.Equal(text, proofText) {
			return fmt.Errorf("the configured encryption key %q is not the one that this database was sealed with: "+
				"restore the original key file or use the database that belongs to it", key.ID)
		}
	}
	for id := range k.aeads {
		if seen[id] {
			continue
		}
		proof := InsertEncryptionKeyParams{ID: id, Proof: k.seal(id, proofPlace(id), proofText)}
		if err := q.InsertEncryptionKey(ctx, proof); err != nil {
			return fmt.Errorf("make encryption key %q known: %w", id, err)
		}
	}
	return nil
}

// Hash is how tokens and session ids are stored. They are random and long, so that a plain
// SHA-256 cannot be searched.
func Hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// NewSecret returns a random token of 256 bits with a prefix that tells what it is for.
func NewSecret(prefix string) string {
	return prefix + rand.Text() + rand.Text()
}
