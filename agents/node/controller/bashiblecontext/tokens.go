package bashiblecontext

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
)

// A token that machines are given works for at least tokenLeft after that; it is replaced before.
const (
	tokenLife = 6 * time.Hour
	tokenLeft = 3 * time.Hour
)

const (
	tokenType    = corev1.SecretType("bootstrap.kubernetes.io/token")
	tokenGroup   = "system:bootstrappers:d8-node-manager"
	tokenID      = "token-id"
	tokenSecret  = "token-secret"
	tokenExpires = "expiration"
)

// token is one by which a machine may join a group, as <id>.<secret>. Kubernetes removes tokens
// that have expired.
func (r *Reconciler) token(ctx context.Context, group string) (string, error) {
	known := new(corev1.SecretList)
	if err := r.Direct.List(ctx, known, client.InNamespace(systemNamespace), client.MatchingLabels{api.LabelTokenGroup: group}); err != nil {
		return "", fmt.Errorf("list bootstrap tokens: %w", err)
	}
	now := r.Clock.Now()
	best, until := "", now.Add(tokenLeft)
	for _, s := range known.Items {
		expires, err := time.Parse(time.RFC3339, string(s.Data[tokenExpires]))
		if s.Type == tokenType && err == nil && expires.After(until) {
			best, until = string(s.Data[tokenID])+"."+string(s.Data[tokenSecret]), expires
		}
	}
	if best != "" {
		return best, nil
	}
	// rand.Text has 26 characters of five bits each: six name the token and sixteen keep it secret.
	id, secret := strings.ToLower(rand.Text()[:6]), strings.ToLower(rand.Text()[:16])
	err := r.Client.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: systemNamespace, Name: "bootstrap-token-" + id, Labels: map[string]string{api.LabelTokenGroup: group},
		},
		Type: tokenType,
		StringData: map[string]string{
			tokenID: id, tokenSecret: secret, tokenExpires: now.Add(tokenLife).UTC().Format(time.RFC3339), "auth-extra-groups": tokenGroup,
			"usage-bootstrap-authentication": "true", "usage-bootstrap-signing": "true",
		},
	})
	if err != nil {
		return "", fmt.Errorf("make bootstrap token: %w", err)
	}
	return id + "." + secret, nil
}
