package session

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/oauth2"
)

// pendingCookie holds a sign-in that is under way, sealed: it ties the answer of the issuer to
// the browser that asked.
const pendingCookie = "__Host-commander-sign-in"

// pendingFor is how long a person may take at the issuer.
const pendingFor = 15 * time.Minute

// pending is a sign-in that is under way.
type pending struct {
	State, Nonce, Verifier string
	Back                   string // local address to return to
	Until                  time.Time
}

func newPending(back string, now time.Time) pending {
	return pending{
		State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(),
		Back: back, Until: now.Add(pendingFor),
	}
}

// Where the sealed value stands, in the terms of the key ring: no column of that name exists, so
// that it can be exchanged with no sealed value of the database.
const sealedTable, sealedColumn = "browser", "sign_in"

func (s *Sessions) putPending(w http.ResponseWriter, p pending) error {
	body, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("write the state of a sign-in: %w", err)
	}
	sealed, key := s.sealer.Seal(sealedTable, sealedColumn, uuid.Nil, body)
	value := base64.RawURLEncoding.EncodeToString(sealed) + "." + base64.RawURLEncoding.EncodeToString([]byte(key))
	put(w, pendingCookie, value, int(pendingFor/time.Second))
	return nil
}

// pendingOf opens the sign-in that a browser is in; the reason why there is none is an errRefused.
func (s *Sessions) pendingOf(r *http.Request) (pending, error) {
	cookie, err := r.Cookie(pendingCookie)
	if err != nil {
		return pending{}, fmt.Errorf("%w: the browser has not begun it", errRefused)
	}
	left, right, _ := strings.Cut(cookie.Value, ".")
	sealed, errSealed := base64.RawURLEncoding.DecodeString(left)
	key, errKey := base64.RawURLEncoding.DecodeString(right)
	if errSealed != nil || errKey != nil {
		return pending{}, fmt.Errorf("%w: its cookie is broken", errRefused)
	}
	body, err := s.sealer.Unseal(sealedTable, sealedColumn, uuid.Nil, sealed, string(key))
	if err != nil {
		return pending{}, fmt.Errorf("%w: %w", errRefused, err)
	}
	var p pending
	if err := json.Unmarshal(body, &p); err != nil {
		return pending{}, fmt.Errorf("%w: %w", errRefused, err)
	}
	if s.clock.Now().After(p.Until) {
		return pending{}, fmt.Errorf("%w: it took too long", errRefused)
	}
	return p, nil
}

// equal compares without telling by its duration how much is equal.
func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
