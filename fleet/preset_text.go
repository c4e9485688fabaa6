package fleet

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"

	"commander/fleet/schema"
)

// Presets are data like any other template, written in English, and each folder has a file for every
// other language. A text that still is the shipped one, word for word and of the same parameter, is
// shown in the reader's language; what a person has written is shown as it was written. Names stay:
// people search, sort and call templates by them.

// presetTexts are the texts of one preset in one language.
type presetTexts struct {
	Comment string            `json:"comment"`
	Headers map[string]string `json:"headers"` // by the shipped ones
	Fields  map[string]struct {
		Title       string `json:"title"`
		Description string `json:"description"`
	} `json:"fields"` // by key
}

// shippedText is a text of a preset: that of a parameter has its key, that of a header none.
type shippedText struct{ language, key, text string }

// shipped are the texts of all presets in other languages.
var shipped = sync.OnceValues(func() (map[shippedText]string, error) {
	all := map[shippedText]string{}
	files, err := fs.Glob(presets, "presets/*/??.yaml")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if err := addTexts(all, path.Base(path.Dir(file)), strings.TrimSuffix(path.Base(file), ".yaml"), file); err != nil {
			return nil, err
		}
	}
	return all, nil
})

func addTexts(all map[shippedText]string, key, language, file string) error {
	body, err := fs.ReadFile(presets, file)
	if err != nil {
		return err
	}
	var texts presetTexts
	if err := yaml.UnmarshalStrict(body, &texts); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	preset, err := readPreset(key)
	if err != nil {
		return err
	}
	parameters, err := schema.Parse(preset.body.Params)
	if err != nil {
		return err
	}
	all[shippedText{language, "", preset.comment}] = texts.Comment
	for _, b := range parameters {
		if b.Field == nil {
			all[shippedText{language, "", b.Header}] = texts.Headers[b.Header]
			continue
		}
		told := texts.Fields[b.Field.Key]
		all[shippedText{language, b.Field.Key, b.Field.Title}] = told.Title
		if b.Field.Description != "" {
			all[shippedText{language, b.Field.Key, b.Field.Description}] = told.Description
		}
	}
	return nil
}

// TextIn is a text of a parameter, or the comment of a template when key is empty, in a language.
func TextIn(language, key, text string) string {
	all, _ := shipped() // EnsurePresets has told what is wrong with them
	if told := all[shippedText{language, key, text}]; told != "" {
		return told
	}
	return text
}

// SchemaIn is a schema with its texts in a language. A header belongs to the parameter below it: it is
// in the language when that one is.
func SchemaIn(language string, parameters schema.Schema) schema.Schema {
	all, _ := shipped()
	out := slices.Clone(parameters)
	for i, b := range parameters {
		if b.Field == nil {
			if i+1 < len(parameters) && parameters[i+1].Field != nil {
				next := parameters[i+1].Field
				if _, is := all[shippedText{language, next.Key, next.Title}]; is {
					out[i].Header = TextIn(language, "", b.Header)
				}
			}
			continue
		}
		told := *b.Field
		told.Title, told.Description = TextIn(language, told.Key, told.Title), TextIn(language, told.Key, told.Description)
		out[i].Field = &told
	}
	return out
}
