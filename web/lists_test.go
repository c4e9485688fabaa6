package web

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/store"
	"commander/views/paths"
)

// TestListsAreSearchedSortedAndPagedByTheirAddress asks each list for what its address can say.
func TestListsAreSearchedSortedAndPagedByTheirAddress(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.deps.Console.PageSize = 2
	b := s.as("olga", store.RoleFull)
	words := []string{"alpha", "beta", "gamma"}
	var catalogs []uuid.UUID
	for n, word := range words {
		named := strings.ToUpper(word[:1]) + word[1:]
		if n == 0 {
			named = word // capitals make no difference
		}
		_, err := s.CreateRegistry(t.Context(), fleet.System, s.workspace.ID, fleet.RegistryBody{Name: named, ImagesRepo: string(rune('z'-n)) + ".invalid/x"})
		require.NoError(t, err)
		catalog, err := s.CreateCatalog(t.Context(), fleet.System, s.workspace.ID, fleet.NewCatalog{Name: named, Slug: "c" + string(rune('a'+n)), Params: []byte(`[{"key": "a", "type": "string", "title": "A", "identifier": true}]`)})
		require.NoError(t, err)
		catalogs = append(catalogs, catalog.ID)
		_, _, err = s.CreateToken(t.Context(), fleet.System, s.workspace.ID, named, store.RoleReadOnly, 0)
		require.NoError(t, err)
		_, err = s.CreateRecord(t.Context(), fleet.System, catalogs[0], store.Values{"a": named})
		require.NoError(t, err)
		_, err = s.ArchiveCluster(t.Context(), fleet.System, s.cluster(word, nil).ID)
		require.NoError(t, err)
	}
	lists := []struct {
		address, column string // the second orders as the words above are
	}{
		{paths.Registries("demo"), "name"},
		{paths.Catalogs("demo"), "name"},
		{paths.Catalog("demo", catalogs[0].String()), "name"},
		{paths.Tokens("demo"), "created"},
		{paths.Archive("demo"), "archived"},
	}
	for _, list := range lists {
		names := func(q paths.Query) (names []string) {
			for _, name := range b.get(paths.Asked(list.address, q)).Find("#list tbody .name").EachIter() {
				names = append(names, strings.ToLower(name.Text()))
			}
			return names
		}
		require.Equal(t, words[:2], names(paths.Query{Sort: list.column}), list.address)
		require.Equal(t, words[2:], names(paths.Query{Sort: list.column, Page: 2}), list.address)
		backwards := slices.Clone(words)
		slices.Reverse(backwards)
		require.Equal(t, backwards[:2], names(paths.Query{Sort: list.column, Descending: true}), list.address)
		require.Equal(t, []string{"beta"}, names(paths.Query{Text: "beta"}), list.address)
		require.NotEmpty(t, names(paths.Query{Sort: "nonsense"}), "an old bookmark opens")

		page := b.get(paths.Asked(list.address, paths.Query{Text: "a", Sort: list.column, Descending: true}))
		require.Equal(t, "a", page.Find("[data-filter]").AttrOr("value", ""), list.address)
		require.Equal(t, "-"+list.column, page.Find("form[role=search] [name=sort]").AttrOr("value", ""), list.address)
		require.Equal(t, 1, page.Find(`#list th[aria-sort=descending]`).Length(), list.address)
		turned := paths.Asked(list.address, paths.Query{Text: "a", Sort: list.column})
		require.Equal(t, 1, page.Find(`#list th a[href="`+turned+`"]`).Length(), "the head turns the order of %s", list.address)

		none := b.get(paths.Asked(list.address, paths.Query{Text: "no-such"}))
		require.Equal(t, list.address, none.Find("#list .empty a").AttrOr("href", ""), "what is not found can be cleared")
	}
}

func TestTasksTurnTheirOrder(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.installed("first")
	s.installed("second")
	b := s.as("rita", store.RoleReadOnly)
	clusters := func(q paths.Query) (names []string) {
		for _, name := range b.get(paths.TaskList("demo", q)).Find("#list tbody a.sub").EachIter() {
			names = append(names, name.Text())
		}
		return names
	}
	require.Equal(t, []string{"second", "first"}, clusters(paths.Query{}))
	require.Equal(t, []string{"first", "second"}, clusters(paths.Query{Sort: "created"}))
	require.Equal(t, []string{"second"}, clusters(paths.Query{Text: "SECOND", Sort: "created"}))
}
