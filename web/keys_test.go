package web_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/views/i18n"
)

// keyLike is how keys of messages look, and names of files do not.
var keyLike = regexp.MustCompile(`^(fault|cluster|inventory|parameter|registry|render|task|template|token|workspace)(\.[a-z_]+)+$`)

// keysIn collects the keys of messages in the sources below a folder. Words of the audit, names
// of jobs and of permissions look the same and are left out by where they stand.
func keysIn(t *testing.T, root string) map[string]string {
	t.Helper()
	keys := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == "node_modules" {
			return fs.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files := token.NewFileSet()
		source, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(source, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				name, is := n.Key.(*ast.Ident)
				return !is || name.Name != "Action"
			case *ast.ValueSpec:
				kind, is := n.Type.(*ast.Ident)
				return !is || kind.Name != "Permission"
			case *ast.FuncDecl:
				return n.Name.Name != "Kind"
			case *ast.CallExpr:
				callee, is := n.Fun.(*ast.SelectorExpr)
				return !is || callee.Sel.Name != "requeue" && callee.Sel.Name != "auditGivenUp"
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil &&
					keyLike.MatchString(text) && !strings.HasSuffix(text, ".yaml") {
					keys[text] = files.Position(n.Pos()).String()
				}
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	return keys
}

func TestEveryMessageOfTheRulesHasAText(t *testing.T) {
	t.Parallel()
	keys := keysIn(t, "../fleet")
	require.Contains(t, keys, "cluster.stale_revision", "the search finds nothing any more")
	for key, where := range keysIn(t, ".") {
		keys[key] = where
	}
	// What is put together from parts cannot be found by looking.
	for _, kind := range []string{"template", "yaml"} {
		keys["render."+kind] = "fleet/render"
	}
	for _, kind := range []fault.Kind{
		fault.Invalid, fault.NotFound, fault.Conflict, fault.Forbidden, fault.Unauthenticated, fault.Unavailable, fault.Internal,
	} {
		keys["fault."+string(kind)] = "respond.Message"
		keys["failure."+string(kind)+".title"] = "layout.Failure"
		keys["failure."+string(kind)+".hint"] = "layout.Failure"
	}
	for _, status := range fleet.Attention {
		keys["cluster.next."+string(status)] = "console.next"
	}
	for _, status := range []store.TaskStatus{
		store.TaskQueued, store.TaskSucceeded, store.TaskFailed, store.TaskCancelled, store.TaskWaitingApproval,
		store.TaskLost, store.TaskLostInCritical,
	} {
		keys["task.next."+string(status)] = "console.next"
	}
	for key, where := range keys {
		if !i18n.Has(key) {
			t.Errorf("%s: the catalogs have no text for %q", where, key)
		}
	}
}
