package configuration

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	openapi "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Problem is one thing that is wrong, where, in words for who wrote it.
type Problem struct {
	Field string // such as masterNodeGroup.replicas; empty for the whole
	Text  string
}

// Problems are all that is wrong, by field.
type Problems []Problem

// Error tells them in a line each.
func (p Problems) Error() string {
	lines := make([]string, 0, len(p))
	for _, problem := range p {
		if problem.Field == "" {
			lines = append(lines, problem.Text)
		} else {
			lines = append(lines, problem.Field+": "+problem.Text)
		}
	}
	return strings.Join(lines, "\n")
}

func (p *Problems) add(field, text string) { *p = append(*p, Problem{field, text}) }

// told puts what the validator says in words of its own.
func told(all []error, schema *spec.Schema) Problems {
	var problems Problems
	for _, err := range all {
		var several *openapi.CompositeError
		if errors.As(err, &several) {
			problems = append(problems, told(several.Errors, schema)...)
			continue
		}
		var one *openapi.Validation
		if !errors.As(err, &one) {
			problems.add("", err.Error())
			continue
		}
		problems.add(strings.TrimPrefix(one.Name, "."), words(one, schema))
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return strings.Compare(a.Field, b.Field) })
	return slices.Compact(problems)
}

func words(one *openapi.Validation, schema *spec.Schema) string {
	switch one.Code() {
	case openapi.RequiredFailCode:
		return "it is missing"
	case openapi.EnumFailCode:
		return fmt.Sprintf("got %v, want %s", one.Value, alternatives(one.Values))
	case openapi.InvalidTypeCode:
		return "it is of another type: " + strings.TrimPrefix(one.Error(), one.Name+" in body ")
	case openapi.PatternFailCode:
		return fmt.Sprintf("got %q, want %s", one.Value, meaning(one))
	case openapi.MinFailCode:
		return fmt.Sprintf("got %v, which is too little", one.Value)
	case openapi.MaxFailCode:
		return fmt.Sprintf("got %v, which is too much", one.Value)
	case openapi.TooShortFailCode:
		return "it is empty"
	case openapi.UniqueFailCode:
		return "something is listed twice"
	case openapi.UnallowedPropertyCode:
		field, _ := one.Value.(string)
		return fmt.Sprintf("%q is not known here%s", field, similar(field, schema))
	}
	return strings.TrimPrefix(strings.ReplaceAll(one.Error(), " in body", ""), one.Name+" ")
}

func alternatives(all []any) string {
	texts := make([]string, 0, len(all))
	for _, one := range all {
		texts = append(texts, fmt.Sprint(one))
	}
	return strings.Join(texts, " or ")
}

// meaning says in words what a pattern asks for.
func meaning(one *openapi.Validation) string {
	switch field := one.Name; {
	case strings.HasSuffix(field, "ize"):
		return "a size such as 8Gi"
	case strings.HasSuffix(field, "coreFraction"):
		return "a share from 1% to 100%"
	case strings.Contains(field, "ipAddresses"):
		return "an IPv4 address or Auto"
	}
	_, pattern, _ := strings.Cut(one.Error(), "should match ")
	return "something like " + pattern
}

// similar finds a field that may be meant.
func similar(field string, schema *spec.Schema) string {
	all := map[string]bool{}
	collect(schema, all)
	for _, known := range slices.Sorted(maps.Keys(all)) {
		if strings.EqualFold(known, field) || strings.EqualFold(strings.TrimSuffix(known, "s"), strings.TrimSuffix(field, "s")) {
			return fmt.Sprintf("; is %q meant?", known)
		}
	}
	return ""
}

func collect(schema *spec.Schema, into map[string]bool) {
	for name, property := range schema.Properties {
		into[name] = true
		collect(&property, into)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		collect(schema.Items.Schema, into)
	}
}
