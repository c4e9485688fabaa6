package schema_test

import (
	"fmt"
	"testing"

	"commander/fleet/schema"
)

func TestFormatsOfTexts(t *testing.T) {
	t.Parallel()
	for format, texts := range map[string]struct{ good, bad []string }{
		"date-time": {[]string{"2026-11-30T07:10:00Z", "2026-11-30T07:10:00.5+03:00"}, []string{"2026-11-30", "yesterday"}},
		"url":       {[]string{"https://example.com/a?b=c", "oci://registry.corp:5000/x"}, []string{"example.com", "/path", "https://"}},
		"email":     {[]string{"a@example.com"}, []string{"a@", "A <a@example.com>", "example.com"}},
		"uuid":      {[]string{"0195f0c4-5e1a-7cc3-98c4-dc0c0c07398f"}, []string{"0195f0c4", "0195f0c4-5e1a-7cc3-98c4-dc0c0c07398g"}},
		"cuid":      {[]string{"cjld2cjxh0000qzrmn831i7rn"}, []string{"jld2cjxh0000qzrmn831i7rn", "c1"}},
		"cuid2":     {[]string{"tz4a98xxat96iws9zmbrgj3a"}, []string{"4z4a98xxat96iws9zmbrgj3a", "Tz4a"}},
		"ulid":      {[]string{"01ARZ3NDEKTSV4RRFFQ69G5FAV"}, []string{"81ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FA"}},
		"emoji":     {[]string{"👍🏽", "❤️", "👩‍💻", "1️⃣", "🇷🇺", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"}, []string{"a", "^", "1", "°", "👍 "}},
		"ipv4":      {[]string{"10.0.0.1"}, []string{"10.0.0", "10.0.0.256", "::1"}},
	} {
		s, err := schema.Parse(fmt.Appendf(nil, `[{"key": "a", "type": "string", "title": "A", "format": %q}]`, format))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts.good {
			if _, problems := s.Check(map[string]any{"a": text}, nil); len(problems) > 0 {
				t.Errorf("%q is no %s: %v", text, format, problems)
			}
		}
		for _, text := range texts.bad {
			if _, problems := s.Check(map[string]any{"a": text}, nil); problems["a"].Key != "parameter.format" {
				t.Errorf("%q is a %s", text, format)
			}
		}
	}
}

func TestLimitsOfNumbersAndTexts(t *testing.T) {
	t.Parallel()
	s, err := schema.ParseYAML("- {key: n, title: N, type: number, min: 0.5, max: 1.25, optional: true}\n- {key: s, title: S, type: string, minLength: 3, optional: true}\n")
	if err != nil {
		t.Fatal(err)
	}
	for value, key := range map[any]string{0.5: "", 1.25: "", 0.49: "parameter.too_small", 1.26: "parameter.too_large"} {
		if _, problems := s.Check(map[string]any{"n": value}, nil); problems["n"].Key != key {
			t.Errorf("%v: got %v, want %q", value, problems["n"], key)
		}
	}
	clean, problems := s.Check(map[string]any{"s": ""}, nil)
	if _, passed := clean["s"]; passed || len(problems) > 0 {
		t.Errorf("an optional text may be empty: got %v, %v", clean, problems)
	}
	if _, problems := s.Check(map[string]any{"s": "ab"}, nil); problems["s"].Key != "parameter.too_short" {
		t.Errorf("got %v", problems)
	}
}
