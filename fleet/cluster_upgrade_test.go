package fleet_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/fleet/schema"
	"commander/fleet/upgrade"
	"commander/internal/fault"
	"commander/store"
)

// Two versions of a template: a default moves, a parameter goes, one comes that must have a value.
const (
	teamOne = `
- {key: count, type: number, title: Workers, default: 2}
- {key: region, type: string, title: Region, default: a}
- {key: secret, type: string, format: password, title: Secret, optional: true}
- {key: net, type: string, title: Network, default: 10.0.0.0/16, immutable: true}
- {key: old, type: string, title: Old, optional: true}
`
	teamTwo = `
- {key: count, type: number, title: Workers, default: 3}
- {key: region, type: string, title: Region, default: b}
- {key: secret, type: string, format: password, title: Secret, optional: true}
- {key: net, type: string, title: Network, default: 10.9.0.0/16, immutable: true}
- {key: owner, type: string, title: Owner}
`
)

// bodyWith is a template that renders every parameter of a schema, into the infrastructure so that a
// change of it is a task.
func bodyWith(params string) fleet.TemplateVersionBody {
	return fleet.TemplateVersionBody{
		ParamsText:           params,
		ClusterConfiguration: "kind: ClusterConfiguration\nclusterType: Static\ncount: {{ .count }}\nall: {{ omit . \"dc_sshPrivateKey\" | toJson | quote }}\n",
	}
}

// family makes a template with a version for each schema, and returns the versions.
func family(t *testing.T, b *fleettest.Bench, name string, params ...string) []store.ClusterTemplateVersion {
	t.Helper()
	bodies := make([]fleet.TemplateVersionBody, len(params))
	for i, p := range params {
		bodies[i] = bodyWith(p)
	}
	return familyOf(t, b, name, bodies...)
}

func familyOf(t *testing.T, b *fleettest.Bench, name string, bodies ...fleet.TemplateVersionBody) []store.ClusterTemplateVersion {
	t.Helper()
	template, err := b.CreateTemplate(t.Context(), b.Admin, fleet.NewTemplate{WorkspaceID: b.Workspace.ID, Name: name, Body: bodies[0]})
	require.NoError(t, err)
	for _, body := range bodies[1:] {
		template, err = b.ChangeTemplate(t.Context(), b.Admin, template.ID, fleet.TemplateChange{Revision: template.CurrentRevision, Name: name, Body: &body})
		require.NoError(t, err)
	}
	versions := versionsOf(t, b, template.ID)
	slices.Reverse(versions)
	return versions
}

// on makes an installed cluster on a version.
func on(t *testing.T, b *fleettest.Bench, version store.ClusterTemplateVersion, name string, values store.Values) store.Cluster {
	t.Helper()
	cluster, task, err := b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{
		WorkspaceID: b.Workspace.ID, Name: name, TemplateVersionID: version.ID, Values: values, Install: true,
	})
	require.NoError(t, err)
	b.Run(t, *task, store.TaskSucceeded)
	return current(t, b, cluster.ID)
}

func current(t *testing.T, b *fleettest.Bench, id uuid.UUID) store.Cluster {
	t.Helper()
	cluster, err := b.Store.Cluster(t.Context(), id)
	require.NoError(t, err)
	return cluster
}

// everything is the whole database as text, table by table.
func everything(t *testing.T, b *fleettest.Bench) map[string]string {
	t.Helper()
	rows, err := b.Store.Pool.Query(t.Context(), "select table_name::text from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'")
	require.NoError(t, err)
	var names []string
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		names = append(names, name)
	}
	require.NoError(t, rows.Err())
	out := map[string]string{}
	for _, name := range names {
		var body string
		require.NoError(t, b.Store.Pool.QueryRow(t.Context(), "select coalesce(string_agg(x::text, E'\\n' order by x::text), '') from "+name+" x").Scan(&body))
		out[name] = body
	}
	return out
}

