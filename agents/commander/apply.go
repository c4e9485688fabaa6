package commander

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	"commander/agents/agentapi"
)

// resolve finds where the objects are that it does not know yet, and writes them down in the
// inventory before anything is made. An error means that the API server does not answer.
func (s *syncer) resolve(ctx context.Context, plan []*task) error {
	first := map[id]*task{}
	for _, t := range plan {
		if !t.known() {
			r, err := s.kube.find(ctx, t.kind())
			if errors.Is(err, errUnknownKind) {
				t.err = err
				continue
			}
			if err != nil {
				return err
			}
			t.place, t.err = r, nil
			t.id = id{t.kind().GroupKind(), namespaceOf(t.object, r), t.object.GetName()}
		}
		if other := first[t.id]; other != nil {
			t.err, t.done = fmt.Errorf("the object is also in resource group %q", other.group), true
			continue
		}
		first[t.id] = t
		e := s.inventory.entries[t.id]
		e.Group, e.Controlled = t.group, t.controlled
		e.APIGroup, e.Version, e.Kind = t.id.kind.Group, t.kind().Version, t.id.kind.Kind
		e.Namespace, e.Name = t.id.namespace, t.id.name
		s.inventory.entries[t.id] = e
	}
	return nil
}

// observe marks those controlled objects as done that nobody has touched since this process
// applied the same form. It costs one list of metadata a kind instead of a write an object.
func (s *syncer) observe(ctx context.Context, plan []*task) {
	found := map[schema.GroupVersionResource]map[id]string{}
	for _, t := range plan {
		before, applied := s.marks[t.id]
		if !t.known() || t.done || !t.controlled || !applied {
			continue
		}
		versions, listed := found[t.place.GroupVersionResource]
		if !listed {
			versions = s.versions(ctx, t.place, t.id.kind)
			found[t.place.GroupVersionResource] = versions
		}
		print, err := fingerprint(prepare(t.wantedObject, t.place))
		t.done = err == nil && before.print == print && versions[t.id] == before.version
	}
}

// versions lists the resourceVersions of what the agent made of a kind. What cannot be listed is
// missing from the answer, and so is applied again.
func (s *syncer) versions(ctx context.Context, r place, kind schema.GroupKind) map[id]string {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	versions := map[id]string{}
	options := metav1.ListOptions{LabelSelector: heritageLabel + "=" + heritage + "," + groupLabel, Limit: 500}
	for {
		page, err := s.kube.metadata.Resource(r.GroupVersionResource).List(ctx, options)
		if err != nil {
			return versions
		}
		for _, o := range page.Items {
			versions[id{kind, o.Namespace, o.Name}] = o.ResourceVersion
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return versions
		}
	}
}

// applyAll works off what is not done. Errors of single objects stay with them; an error of the
// connection ends the round.
func (s *syncer) applyAll(ctx context.Context, plan []*task) error {
	for _, t := range plan {
		if t.done || !t.known() {
			continue
		}
		t.err = s.applyOne(ctx, t)
		if t.err == nil {
			t.done = true
			continue
		}
		if lost(t.err) {
			return t.err
		}
	}
	return nil
}

// lost says whether an error is about the connection and not about one object. A call that took
// too long is the object's: a slow admission webhook must not hold up the others.
func lost(err error) bool {
	var status apierrors.APIStatus
	return !errors.As(err, &status) && !errors.Is(err, context.DeadlineExceeded)
}

func (s *syncer) applyOne(ctx context.Context, t *task) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	e := s.inventory.entries[t.id]
	if !t.controlled {
		return s.ensurePresent(ctx, t, e)
	}
	return s.write(ctx, t, e)
}

// ensurePresent sees to an object of an uncontrolled group: it is created once and never touched
// again, except that an orphan which is wanted again loses its label.
func (s *syncer) ensurePresent(ctx context.Context, t *task, e entry) error {
	if !e.Done {
		_, err := s.at(t.place, t.id).Get(ctx, t.id.name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return s.write(ctx, t, e)
		}
		if err != nil {
			return err
		}
	}
	if e.Orphan {
		if err := s.setOrphan(ctx, t.place, t.id, false); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	e.Done, e.Orphan = true, false
	s.inventory.entries[t.id] = e
	return nil
}

// write applies an object with force: what the configuration says wins over other managers.
func (s *syncer) write(ctx context.Context, t *task, e entry) error {
	form := prepare(t.wantedObject, t.place)
	print, err := fingerprint(form)
	if err != nil {
		return err
	}
	live, err := s.kube.dynamic.Resource(t.place.GroupVersionResource).Namespace(t.id.namespace).
		Apply(ctx, t.id.name, form, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	if err != nil {
		return err
	}
	if _, orphan := live.GetLabels()[agentapi.OrphanLabel]; orphan {
		if err := s.setOrphan(ctx, t.place, t.id, false); err != nil {
			return err
		}
	}
	s.marks[t.id] = mark{print, live.GetResourceVersion()}
	e.Done, e.Orphan = true, false
	s.inventory.entries[t.id] = e
	return nil
}

func (s *syncer) setOrphan(ctx context.Context, r place, which id, orphan bool) error {
	value := "null"
	if orphan {
		value = `"true"`
	}
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%s}}}`, agentapi.OrphanLabel, value)
	_, err := s.at(r, which).Patch(ctx, which.name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	return err
}

func (s *syncer) at(r place, which id) metadata.ResourceInterface {
	return s.kube.metadata.Resource(r.GroupVersionResource).Namespace(which.namespace)
}
