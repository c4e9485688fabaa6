package controlplane

import _ "embed"

// stages tells kwok how nodes and pods live.
//
//go:embed stages.yaml
var stages []byte
