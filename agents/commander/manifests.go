package commander

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	kubeyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"commander/agents/agentapi"
)

// wantedObject is one object of the configuration.
type wantedObject struct {
	group      string
	controlled bool
	object     *unstructured.Unstructured
}

func (w wantedObject) kind() schema.GroupVersionKind { return w.object.GroupVersionKind() }

// readGroups gives the objects of all groups in the order in which they are applied, and a failed
// result for each manifest that is no object. A group with such a failure is in broken: what it
// really wants is not known, so nothing of it may be deleted.
func readGroups(groups []agentapi.ResourceGroup) (wanted []wantedObject, failed []agentapi.ObjectResult, broken map[string]bool) {
	broken = map[string]bool{}
	fail := func(group string, err error) {
		broken[group] = true
		failed = append(failed, agentapi.ObjectResult{ResourceGroup: group, State: agentapi.ObjectFailed, Error: errorText(err)})
	}
	for _, g := range groups {
		if problems := validation.IsValidLabelValue(g.Name); g.Name == "" || len(problems) > 0 {
			fail(g.Name, fmt.Errorf("name of the resource group %q is no label value: %s", g.Name, strings.Join(problems, "; ")))
			continue
		}
		objects, errs := readManifests(g.Manifests)
		for _, err := range errs {
			fail(g.Name, err)
		}
		for _, o := range objects {
			wanted = append(wanted, wantedObject{g.Name, g.Controlled, o})
		}
	}
	slices.SortStableFunc(wanted, func(a, b wantedObject) int { return cmp.Compare(rank(a.kind()), rank(b.kind())) })
	return wanted, failed, broken
}

// rank is what others need first: namespaces hold objects, definitions make kinds.
func rank(kind schema.GroupVersionKind) int {
	switch {
	case kind.Group == "" && kind.Kind == "Namespace":
		return 0
	case kind.Group == "apiextensions.k8s.io" && kind.Kind == "CustomResourceDefinition":
		return 1
	default:
		return 2
	}
}

// readManifests reads a stream of YAML documents. One that is broken does not hide the others.
func readManifests(text string) (objects []*unstructured.Unstructured, errs []error) {
	documents := kubeyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for number := 1; ; number++ {
		raw, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, errs
		}
		if err != nil {
			return objects, append(errs, fmt.Errorf("read document %d: %w", number, err))
		}
		found, err := readDocument(raw)
		if err != nil {
			errs = append(errs, fmt.Errorf("read document %d: %w", number, err))
		}
		objects = append(objects, found...)
	}
}

func readDocument(raw []byte) ([]*unstructured.Unstructured, error) {
	raw, err := yaml.YAMLToJSONStrict(raw)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return nil, nil // only comments
	}
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(raw); err != nil {
		return nil, err
	}
	if !o.IsList() {
		if err := check(o); err != nil {
			return nil, err
		}
		return []*unstructured.Unstructured{o}, nil
	}
	list, err := o.ToList()
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	var errs []error
	for i := range list.Items {
		if err := check(&list.Items[i]); err != nil {
			errs = append(errs, err)
			continue
		}
		objects = append(objects, &list.Items[i])
	}
	return objects, errors.Join(errs...)
}

func check(o *unstructured.Unstructured) error {
	if o.GetAPIVersion() == "" || o.GetKind() == "" || o.GetName() == "" {
		return fmt.Errorf("apiVersion %q, kind %q and metadata.name %q must all be set", o.GetAPIVersion(), o.GetKind(), o.GetName())
	}
	return nil
}