func outcomes(u fleet.Upgrade) map[string]upgrade.Outcome {
	out := map[string]upgrade.Outcome{}
	for _, item := range u.Items {
		out[item.Key] = item.Outcome
	}
	return out
}

func TestAnUpgradeIsShownBeforeItIsMade(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	v := family(t, b, "team", teamOne, teamTwo)
	cluster := on(t, b, v[0], "one", store.Values{"region": "z", "secret": "correct horse", "old": "x"})
	before := everything(t, b)
	seen, err := b.PreviewUpgrade(t.Context(), b.Viewer, cluster.ID, v[1].ID, nil)
	require.NoError(t, err)
	require.Equal(t, map[string]upgrade.Outcome{
		"count": upgrade.Followed, "region": upgrade.Kept, "secret": upgrade.Kept, "net": upgrade.Kept, "owner": upgrade.Asked, "old": upgrade.Removed,
	}, outcomes(seen))
	require.Equal(t, []string{"owner"}, seen.Open)
	require.False(t, seen.Ready())
	answered, err := b.PreviewUpgrade(t.Context(), b.Admin, cluster.ID, v[1].ID, store.Values{"owner": "we"})
	require.NoError(t, err)
	require.True(t, answered.Ready(), "%v %v", answered.Open, answered.Errors)
	require.Contains(t, answered.Before.ClusterConfiguration, "count: 2")
	require.Contains(t, answered.After.ClusterConfiguration, "count: 3")
	require.Equal(t, before, everything(t, b), "a preview changes nothing")
	shown, err := json.Marshal([]any{seen, answered})
	require.NoError(t, err)
	require.NotContains(t, string(shown), "correct horse")

	choice := fleet.UpgradeChoice{Revision: cluster.Revision, VersionID: v[1].ID}
	_, _, err = b.UpgradeCluster(t.Context(), b.Admin, cluster.ID, choice)
	require.Equal(t, "parameter.required", fieldsOf(t, err)["values.owner"].Key)
	require.Equal(t, before, everything(t, b), "what is refused changes nothing")

	choice.Answers = store.Values{"owner": "we"}
	after, task, err := b.UpgradeCluster(t.Context(), b.Admin, cluster.ID, choice)
	require.NoError(t, err)
	require.Equal(t, store.TaskConverge, task.Kind)
	require.Equal(t, v[1].ID, *after.TemplateVersionID)
	view, err := b.Cluster(t.Context(), b.Admin, cluster.ID)
	require.NoError(t, err)
	require.Equal(t, store.Values{"count": 3.0, "region": "z", "secret": "correct horse", "net": "10.0.0.0/16", "owner": "we"}, view.Wanted.Values)
	require.ElementsMatch(t, []string{"region", "secret", "owner", "net"}, view.Wanted.GivenKeys(), "the network is no default any more")

	_, _, err = b.UpgradeCluster(t.Context(), b.Admin, cluster.ID, choice)
	key, _ := conflict(t, err)
	require.Equal(t, "cluster.upgrade.same", key, "a double submit")
	_, err = b.PreviewUpgrade(t.Context(), b.Admin, cluster.ID, v[1].ID, nil)
	key, _ = conflict(t, err)
	require.Equal(t, "cluster.upgrade.same", key)
}

