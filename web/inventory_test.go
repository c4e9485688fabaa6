package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/store"
	"commander/views/inventory"
	"commander/views/paths"
)

const machineFields = `- key: address
  title: Address
  type: string
  format: ipv4
  unique: true
- key: password
  title: Password
  type: string
  format: password
  optional: true
`

func TestAnInventoryFromItsCatalogToItsArchive(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	keeper := s.as("olga", store.RoleFull)
	require.Contains(t, keeper.get(paths.Catalogs("demo")).Find(".empty").Text(), "No catalogs yet")

	form := keeper.get(paths.NewCatalog("demo")).fill(t, "main form",
		inventory.FieldName, "Hosts", inventory.FieldSlug, "My hosts", inventory.FieldParams, "- key: [")
	got := keeper.post(paths.Catalogs("demo"), form)
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
	require.Contains(t, got.Find("#f-params-problem").Text(), "Line 1 is no valid YAML")
	require.Equal(t, "My hosts", got.Find("#f-slug").AttrOr("value", ""), "what was typed is kept")
	form.Set(inventory.FieldParams, machineFields)
	got = keeper.post(paths.Catalogs("demo"), form)
	require.Contains(t, got.Find("#f-slug-problem").Text(), "begins with a lower-case letter")
	form.Set(inventory.FieldSlug, "hosts")
	got = keeper.post(paths.Catalogs("demo"), form)
	require.Equal(t, http.StatusSeeOther, got.StatusCode)
	at := got.Header.Get("Location")

	record := keeper.get(at+"/new").fill(t, "main form", parameter("address"), "nowhere", parameter("password"), "correct horse")
	got = keeper.post(at, record)
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
	require.Equal(t, "nowhere", got.Find("input[name='"+parameter("address")+"']").AttrOr("value", ""))
	record.Set(parameter("address"), "10.0.0.1")
	require.Equal(t, at, keeper.post(at, record).Header.Get("Location"))
	got = keeper.post(at, record)
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
	require.Contains(t, got.Find(".problem").Text(), "10.0.0.1 has this value already")

	list := keeper.get(at)
	require.Equal(t, 1, list.Find("tbody tr").Length())
	require.Contains(t, list.Find("tbody").Text(), "free")
	require.NotContains(t, list.text, "correct horse")
	require.Equal(t, "1", list.Find(".filter[href$='status=free'] .num").Text())
	place := list.Find("tbody th a").AttrOr("href", "")

	saved := keeper.get(place).fill(t, "main form[action='"+place+"']", parameter("address"), "10.0.0.2")
	require.Equal(t, at, keeper.post(place, saved).Header.Get("Location"))
	got = keeper.post(place, saved)
	require.Equal(t, http.StatusConflict, got.StatusCode)
	require.Contains(t, got.Find(".notice").Text(), "changed by somebody else")

	require.Equal(t, http.StatusSeeOther, keeper.post(place+"/archive", url.Values{}).StatusCode)
	require.Contains(t, keeper.get(at).Find(".empty").Text(), "Nothing matches")
	require.Equal(t, http.StatusSeeOther, keeper.post(place+"/restoration", url.Values{}).StatusCode)
	require.Equal(t, http.StatusSeeOther, keeper.post(place+"/deletion", url.Values{}).StatusCode)
	require.Contains(t, keeper.get(at).Find(".empty").Text(), "No records yet", "a deleted record vanishes at once")
	require.Equal(t, http.StatusSeeOther, keeper.post(at+"/archive", url.Values{}).StatusCode)
	require.Contains(t, keeper.get(paths.Catalogs("demo")).Find("tr[data-off]").Text(), "Archived")
	require.Equal(t, http.StatusSeeOther, keeper.post(at+"/restoration", url.Values{}).StatusCode)
	require.Zero(t, keeper.get(paths.Catalogs("demo")).Find("tr[data-off]").Length())
}

func TestAnImportTellsWhatItRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	keeper := s.as("olga", store.RoleFull)
	document := `{"name": "<i>Hosts</i>", "slug": "hosts", "params": [{"key": "address", "type": "string", "title": "A", "format": "ipv4", "unique": true}],
		"resources": [{"values": {"address": "10.0.0.1"}}, {"values": {"address": "<b>nowhere</b>"}}, {"values": {"address": "10.0.0.1"}}]}`
	got := keeper.post(paths.CatalogImport("demo"), url.Values{inventory.FieldDocument: {document}})
	require.Equal(t, http.StatusOK, got.StatusCode)
	report := got.Find("main .notice")
	require.Contains(t, report.Text(), "1 record added")
	require.Contains(t, report.Text(), "2 records were refused")
	require.Equal(t, 2, report.Find("li").Length())
	require.Contains(t, report.Find("li").First().Text(), "Record 2:")
	require.Zero(t, got.Find("main i, main .notice li b").Length(), "what was imported is text")

	got = keeper.post(paths.CatalogImport("demo"), url.Values{inventory.FieldDocument: {"{nonsense"}})
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
	require.Contains(t, got.Find("main .notice").Text(), "not one JSON object")
	require.Equal(t, "{nonsense", strings.TrimSpace(got.Find("textarea").Text()))
}

func TestThingsOfAnotherWorkspaceAreNotFoundThroughThisOne(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	other, err := s.EnsureWorkspace(t.Context(), "other", "")
	require.NoError(t, err)
	foreign, err := s.CreateCatalog(t.Context(), fleet.System, other.ID, fleet.NewCatalog{Name: "Hosts", Slug: "hosts", Params: []byte(`[{"key": "a", "type": "string", "title": "A"}]`)})
	require.NoError(t, err)
	record, err := s.CreateRecord(t.Context(), fleet.System, foreign.ID, store.Values{"a": "x"})
	require.NoError(t, err)
	admin := s.everywhere("olga")
	for _, path := range []string{
		paths.Catalog("demo", foreign.ID.String()), paths.CatalogSettings("demo", foreign.ID.String()), paths.Record("demo", record.ID.String()),
	} {
		require.Equal(t, http.StatusNotFound, admin.get(path).StatusCode, path)
	}
	require.Equal(t, http.StatusNotFound, admin.post(paths.RecordDeletion("demo", record.ID.String()), url.Values{}).StatusCode)
	require.Equal(t, http.StatusOK, admin.get(paths.Record("other", record.ID.String())).StatusCode)
}
