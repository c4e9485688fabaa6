package commander

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"commander/agents/agentapi"
)

// prune sees to objects that left the configuration: those of controlled groups are deleted,
// others are labelled as orphans and kept. It touches nothing that the agent did not make.
func (s *syncer) prune(ctx context.Context, plan []*task, broken map[string]bool) ([]agentapi.ObjectResult, error) {
	wanted := map[id]bool{}
	unclear := map[schema.GroupKind]bool{} // kinds whose wanted objects cannot be told by id
	for _, t := range plan {
		if !t.known() {
			unclear[t.kind().GroupKind()] = true
			continue
		}
		wanted[t.id] = true
	}
	var gone []entry
	for which, e := range s.inventory.entries {
		if !wanted[which] && !broken[e.Group] && !unclear[which.kind] {
			gone = append(gone, e)
		}
	}
	// The reverse of the order of applying: what lies in a namespace goes before it.
	slices.SortFunc(gone, func(a, b entry) int { return rank(b.gvk()) - rank(a.gvk()) })
	var results []agentapi.ObjectResult
	for _, e := range gone {
		left, err := s.pruneOne(ctx, e)
		if err != nil && lost(err) {
			return nil, err
		}
		if r := e.left(left, err); r != nil {
			results = append(results, *r)
		}
	}
	return results, nil
}

// left is what there is to report about an object after it left the configuration; nil if it is
// gone.
func (e entry) left(stays bool, err error) *agentapi.ObjectResult {
	r := agentapi.ObjectResult{
		ResourceGroup: e.Group, Group: e.APIGroup, Version: e.Version, Kind: e.Kind,
		Namespace: e.Namespace, Name: e.Name, State: agentapi.ObjectOrphan,
	}
	switch {
	case err != nil:
		r.State, r.Error = agentapi.ObjectFailed, errorText(fmt.Errorf("take out of the cluster: %w", err))
	case !stays:
		return nil
	}
	return &r
}

// pruneOne says whether the object stays as an orphan.
func (s *syncer) pruneOne(ctx context.Context, e entry) (stays bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	which := e.id()
	forget := func() {
		delete(s.inventory.entries, which)
		delete(s.marks, which)
	}
	r, err := s.kube.find(ctx, e.gvk())
	if errors.Is(err, errUnknownKind) {
		forget() // with its kind, the object went too
		return false, nil
	}
	if err != nil {
		return false, err
	}
	live, err := s.at(r, which).Get(ctx, e.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		forget()
		return false, nil
	case err != nil:
		return false, err
	case !ours(live.Labels), s.kube.isHome(e):
		forget()
		return false, nil
	case e.Controlled:
		err := s.at(r, which).Delete(ctx, e.Name, metav1.DeleteOptions{
			Preconditions:     &metav1.Preconditions{UID: &live.UID},
			PropagationPolicy: ptr.To(metav1.DeletePropagationBackground),
		})
		if err != nil && !apierrors.IsNotFound(err) {
			return false, err
		}
		forget()
		return false, nil
	}
	if _, marked := live.Labels[agentapi.OrphanLabel]; !marked {
		if err := s.setOrphan(ctx, r, which, true); err != nil {
			return false, err
		}
	}
	e.Orphan = true
	s.inventory.entries[which] = e
	return true, nil
}

// isHome says whether the entry is the agent's own namespace, which it never deletes.
func (k *kube) isHome(e entry) bool {
	return e.APIGroup == "" && e.Kind == "Namespace" && e.Name == k.home
}
