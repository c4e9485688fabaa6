// Package build provides the programs of a lab: it uses what the machine has if that fits, and
// compiles the rest from its Go modules into a cache folder.
package build

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Target is a program that can be built.
type Target struct {
	Name    string   // how people know it
	Version string   // what its --version says when it is the wanted one, like v1.37.2; empty if it says nothing useful
	Module  string   // folder of its module, below the source folder
	ModFile string   // module file in that folder if it is not go.mod
	Package string   // import path, or . for the module's own
	LDFlags []string // besides -s -w
	Output  string   // file, below the cache folder
	Usual   string   // how long it takes with nothing compiled before, on two idle cores
}

// Versions of Kubernetes that a lab can run, newest first: the first is the default.
var releases = []struct{ minor, patch, modFile string }{
	{"1.37", "v1.37.2", ""},
	{"1.36", "v1.36.3", "v1.36.mod"},
}

// Etcd and Kwok are the other programs of a lab, one version of each for all clusters.
var (
	Etcd = Target{
		Name: "etcd", Version: "3.7.3", Module: "etcd", Package: "go.etcd.io/etcd/server/v3",
		Output: "etcd", Usual: "half a minute",
	}
	Kwok = Target{Name: "kwok", Module: "kwok", Package: "sigs.k8s.io/kwok/cmd/kwok", Output: "kwok", Usual: "two minutes"}
)

// Minors lists the Kubernetes versions that a lab can run, like 1.37, the default first.
func Minors() []string {
	var all []string
	for _, r := range releases {
		all = append(all, r.minor)
	}
	return all
}

// Minor reads a Kubernetes version as people write it (1.37, v1.37, v1.37.2, or empty for the
// default) and returns it like 1.37. It fails if the lab has no such version.
func Minor(version string) (string, error) {
	if version == "" {
		return releases[0].minor, nil
	}
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	if len(parts) == 2 || len(parts) == 3 {
		minor := parts[0] + "." + parts[1]
		if slices.Contains(Minors(), minor) {
			return minor, nil
		}
	}
	return "", fmt.Errorf("Kubernetes version %q is not one of the lab's: %s", version, strings.Join(Minors(), ", "))
}

// Kubernetes is the target of a Kubernetes version: one program that behaves as the component
// by whose name it is called. The version must come from Minor.
func Kubernetes(minor string) Target {
	i := slices.Index(Minors(), minor)
	release := releases[i]
	const version = "k8s.io/component-base/version"
	major, minorNumber, _ := strings.Cut(minor, ".")
	return Target{
		Name: "Kubernetes " + release.patch, Version: release.patch,
		Module: "kubernetes", ModFile: release.modFile, Package: ".",
		// Without these stamps the API server and the nodes would call themselves v0.0.0.
		LDFlags: []string{
			"-X " + version + ".gitVersion=" + release.patch, "-X " + version + ".gitMajor=" + major,
			"-X " + version + ".gitMinor=" + minorNumber, "-X " + version + ".gitTreeState=clean",
			"-X k8s.io/client-go/pkg/version.gitVersion=" + release.patch,
		},
		Output: filepath.Join("kubernetes", "v"+minor, "kubernetes"), Usual: "ten minutes",
	}
}

// command gives the arguments of go that build the target into a file. The flags are the same
// each time, because Go keeps compiled packages by their flags.
func (t Target) command(output string) []string {
	args := []string{"build", "-v", "-trimpath", "-ldflags", strings.Join(append([]string{"-s -w"}, t.LDFlags...), " ")}
	return append(t.modFlag(args), "-o", output, t.Package)
}

// list gives the arguments of go that list the packages of the target, one a line.
func (t Target) list() []string {
	return append(t.modFlag([]string{"list", "-trimpath", "-deps"}), t.Package)
}

func (t Target) modFlag(args []string) []string {
	if t.ModFile != "" {
		args = append(args, "-modfile="+t.ModFile)
	}
	return args
}
