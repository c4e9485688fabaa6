package commander

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// entry is one object that the agent makes or made.
type entry struct {
	Group      string `json:"resourceGroup"`
	Controlled bool   `json:"controlled,omitempty"`
	APIGroup   string `json:"group,omitempty"`
	Version    string `json:"version"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	// Done says that the object was created or found once; for uncontrolled groups that is all.
	Done bool `json:"done,omitempty"`
	// Orphan says that the object left an uncontrolled group and carries the label.
	Orphan bool `json:"orphan,omitempty"`
}

func (e entry) id() id {
	return id{schema.GroupKind{Group: e.APIGroup, Kind: e.Kind}, e.Namespace, e.Name}
}

func (e entry) gvk() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: e.APIGroup, Version: e.Version, Kind: e.Kind}
}

// inventory remembers, in a ConfigMap, what the agent has made, so that also a restarted agent
// knows what left the configuration. An object is written down before it is created: an agent
// that dies in between leaves an entry without an object, which does no harm.
type inventory struct {
	kube    *kube
	entries map[id]entry
	stored  string
}

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

const (
	inventoryName = "inventory"
	inventoryKey  = "objects.json"
)

// load reads the inventory once; later calls do nothing.
func (v *inventory) load(ctx context.Context) error {
	if v.entries != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	entries := map[id]entry{}
	m, err := v.kube.dynamic.Resource(configMaps).Namespace(v.kube.home).Get(ctx, inventoryName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		v.entries = entries
		return nil
	}
	if err != nil {
		return fmt.Errorf("read inventory: %w", err)
	}
	text, _, err := unstructured.NestedString(m.Object, "data", inventoryKey)
	if err != nil {
		return fmt.Errorf("read inventory: %w", err)
	}
	var list []entry
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return fmt.Errorf("read inventory: %w", err)
	}
	for _, e := range list {
		entries[e.id()] = e
	}
	v.entries, v.stored = entries, text
	return nil
}

// save writes the inventory if it changed.
func (v *inventory) save(ctx context.Context) error {
	list := v.sorted()
	raw, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("write inventory: %w", err)
	}
	if string(raw) == v.stored || (len(list) == 0 && v.stored == "") {
		return nil
	}
	err = v.kube.applyOwn(ctx, configMaps, "ConfigMap", inventoryName, map[string]any{"data": map[string]any{inventoryKey: string(raw)}})
	if err != nil {
		return fmt.Errorf("write inventory: %w", err)
	}
	v.stored = string(raw)
	return nil
}

func (v *inventory) sorted() []entry {
	list := make([]entry, 0, len(v.entries))
	for _, e := range v.entries {
		list = append(list, e)
	}
	key := func(e entry) string {
		return strings.Join([]string{e.Group, e.APIGroup, e.Kind, e.Namespace, e.Name}, "\x00")
	}
	slices.SortFunc(list, func(a, b entry) int { return strings.Compare(key(a), key(b)) })
	return list
}

// applyOwn writes one of the agent's own objects, and its namespace if that is missing.
func (k *kube) applyOwn(ctx context.Context, r schema.GroupVersionResource, kind, name string, content map[string]any) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	o := &unstructured.Unstructured{Object: content}
	o.SetAPIVersion(r.GroupVersion().String())
	o.SetKind(kind)
	o.SetName(name)
	o.SetNamespace(k.home)
	o.SetLabels(map[string]string{heritageLabel: heritage})
	options := metav1.ApplyOptions{FieldManager: fieldManager, Force: true}
	_, err := k.dynamic.Resource(r).Namespace(k.home).Apply(ctx, name, o, options)
	if !apierrors.IsNotFound(err) {
		return err
	}
	namespaces := schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	body := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, k.home)
	_, err = k.dynamic.Resource(namespaces).Patch(ctx, k.home, types.ApplyPatchType, body, options.ToPatchOptions())
	if err != nil {
		return fmt.Errorf("create namespace: %w", err)
	}
	_, err = k.dynamic.Resource(r).Namespace(k.home).Apply(ctx, name, o, options)
	return err
}