func TestUpgradesThatAreRefused(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	v := family(t, b, "team", teamOne, teamOne+"- {key: more, type: number, title: More, default: 1}\n")
	other, err := b.EnsureWorkspace(t.Context(), "other", "Other")
	require.NoError(t, err)
	elsewhere, err := b.CreateTemplate(t.Context(), b.Admin, fleet.NewTemplate{WorkspaceID: other.ID, Name: "foreign", Body: bodyWith(teamTwo)})
	require.NoError(t, err)
	cluster := on(t, b, v[0], "one", nil)
	archived, _, err := b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{WorkspaceID: b.Workspace.ID, Name: "gone", TemplateVersionID: v[0].ID})
	require.NoError(t, err)
	_, err = b.ArchiveCluster(t.Context(), b.Admin, archived.ID)
	require.NoError(t, err)
	deleting := on(t, b, v[0], "going", nil)
	_, _, err = b.DeleteCluster(t.Context(), b.Admin, deleting.ID)
	require.NoError(t, err)
	cases := []struct {
		name    string
		actor   fleet.Actor
		cluster uuid.UUID
		choice  fleet.UpgradeChoice
		kind    fault.Kind
	}{
		{"a viewer", b.Viewer, cluster.ID, fleet.UpgradeChoice{Revision: 1, VersionID: v[1].ID}, fault.Forbidden},
		{"a stranger", b.Stranger, cluster.ID, fleet.UpgradeChoice{Revision: 1, VersionID: v[1].ID}, fault.NotFound},
		{"no cluster", b.Admin, uuid.New(), fleet.UpgradeChoice{Revision: 1, VersionID: v[1].ID}, fault.NotFound},
		{"no version", b.Admin, cluster.ID, fleet.UpgradeChoice{Revision: 1, VersionID: uuid.New()}, fault.Invalid},
		{"a version of another workspace", b.Admin, cluster.ID, fleet.UpgradeChoice{Revision: 1, VersionID: *elsewhere.CurrentVersionID}, fault.Invalid},
		{"a stale revision", b.Admin, cluster.ID, fleet.UpgradeChoice{Revision: 7, VersionID: v[1].ID}, fault.Conflict},
		{"an answer for no parameter", b.Admin, cluster.ID, fleet.UpgradeChoice{Revision: 1, VersionID: v[1].ID, Answers: store.Values{"what": 1.0}}, fault.Invalid},
		{"an answer that is not valid", b.Admin, cluster.ID, fleet.UpgradeChoice{Revision: 1, VersionID: v[1].ID, Answers: store.Values{"count": "many"}}, fault.Invalid},
		{"what cannot change", b.Admin, cluster.ID, fleet.UpgradeChoice{Revision: 1, VersionID: v[1].ID, Answers: store.Values{"net": "10.1.0.0/16"}}, fault.Invalid},
		{"in the archive", b.Admin, archived.ID, fleet.UpgradeChoice{Revision: 1, VersionID: v[1].ID}, fault.Conflict},
		{"in deletion", b.Admin, deleting.ID, fleet.UpgradeChoice{Revision: 1, VersionID: v[1].ID}, fault.Conflict},
	}
	before := everything(t, b)
	for _, c := range cases {
		if _, _, err := b.UpgradeCluster(t.Context(), c.actor, c.cluster, c.choice); fault.KindOf(err) != c.kind {
			t.Errorf("%s: got %v, want %s", c.name, err, c.kind)
		}
	}
	require.Equal(t, before, everything(t, b))
	require.NoError(t, b.ChangeTemplateVersion(t.Context(), b.Admin, v[1].TemplateID, v[1].Number, fleet.VersionChange{Available: new(false)}))
	_, _, err = b.UpgradeCluster(t.Context(), b.Admin, cluster.ID, fleet.UpgradeChoice{Revision: 1, VersionID: v[1].ID})
	require.Equal(t, "template.version.unavailable", fieldsOf(t, err)[fleet.VersionField].Key)
}

