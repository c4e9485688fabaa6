package clusters

import "commander/views/ui"

// Settings are the tab of how a cluster is kept as declared and protected.
type Settings struct {
	Head
	Fields  []ui.Field // mode and interval
	Saved   bool
	CanEdit bool
	Locked  bool // protected from deletion
}

// Names of the settings' fields, and the values of the mode.
const (
	FieldMode       = "mode"
	FieldCheckEvery = "check_every"
	FieldLocked     = "locked"
	ModeAuto        = "auto"
	ModeManual      = "manual"
)
