// Package rights lets a program say at its start which rights it lacks, instead of failing at the
// first of them hours later.
package rights

import (
	"context"
	"errors"
	"fmt"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// bound is how long all questions together may take.
const bound = 30 * time.Second

// Right is what may be done to a resource, in a namespace or everywhere.
type Right struct {
	Namespace, Group, Resource, Subresource, Name string
	Verbs                                         []string
}

// Errors of Check.
var (
	// ErrMissing is one of a right that the API server denied.
	ErrMissing = errors.New("a right is missing")
	// ErrUnknown is one of an API server that did not answer, so that nothing is known.
	ErrUnknown = errors.New("rights are not known")
)

// Check asks the API server for each right. The error names all that are missing.
func Check(ctx context.Context, config *rest.Config, where string, all []Right) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("ask for rights %s: %w", where, err)
	}
	var missing []error
	for _, right := range all {
		for _, verb := range right.Verbs {
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: right.Namespace, Group: right.Group, Resource: right.Resource, Subresource: right.Subresource, Name: right.Name, Verb: verb,
			}}}
			answer, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
			if err != nil {
				return fmt.Errorf("%w %s: %w", ErrUnknown, where, err)
			}
			if !answer.Status.Allowed {
				missing = append(missing, fmt.Errorf("%w %s: %s %s", ErrMissing, where, verb, right))
			}
		}
	}
	return errors.Join(missing...)
}

// String is a right as people write it in a role.
func (r Right) String() string {
	text := r.Resource
	if r.Subresource != "" {
		text += "/" + r.Subresource
	}
	if r.Group != "" {
		text += "." + r.Group
	}
	if r.Name != "" {
		text += fmt.Sprintf(" %q", r.Name)
	}
	if r.Namespace != "" {
		text += " in namespace " + r.Namespace
	}
	return text
}