// TestNoSecretIsToldByAnUpgrade moves secrets to every kind of parameter in which they could be read.
func TestNoSecretIsToldByAnUpgrade(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	const secret = "correct-horse"
	hosts := catalog(t, b, "hosts", false)
	made := record(t, b, hosts, store.Values{"address": "10.0.0.1", "cores": 4.0, "password": secret})
	before := fmt.Sprintf("- {key: count, type: number, title: C, default: 1}\n- {key: %%s, type: string, title: S, format: password}\n- {key: host, title: H, catalog: hosts}\n")
	for i, next := range []string{
		"{key: p, type: string, title: S}",
		"{key: p, type: string, title: S, immutable: true}",
		"{key: p, type: string, title: S, enum: [a, b], immutable: true}",
		"{key: p, type: string, title: S, format: password, minLength: 40}",
		"{key: p, type: string, title: S, format: password, immutable: true}",
		"{key: p, type: string, title: S, pattern: ^x$}",
		"{key: p, type: string, title: S, minItems: 1, maxItems: 2}",
		"{key: p, type: number, title: S, immutable: true}",
		"{key: p, title: S, catalog: hosts, immutable: true}",
		"{key: p, title: S, select: [{text: A, value: {a: 1}}]}",
		"{key: host, type: string, title: H}",
		"{key: host, type: string, title: H, immutable: true}",
		"{key: host, type: string, title: H, optional: true, default: x}",
		"{key: host, title: H, catalog: hosts, minItems: 1, maxItems: 3}",
		"{key: host, title: H, catalog: other, immutable: true}",
		"{key: q, type: string, title: Q}",
	} {
		v := family(t, b, fmt.Sprintf("team %d", i), fmt.Sprintf(before, "p"), "- {key: count, type: number, title: C, default: 1}\n- "+next+"\n")
		for j, answers := range []store.Values{nil, {"p": "other"}, {"host": "other"}, {"p": schema.Mask}, {"q": "x"}} {
			name := fmt.Sprintf("c%d-%d", i, j)
			cluster := on(t, b, v[0], name, store.Values{"p": secret, "host": choose(made)["master"]})
			untold := func(what string, of any) {
				told, err := json.Marshal(of)
				require.NoError(t, err)
				require.NotContains(t, string(told), secret, "%s to %s with %v", what, next, answers)
			}
			seen, err := b.PreviewUpgrade(t.Context(), b.Viewer, cluster.ID, v[1].ID, answers)
			require.NoError(t, err)
			untold("a preview", seen)
			draft, err := b.PreviewCluster(t.Context(), b.Viewer, b.Workspace.ID, v[1].ID, &cluster.ID, answers)
			require.NoError(t, err)
			untold("a draft", draft)
			// The ordinary form and the API may name another version as well.
			if _, _, err := b.ChangeCluster(t.Context(), b.Admin, cluster.ID, fleet.ClusterChange{Revision: 1, Name: name, TemplateVersionID: v[1].ID, Values: answers}); err != nil {
				untold("a change", err)
			}
			if _, _, err := b.UpgradeCluster(t.Context(), b.Admin, cluster.ID, fleet.UpgradeChoice{Revision: 1, VersionID: v[1].ID, Answers: answers}); err != nil {
				untold("an upgrade", err)
			}
		}
	}
	var audits string
	require.NoError(t, b.Store.Pool.QueryRow(t.Context(), "select string_agg(a::text, ' ') from audits a").Scan(&audits))
	require.NotContains(t, audits, secret)
}

// TestASecretIsReplacedWhereItCouldBeRead moves a cluster whose secret cannot go along: the answer is
// taken, although the parameter cannot change any more.
func TestASecretIsReplacedWhereItCouldBeRead(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	count := "- {key: count, type: number, title: C, default: 1}\n"
	v := family(t, b, "team", count+"- {key: p, type: string, title: P, format: password}\n", count+"- {key: p, type: string, title: P, immutable: true}\n")
	cluster := on(t, b, v[0], "one", store.Values{"p": "correct horse"})
	seen, err := b.PreviewUpgrade(t.Context(), b.Admin, cluster.ID, v[1].ID, nil)
	require.NoError(t, err)
	require.Equal(t, upgrade.Conflict, outcomes(seen)["p"])
	_, _, err = b.UpgradeCluster(t.Context(), b.Admin, cluster.ID, fleet.UpgradeChoice{Revision: 1, VersionID: v[1].ID})
	require.Equal(t, "parameter.was_secret", fieldsOf(t, err)["values.p"].Key)
	_, _, err = b.UpgradeCluster(t.Context(), b.Admin, cluster.ID, fleet.UpgradeChoice{Revision: 1, VersionID: v[1].ID, Answers: store.Values{"p": "open"}})
	require.NoError(t, err)
	view, err := b.Cluster(t.Context(), b.Admin, cluster.ID)
	require.NoError(t, err)
	require.Equal(t, "open", view.Wanted.Values["p"])
}

