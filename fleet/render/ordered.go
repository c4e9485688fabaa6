package render

import (
	"fmt"
	"maps"
	"slices"
	"text/template"
)

// ordered stand in for functions of sprig that give the keys of a dictionary in an order of chance.
var ordered = template.FuncMap{
	"keys": func(all ...map[string]any) []string {
		keys := []string{}
		for _, one := range all {
			keys = append(keys, slices.Sorted(maps.Keys(one))...)
		}
		return keys
	},
	"values": func(one map[string]any) []any {
		values := []any{}
		for _, key := range slices.Sorted(maps.Keys(one)) {
			values = append(values, one[key])
		}
		return values
	},
}

// printing are functions of text/template that read their arguments to the ground, and are weighed
// like those of sprig.
var printing = template.FuncMap{
	"print": fmt.Sprint, "printf": fmt.Sprintf, "println": fmt.Sprintln,
	"html": template.HTMLEscaper, "js": template.JSEscaper, "urlquery": template.URLQueryEscaper,
}
