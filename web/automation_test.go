package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"commander/store"
	"commander/views/automation"
	"commander/views/paths"
)

func TestWindowsAndChannelsOnTheirPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	cluster := s.installed("prod")
	b := s.as("ann", store.RoleFull)
	page := b.get(paths.AutomationOf("demo", cluster.ID.String()))
	require.Equal(t, http.StatusOK, page.StatusCode)
	require.Equal(t, cluster.ID.String(), page.Find("[name=cluster] option[selected]").AttrOr("value", ""))
	require.Equal(t, "prod", strings.TrimSpace(page.Find("[name=cluster] option[selected]").Text()), "people choose a name")
	require.Equal(t, 2, page.Find("[name=cluster] option").Length(), "all of them, or this one")

	add := `form[action="` + paths.Windows("demo") + `"]`
	form := url.Values{automation.FieldDay: {"1", "64"}, automation.FieldStarts: {"late"}, automation.FieldHours: {"4"}, automation.FieldZone: {"Mars"}}
	wrong := b.post(paths.Windows("demo"), form)
	require.Equal(t, http.StatusUnprocessableEntity, wrong.StatusCode)
	require.Equal(t, "late", wrong.Find("[name=starts]").AttrOr("value", ""), "what was typed is kept")
	require.Equal(t, 2, wrong.Find(add+" [name=day][checked]").Length())
	require.Contains(t, wrong.Find("#f-time_zone-problem").Text(), "Europe/Berlin")
	form.Set(automation.FieldStarts, "22:30")
	form.Set(automation.FieldZone, "UTC")
	form.Set(automation.FieldCluster, "nothing")
	require.Contains(t, b.post(paths.Windows("demo"), form).Find("#f-cluster-problem").Text(), "no such cluster")
	form.Set(automation.FieldCluster, cluster.ID.String())
	require.Equal(t, http.StatusSeeOther, b.post(paths.Windows("demo"), form).StatusCode)
	listed := b.get(paths.Automation("demo"))
	require.Contains(t, listed.Find("main tbody").First().Text(), "22:30")
	require.Contains(t, listed.Find("main tbody").First().Text(), "Monday, Sunday")
	require.Contains(t, listed.Find("main tbody").First().Text(), "prod")
	remove := listed.Find("main tbody form").First().AttrOr("action", "")
	require.Equal(t, http.StatusForbidden, s.as("rita", store.RoleReadOnly).post(remove, nil).StatusCode)
	require.Equal(t, http.StatusSeeOther, b.post(remove, nil).StatusCode)
	require.Zero(t, b.get(paths.Automation("demo")).Find("main tbody tr").Length())

	channel := url.Values{automation.FieldName: {"On call"}, automation.FieldKind: {"webhook"}, automation.FieldAddress: {"nowhere"}}
	refused := b.post(paths.Channels("demo"), channel)
	require.Equal(t, http.StatusUnprocessableEntity, refused.StatusCode)
	require.Contains(t, refused.Find("#f-address-problem").Text(), "https://example.com/hook")
	require.Contains(t, refused.Find("main").Text(), "at least one event")
	channel.Set(automation.FieldAddress, "https://hooks.example.com/x")
	channel.Set(automation.FieldEvent, "task_failed")
	made := b.post(paths.Channels("demo"), channel)
	require.Equal(t, http.StatusOK, made.StatusCode, made.text)
	secret := made.Find(".notice pre").First().Text()
	require.Len(t, secret, 43)
	require.NotContains(t, b.get(paths.Automation("demo")).text, secret, "it is told once")
	test := b.get(paths.Automation("demo")).Find("main tbody form").First().AttrOr("action", "")
	require.Equal(t, http.StatusSeeOther, b.post(test, nil).StatusCode)
	require.Contains(t, b.get(paths.Automation("demo")).Find("main tbody").Text(), "On its way")
}