func TestUniqueValuesOfClusters(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	count := "- {key: count, type: number, title: C, default: 1}\n"
	v := family(t, b, "team",
		count+"- {key: host, type: string, title: H, unique: true, optional: true}\n- {key: pin, type: string, title: P, format: password, unique: true, optional: true}\n",
		count+"- {key: host, type: string, title: H, unique: true, default: shared}\n- {key: pin, type: string, title: P, format: password, unique: true, optional: true}\n")
	one := on(t, b, v[0], "one", store.Values{"host": "a", "pin": "correct horse"})
	two := on(t, b, v[0], "two", nil)
	three := on(t, b, v[0], "three", nil)
	change := fleet.ClusterChange{Revision: 1, Name: "two", TemplateVersionID: v[0].ID, Values: store.Values{"host": "a"}}
	_, _, err := b.ChangeCluster(t.Context(), b.Admin, two.ID, change)
	require.Equal(t, fault.Message{Key: "parameter.not_unique", Args: []any{"one"}}, fieldsOf(t, err)["values.host"])
	change.Values = store.Values{"pin": "correct horse"}
	_, _, err = b.ChangeCluster(t.Context(), b.Admin, two.ID, change)
	require.Equal(t, "parameter.not_unique", fieldsOf(t, err)["values.pin"].Key)
	draft, err := b.PreviewCluster(t.Context(), b.Viewer, b.Workspace.ID, v[0].ID, &two.ID, store.Values{"pin": "correct horse"})
	require.NoError(t, err)
	require.Empty(t, draft.Errors, "who may not save cannot guess secrets")

	// Both would get the new default: the second of them cannot, and the preview says so.
	lines, err := b.PreviewSwitch(t.Context(), b.Admin, v[1].ID, []uuid.UUID{one.ID, two.ID, three.ID})
	require.NoError(t, err)
	require.Nil(t, lines[0].Refusal)
	require.Nil(t, lines[1].Refusal)
	require.Equal(t, &fault.Message{Key: "cluster.switch.problem", Args: []any{"host", fault.Message{Key: "parameter.not_unique", Args: []any{"two"}}}}, lines[2].Refusal)

	after, _, err := b.UpgradeCluster(t.Context(), b.Admin, two.ID, fleet.UpgradeChoice{Revision: 1, VersionID: v[1].ID})
	require.NoError(t, err)
	_, _, err = b.UpgradeCluster(t.Context(), b.Admin, three.ID, fleet.UpgradeChoice{Revision: 1, VersionID: v[1].ID})
	require.Equal(t, "parameter.not_unique", fieldsOf(t, err)["values.host"].Key)
	_, _, err = b.UpgradeCluster(t.Context(), b.Admin, three.ID, fleet.UpgradeChoice{Revision: 1, VersionID: v[1].ID, Answers: store.Values{"host": "b"}})
	require.NoError(t, err)

	// A value is free again once its cluster has another one or is in the archive.
	_, _, err = b.ChangeCluster(t.Context(), b.Admin, two.ID, fleet.ClusterChange{Revision: after.Revision, Name: "two", TemplateVersionID: v[1].ID, Values: store.Values{"host": "c"}})
	require.NoError(t, err)
	saved, _, err := b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{WorkspaceID: b.Workspace.ID, Name: "four", TemplateVersionID: v[1].ID})
	require.NoError(t, err)
	_, err = b.ArchiveCluster(t.Context(), b.Admin, saved.ID)
	require.NoError(t, err)
	_, _, err = b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{WorkspaceID: b.Workspace.ID, Name: "five", TemplateVersionID: v[1].ID})
	require.NoError(t, err)
	var stored string
	require.NoError(t, b.Store.Pool.QueryRow(t.Context(), "select string_agg(v::text, ' ') from parameter_values v").Scan(&stored))
	require.False(t, strings.Contains(stored, "correct") || strings.Contains(stored, fmt.Sprintf("%x", "correct horse")), stored)
}

