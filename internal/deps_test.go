// Package internal holds nothing itself: its test keeps the import arrows of docs/architecture.md.
package internal

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "commander/"

// contracts are what both sides of a wire may import.
var contracts = []string{"agents/agentapi", "agents/tunnel", "agents/dhctl/dhctlpb"}

// rule says what the packages in a folder may depend on, directly or through others.
type rule struct {
	folder string
	except []string // folders inside that the rule does not count: they join what it keeps apart
	may    []string // folders of ours, besides the folder itself
	never  []string // beginnings of foreign import paths
}

// toolkit is what belongs to the console and must not reach programs that run elsewhere.
var toolkit = []string{"github.com/jackc/pgx", "github.com/riverqueue", "github.com/a-h/templ", "github.com/go-chi"}

var kubernetes = []string{"k8s.io/client-go", "k8s.io/api", "sigs.k8s.io/controller-runtime"}

var rules = []rule{
	{folder: "migrations"},
	{folder: "store", except: []string{"store/storetest"}, may: []string{"migrations", "internal/fault"}},
	{folder: "fleet", may: []string{"store", "migrations", "internal"}, never: kubernetes},
	{folder: "jobs", may: slices.Concat(contracts, []string{"fleet", "store", "migrations", "billing", "internal"})},
	{
		folder: "web", except: []string{"web/clusterconsole"}, never: kubernetes,
		may: slices.Concat(contracts, []string{"fleet", "store", "migrations", "views", "billing", "internal"}),
	},
	{folder: "billing", may: []string{"store", "migrations", "internal"}},
	{folder: "views"},
	{folder: "internal"},
	{folder: "agents/agentapi", never: slices.Concat(kubernetes, toolkit)},
	{folder: "agents/tunnel", never: slices.Concat(kubernetes, toolkit)},
	{folder: "agents/dhctl/dhctlpb", never: slices.Concat(kubernetes, toolkit)},
	{folder: "agents/commander", may: append(contracts, "internal"), never: toolkit},
	{folder: "agents/connector", may: append(contracts, "internal"), never: toolkit},
	{folder: "agents/dhctl", may: append(contracts, "internal"), never: toolkit},
	{folder: "agents/lab", may: append(contracts, "internal"), never: toolkit},
	{folder: "agents/node", may: append(contracts, "internal"), never: toolkit},
	{folder: "agents/dvp", may: append(contracts, "internal"), never: toolkit},
	// It runs every minute on every node, and so must stay small.
	{folder: "cmd/bashible", may: []string{"agents", "internal"}, never: slices.Concat(kubernetes, toolkit)},
	{folder: "cmd/commander-agent", may: []string{"agents", "internal"}, never: toolkit},
	{folder: "cmd/ampg-connector", may: []string{"agents", "internal"}, never: toolkit},
	{folder: "cmd/dhctl", may: []string{"agents", "internal"}, never: toolkit},
	{folder: "cmd/capdvp-controller-manager", may: []string{"agents", "internal"}, never: toolkit},
	{folder: "cmd/dvp-cloud-controller-manager", may: []string{"agents", "internal"}, never: toolkit},
	{folder: "cmd/dvp-cloud-data-discoverer", may: []string{"agents", "internal"}, never: toolkit},
	{folder: "cmd/dvp-csi-driver", may: []string{"agents", "internal"}, never: toolkit},
	{folder: "cmd/dvp-emulator", may: []string{"agents", "internal"}, never: toolkit},
	{folder: "cmd/terraform-provider-dvp", may: []string{"agents", "internal"}, never: toolkit},
	// Helm renders charts in tests only.
	{
		folder: "cmd", never: []string{"helm.sh/helm"},
		may: []string{"agents", "billing", "fleet", "internal", "jobs", "migrations", "store", "views", "web"},
	},
	{folder: "cmd/lab", may: []string{"agents", "internal"}, never: toolkit},
}

func TestImportArrows(t *testing.T) {
	t.Parallel()
	packages := listPackages(t)
	if len(packages) < 10 {
		t.Fatalf("go list found %d packages, want all of ours", len(packages))
	}
	for _, r := range rules {
		for pkg, deps := range packages {
			for _, dep := range r.broken(pkg, deps) {
				t.Errorf("%s depends on %s", pkg, dep)
			}
		}
	}
	for pkg, deps := range packages {
		if i := slices.IndexFunc(deps, func(dep string) bool { return under(dep, "cmd") }); i >= 0 {
			t.Errorf("%s depends on %s: nothing imports a program", pkg, deps[i])
		}
	}
}

// The real packages break these rules: a test that could not fail would be no test.
func TestBrokenArrowsAreSeen(t *testing.T) {
	t.Parallel()
	packages := listPackages(t)
	for _, r := range []rule{
		{folder: "internal/kubetest", never: []string{"k8s.io/client-go"}},
		{folder: "internal/config"}, // which imports internal/run
	} {
		seen := false
		for pkg, deps := range packages {
			seen = seen || len(r.broken(pkg, deps)) > 0
		}
		if !seen {
			t.Errorf("nothing breaks the rule %+v", r)
		}
	}
}

// listPackages maps each package of ours to all it depends on.
func listPackages(t *testing.T) map[string][]string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{join .Deps " "}}`, module+"...")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list packages: %v: %s", err, stderr.String())
	}
	packages := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		packages[words[0]] = words[1:]
	}
	return packages
}

// broken lists what a package depends on against the rule.
func (r rule) broken(pkg string, deps []string) []string {
	if !under(pkg, r.folder) || slices.ContainsFunc(r.except, func(folder string) bool { return under(pkg, folder) }) {
		return nil
	}
	var found []string
	for _, dep := range deps {
		if strings.HasPrefix(dep, module) {
			if !slices.ContainsFunc(append(r.may, r.folder), func(folder string) bool { return under(dep, folder) }) {
				found = append(found, dep)
			}
			continue
		}
		if slices.ContainsFunc(r.never, func(beginning string) bool { return strings.HasPrefix(dep, beginning) }) {
			found = append(found, dep)
		}
	}
	return found
}

func under(pkg, folder string) bool {
	return pkg == module+folder || strings.HasPrefix(pkg, module+folder+"/")
}
