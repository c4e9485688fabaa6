package fleet

import (
	"io/fs"
	"path"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"commander/fleet/schema"
)

// TestPresetsAreToldInRussian holds the Russian texts of each preset to what is shipped: every text has
// one, and none is left of a text that is gone.
func TestPresetsAreToldInRussian(t *testing.T) {
	t.Parallel()
	folders, err := fs.ReadDir(presets, "presets")
	require.NoError(t, err)
	require.NotEmpty(t, folders)
	for _, folder := range folders {
		p, err := readPreset(folder.Name())
		require.NoError(t, err)
		parameters, err := schema.Parse(p.body.Params)
		require.NoError(t, err)
		body, err := fs.ReadFile(presets, path.Join("presets", folder.Name(), "ru.yaml"))
		require.NoError(t, err)
		var texts presetTexts
		require.NoError(t, yaml.UnmarshalStrict(body, &texts))
		require.True(t, russian(texts.Comment), p.key)
		for i, b := range SchemaIn("ru", parameters) {
			was := parameters[i]
			if b.Field == nil {
				require.NotEmpty(t, texts.Headers[was.Header], "%s: %s", p.key, was.Header)
				delete(texts.Headers, was.Header)
				continue
			}
			require.True(t, russian(b.Field.Title) || b.Field.Title == was.Field.Title && texts.Fields[b.Field.Key].Title != "", "%s: %s", p.key, was.Field.Title)
			require.Equal(t, was.Field.Description != "", russian(b.Field.Description), "%s: %s", p.key, was.Field.Description)
			require.Equal(t, was.Field.Default, b.Field.Default)
			delete(texts.Fields, b.Field.Key)
		}
		require.Empty(t, texts.Headers, p.key)
		require.Empty(t, texts.Fields, p.key)
		require.Equal(t, parameters, SchemaIn("en", parameters))
	}
}

func russian(text string) bool {
	for _, r := range text {
		if unicode.Is(unicode.Cyrillic, r) {
			return true
		}
	}
	return false
}

// TestTextsOfPeopleStayAsTheyWroteThem looks at schemas that have something of a shipped one.
func TestTextsOfPeopleStayAsTheyWroteThem(t *testing.T) {
	t.Parallel()
	mine, err := schema.Parse([]byte(`[
		{"header": "Nodes"}, {"key": "mine", "type": "string", "title": "Pod subnet", "description": "In CIDR notation. It cannot be changed later."},
		{"header": "Kubernetes"}, {"key": "podSubnet", "type": "string", "title": "Pod subnet", "description": "Ours."},
		{"key": "clusterDomain", "type": "string", "title": "Domain of ours"}, {"header": "Access"}]`))
	require.NoError(t, err)
	told := SchemaIn("ru", mine)
	require.Equal(t, mine[:2], told[:2], "a header and a parameter of one's own, whatever they are called")
	require.Equal(t, "Подсеть подов", told[3].Field.Title)
	require.Equal(t, "Ours.", told[3].Field.Description)
	require.Equal(t, mine[4:], told[4:])
	require.Equal(t, "Pod subnet", mine[3].Field.Title, "what is stored is not touched")
}
