package fleet

import (
	"maps"
	"slices"

	"commander/fleet/schema"
	"commander/store"
)

// givenKeys are the parameters that somebody set: a form sends defaults back, so that a value counts
// when it is not the default, when it is said to be explicit, or when it was set before and is the
// same. before is nil for a new cluster. The result is never nil.
func givenKeys(parameters schema.Schema, values store.Values, before *Configuration, explicit []string) []string {
	var earlier []string
	if before != nil {
		earlier = before.GivenKeys()
	}
	given := []string{}
	for _, f := range parameters.Fields() {
		value := values[f.Key]
		if schema.Empty(value) {
			continue
		}
		standard, _ := f.Absent()
		same := before != nil && schema.Same(before.Values[f.Key], value)
		if !schema.Same(standard, value) || slices.Contains(explicit, f.Key) || same && slices.Contains(earlier, f.Key) {
			given = append(given, f.Key)
		}
	}
	return given
}

// GivenKeys are the parameters that somebody set. A configuration that was saved before this was
// noted tells it by what differs from the defaults.
func (c Configuration) GivenKeys() []string {
	if c.Given != nil {
		return c.Given
	}
	standard := map[string]any{}
	for _, f := range c.Schema.Fields() {
		standard[f.Key], _ = f.Absent()
	}
	var given []string
	for _, key := range slices.Sorted(maps.Keys(c.Values)) {
		if value := c.Values[key]; !schema.Empty(value) && !schema.Same(value, standard[key]) {
			given = append(given, key)
		}
	}
	return given
}

// savedFor are the values that a save with other parameters is held to, and may tell of: a secret or
// a record that could be read under them is none of those.
func (c Configuration) savedFor(next schema.Schema) store.Values {
	saved := clone(c.Values)
	for _, f := range next.Fields() {
		was := field(c.Schema, f.Key)
		if was == nil || was.Catalog != "" && f.Catalog == "" || was.Secret() && !f.Secret() {
			delete(saved, f.Key)
		}
	}
	return saved
}