// TestAnotherTemplateIsAChange moves a cluster to a version of a template that it was not made from.
func TestAnotherTemplateIsAChange(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	const zone = "- {key: zone, title: Zone, type: string, default: a}\n"
	from, to := family(t, b, "from", plainOne+zone), family(t, b, "to", plainTwo+zone)
	cluster := on(t, b, from[0], "first", store.Values{"zone": "z"})
	after, task, err := b.UpgradeCluster(t.Context(), b.Admin, cluster.ID, fleet.UpgradeChoice{Revision: cluster.Revision, VersionID: to[0].ID})
	require.NoError(t, err)
	require.NotNil(t, task)
	require.Equal(t, store.TaskConverge, task.Kind)
	require.Equal(t, after.Revision, task.Revision)
	require.Equal(t, to[0].ID, *after.TemplateVersionID)
	view, err := b.Cluster(t.Context(), b.Viewer, cluster.ID)
	require.NoError(t, err)
	require.Equal(t, store.Values{"count": 2.0, "zone": "z"}, view.Wanted.Values, "what somebody set goes along")
}

// TestAChangedTemplateChangesNoCluster saves a template anew, and takes its version away.
func TestAChangedTemplateChangesNoCluster(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	v := family(t, b, "team", plainOne)
	cluster := on(t, b, v[0], "first", nil)
	before, err := b.Cluster(t.Context(), b.Viewer, cluster.ID)
	require.NoError(t, err)
	template, err := b.Store.Template(t.Context(), v[0].TemplateID)
	require.NoError(t, err)
	body := bodyWith(plainTwo)
	_, err = b.ChangeTemplate(t.Context(), b.Admin, template.ID, fleet.TemplateChange{Revision: template.CurrentRevision, Name: "renamed", Body: &body})
	require.NoError(t, err)
	require.NoError(t, b.ChangeTemplateVersion(t.Context(), b.Admin, template.ID, 1, fleet.VersionChange{Available: new(false)}))
	_, err = b.StartChecks(t.Context(), 10)
	require.NoError(t, err)
	after, err := b.Cluster(t.Context(), b.Viewer, cluster.ID)
	require.NoError(t, err)
	require.Equal(t, before.Wanted, after.Wanted)
	require.Equal(t, v[0].ID, *after.TemplateVersionID)
	require.Equal(t, store.ClusterInSync, after.Status)
	require.Len(t, after.Tasks, 1, "only its installation")
}

// TestOnlyTheAgentHasWorkWithObjects changes nothing but Kubernetes objects.
func TestOnlyTheAgentHasWorkWithObjects(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	body := bodyWith("- {key: greeting, title: Greeting, type: string, default: hello}\n")
	body.ClusterConfiguration = "kind: ClusterConfiguration\nclusterType: Static\n"
	body.ResourceGroups = store.ResourceGroups{{Name: "base", Controlled: true, Template: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: default}\ndata: {greeting: {{ .greeting | quote }}}\n"}}
	v := familyOf(t, b, "team", body)
	cluster := on(t, b, v[0], "first", nil)
	config, err := b.AgentConfiguration(t.Context(), cluster.ID)
	require.NoError(t, err)
	after, task, err := b.ChangeCluster(t.Context(), b.Admin, cluster.ID, fleet.ClusterChange{
		Revision: cluster.Revision, Name: "first", TemplateVersionID: v[0].ID, Values: store.Values{"greeting": "good morning"},
	})
	require.NoError(t, err)
	require.Nil(t, task, "no machine is touched for it")
	require.Equal(t, store.ClusterInSync, after.Status)
	now, err := b.AgentConfiguration(t.Context(), cluster.ID)
	require.NoError(t, err)
	require.NotEqual(t, config, now, "the agent is told at once")
	require.Contains(t, fmt.Sprint(now), "good morning")
}
