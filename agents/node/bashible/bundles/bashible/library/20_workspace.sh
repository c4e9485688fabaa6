# A folder that goes with the step.
BB_WORKSPACE=$(mktemp -d)

bb-tmp-dir() { mktemp -d -p "$BB_WORKSPACE"; }
bb-tmp-file() { mktemp -p "$BB_WORKSPACE"; }

# Flags last until they are unset, beyond the step and the run.
BB_FLAGS="${BASHIBLE_STATE_DIR:-/var/lib/bashible}/flags"

bb-flag?() { [[ -e "$BB_FLAGS/$1" ]]; }
bb-flag-set() { mkdir -p "$BB_FLAGS" && : >"$BB_FLAGS/$1"; }
bb-flag-unset() { rm -f "$BB_FLAGS/$1"; }
