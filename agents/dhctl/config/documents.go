// Package config reads the documents that describe a cluster and says what is wrong with them
// in words for the person who wrote them.
package config

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Document is one YAML document with the head that all of them share.
type Document struct {
	APIVersion, Kind, Name, Namespace string
	// Raw is the document as it was written.
	Raw []byte
	// Object is the same as a tree of maps, lists and scalars, as JSON has them.
	Object map[string]any
}

// Documents splits a text of several YAML documents; empty ones are left out. Each must have an
// apiVersion and a kind.
func Documents(text string) ([]Document, error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	var all []Document
	for n := 1; ; n++ {
		raw, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		doc, err := parse(raw)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		if doc.Object != nil {
			all = append(all, doc)
		}
	}
}

func parse(raw []byte) (Document, error) {
	doc := Document{Raw: bytes.TrimSpace(raw)}
	if err := yaml.Unmarshal(raw, &doc.Object); err != nil {
		return Document{}, fmt.Errorf("not a YAML mapping: %w", err)
	}
	if doc.Object == nil {
		return doc, nil
	}
	doc.APIVersion, _ = doc.Object["apiVersion"].(string)
	doc.Kind, _ = doc.Object["kind"].(string)
	if doc.APIVersion == "" || doc.Kind == "" {
		return Document{}, errors.New("apiVersion and kind are required")
	}
	if meta, ok := doc.Object["metadata"].(map[string]any); ok {
		doc.Name, _ = meta["name"].(string)
		doc.Namespace, _ = meta["namespace"].(string)
	}
	return doc, nil
}

// decode fills a struct; unknown fields are errors when strict.
func decode(raw []byte, strict bool, into any) error {
	if strict {
		return yaml.UnmarshalStrict(raw, into)
	}
	return yaml.Unmarshal(raw, into)
}

// only returns the single document of a kind.
func only(text, kind string) (Document, error) {
	docs, err := Documents(text)
	if err != nil {
		return Document{}, err
	}
	var found []Document
	for _, d := range docs {
		if d.Kind == kind {
			found = append(found, d)
		}
	}
	if len(found) != 1 {
		return Document{}, fmt.Errorf("exactly one %s document is needed, there are %d", kind, len(found))
	}
	return found[0], nil
}
