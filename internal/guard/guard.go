// Package guard lets only those in whom the cluster's API server knows and allows: it asks with
// TokenReview who sends a request, and with SubjectAccessReview whether that one may.
package guard

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"commander/internal/clock"
)

const (
	// askBound is how long the API server may take to judge; whoever scrapes gives up after ten seconds.
	askBound = 5 * time.Second
	// keep is how long a verdict holds, so that a token that was withdrawn is soon without effect.
	keep = 10 * time.Second
	// keepMost bounds the memory that callers with ever new tokens can take.
	keepMost = 256
)

// Guard judges requests.
type Guard struct {
	client    kubernetes.Interface
	attribute authorizationv1.ResourceAttributes
	clock     clock.Clock

	mu       sync.Mutex // protects verdicts
	verdicts map[[sha256.Size]byte]verdict
}

type verdict struct {
	status int // http.StatusOK if the caller may
	until  time.Time
}

// New makes a guard that lets in whoever may do what the attributes describe.
func New(client kubernetes.Interface, may authorizationv1.ResourceAttributes, c clock.Clock) *Guard {
	return &Guard{client: client, attribute: may, clock: c, verdicts: map[[sha256.Size]byte]verdict{}}
}

// Handler passes on what the guard lets in. Others get 401 without a valid token, 403 without the
// right, and 503 while the API server cannot be asked.
func (g *Guard) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, given := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !given || token == "" {
			http.Error(w, "a bearer token is needed", http.StatusUnauthorized)
			return
		}
		status, err := g.judge(r.Context(), token)
		switch {
		case err != nil:
			http.Error(w, "the API server cannot be asked", http.StatusServiceUnavailable)
		case status != http.StatusOK:
			http.Error(w, http.StatusText(status), status)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func (g *Guard) judge(ctx context.Context, token string) (int, error) {
	key, now := sha256.Sum256([]byte(token)), g.clock.Now()
	g.mu.Lock()
	known, found := g.verdicts[key]
	g.mu.Unlock()
	if found && now.Before(known.until) {
		return known.status, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askBound)
	defer cancel()
	status, err := g.ask(ctx, token)
	if err != nil {
		return 0, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.verdicts) >= keepMost {
		clear(g.verdicts)
	}
	g.verdicts[key] = verdict{status, now.Add(keep)}
	return status, nil
}

func (g *Guard) ask(ctx context.Context, token string) (int, error) {
	who, err := g.client.AuthenticationV1().TokenReviews().Create(ctx,
		&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("review token: %w", err)
	}
	if !who.Status.Authenticated {
		return http.StatusUnauthorized, nil
	}
	user := who.Status.User
	extra := make(map[string]authorizationv1.ExtraValue, len(user.Extra))
	for name, values := range user.Extra {
		extra[name] = authorizationv1.ExtraValue(values)
	}
	may, err := g.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra, ResourceAttributes: &g.attribute,
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("review access: %w", err)
	}
	if !may.Status.Allowed {
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}
