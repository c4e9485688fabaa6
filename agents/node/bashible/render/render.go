// Package render makes the configuration of every group of nodes from what the cluster says.
// It only computes: equal input gives equal output.
package render

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"

	"sigs.k8s.io/yaml"

	v1 "commander/agents/node/api/v1"
	"commander/agents/node/api/v1alpha1"
	"commander/agents/node/bashible/input"
)

// Input is everything that configurations are made from.
type Input struct {
	Cluster  input.Cluster
	Registry map[string]any                    // address, path, scheme, ca, dockerCfg
	Images   map[string]any                    // digests of packages and images by name
	Versions map[string]any                    // bashible and k8s
	Scripts  []v1alpha1.NodeGroupConfiguration // in the order of their names, as are the users
	Users    []v1.NodeUser
}

func (in Input) provider() string {
	name, _ := in.Cluster.CloudProvider["type"].(string)
	return name
}

// Group is the configuration of one group.
type Group struct {
	Checksum  string // SHA-256 in hexadecimal
	Script    string // bashible.sh
	Steps     Steps
	Bootstrap string // makes a machine a node; holds a token
	// Prerequisites is what a bare machine starts with: it fetches Bootstrap. It holds a token.
	Prerequisites string
}

// Everything is the configurations of all groups.
type Everything struct {
	Groups  map[string]Group
	Library string // the functions that steps use
}

// Checksums is that of each group, by its name.
func (e Everything) Checksums() map[string]string {
	all := make(map[string]string, len(e.Groups))
	for name, g := range e.Groups {
		all[name] = g.Checksum
	}
	return all
}

// All renders from the templates in a folder. It fails if any step of the system cannot be
// rendered; scripts of users that cannot are logged and left out.
func All(in Input, from fs.FS, log *slog.Logger) (Everything, error) {
	library, err := Library(from)
	if err != nil {
		return Everything{}, err
	}
	all := Everything{map[string]Group{}, library}
	same := interner{}
	for _, group := range in.Cluster.NodeGroups {
		made, err := one(in, group, from, library, log)
		if err != nil {
			return Everything{}, fmt.Errorf("group %s: %w", group.Name(), err)
		}
		for name, text := range made.Steps {
			made.Steps[name] = same.of(text)
		}
		all.Groups[group.Name()] = made
	}
	return all, nil
}

func one(in Input, group input.Group, from fs.FS, library string, log *slog.Logger) (Group, error) {
	context, err := contextOf(in, group, from)
	if err != nil {
		return Group{}, err
	}
	common, err := renderSteps(from, in.provider(), targetAll, context)
	if err != nil {
		return Group{}, err
	}
	own, err := renderSteps(from, in.provider(), targetGroup, context)
	if err != nil {
		return Group{}, err
	}
	addScripts(own, common, in.Scripts, group.Name(), context, log)
	made := Group{Steps: maps.Clone(common)}
	maps.Copy(made.Steps, own)
	if made.Checksum, err = checksum(lasting(context), common, own, library); err != nil {
		return Group{}, err
	}
	context["configurationChecksum"] = made.Checksum
	context["bootstrapToken"] = in.Cluster.BootstrapTokens[group.Name()]
	for file, into := range map[string]*string{
		"bashible/bashible.sh.tpl":                        &made.Script,
		"bashible/bootstrap/01-prerequisites.sh.tpl":      &made.Prerequisites,
		"bashible/bootstrap/02-bootstrap-bashible.sh.tpl": &made.Bootstrap,
	} {
		source, err := fs.ReadFile(from, file)
		if err != nil {
			return Group{}, fmt.Errorf("read template: %w", err)
		}
		if *into, err = execute(file, string(source), context); err != nil {
			return Group{}, err
		}
	}
	return made, nil
}

// checksum is over all that a node's configuration consists of.
func checksum(parts ...any) (string, error) {
	hash := sha256.New()
	for _, part := range parts {
		text, err := yaml.Marshal(part)
		if err != nil {
			return "", fmt.Errorf("write for checksum: %w", err)
		}
		hash.Write(text)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// interner keeps one copy of equal texts: most steps are the same in every group.
type interner map[string]string

func (i interner) of(text string) string {
	if known, is := i[text]; is {
		return known
	}
	i[text] = text
	return text
}
