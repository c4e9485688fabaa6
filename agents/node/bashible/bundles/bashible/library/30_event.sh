# Events: a step says what shall be done when something changed. Subscriptions live as long as the
# step. A delayed event outlives a step that fails, so that the try that succeeds still does what a
# change made necessary.

BB_SUBSCRIBED="$BB_WORKSPACE/subscribed"
BB_DELAYED="${BASHIBLE_STATE_DIR:-/var/lib/bashible}/delayed/${BASHIBLE_STEP:-none}"
BB_EVENT_DEPTH=0

# bb-event-on EVENT HANDLER subscribes a function or program; twice is once.
bb-event-on() {
  mkdir -p "$BB_SUBSCRIBED"
  grep -qxF -- "$2" "$BB_SUBSCRIBED/$1" 2>/dev/null || printf '%s\n' "$2" >>"$BB_SUBSCRIBED/$1"
}

# bb-event-off EVENT HANDLER takes that back.
bb-event-off() {
  local kept
  [[ -e "$BB_SUBSCRIBED/$1" ]] || return 0
  kept=$(grep -vxF -- "$2" "$BB_SUBSCRIBED/$1" || true)
  printf '%s' "${kept:+$kept$'\n'}" >"$BB_SUBSCRIBED/$1"
}

# bb-event-fire EVENT ARGUMENT… runs the handlers now, in the order in which they subscribed.
bb-event-fire() {
  local event=$1 handler handlers=()
  shift
  [[ -s "$BB_SUBSCRIBED/$event" ]] || return 0
  ((BB_EVENT_DEPTH < 1000)) || bb-exit 1 "event $event: handlers fire each other without end"
  mapfile -t handlers <"$BB_SUBSCRIBED/$event"
  BB_EVENT_DEPTH=$((BB_EVENT_DEPTH + 1))
  for handler in "${handlers[@]}"; do "$handler" "$@"; done
  BB_EVENT_DEPTH=$((BB_EVENT_DEPTH - 1))
}

# bb-event-delay EVENT ARGUMENT… fires at the end of the step; the same twice fires once.
bb-event-delay() {
  local line
  line=$(printf '%q ' "$@")
  mkdir -p "${BB_DELAYED%/*}"
  grep -qxF -- "$line" "$BB_DELAYED" 2>/dev/null || printf '%s\n' "$line" >>"$BB_DELAYED"
}

# What handlers delay in their turn is fired too.
bb-event-fire-delayed() {
  local line
  while [[ -s "$BB_DELAYED" ]]; do
    IFS= read -r line <"$BB_DELAYED"
    eval "bb-event-fire $line"
    # Only now: a handler that fails is tried again with the step.
    tail -n +2 "$BB_DELAYED" >"$BB_WORKSPACE/delayed"
    cat "$BB_WORKSPACE/delayed" >"$BB_DELAYED"
  done
  rm -f "$BB_DELAYED"
}

bb-end-of-step() {
  local code=$?
  trap - EXIT
  if ((code == 0)); then
    set +e
    (
      set -e
      bb-event-fire-delayed
    )
    code=$?
  fi
  rm -rf "$BB_WORKSPACE"
  exit "$code"
}
trap bb-end-of-step EXIT
