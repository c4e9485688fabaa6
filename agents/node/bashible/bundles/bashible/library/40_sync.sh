# bb-sync-file TARGET SOURCE|- [EVENT ARGUMENT…] makes a file have a content, keeping its mode and
# owner. Only if it had another, the event is delayed to the end of the step.
bb-sync-file() {
  local target=$1 source=$2 content
  shift 2
  content=$(mktemp -p "$BB_WORKSPACE")
  if [[ "$source" == - ]]; then cat >"$content"; else cat "$source" >"$content"; fi
  if cmp -s "$content" "$target"; then
    rm -f "$content"
    return 0
  fi
  mkdir -p "$(dirname "$target")"
  # Before the change: a step that is killed between the two acts once too often, never too seldom.
  if (($# > 0)); then bb-event-delay "$@"; fi
  if [[ -e "$target" ]]; then
    chmod --reference="$target" "$content"
    chown --reference="$target" "$content"
  else
    chmod 0644 "$content"
  fi
  # In one move, so that nobody reads half of it.
  mv -f "$content" "$target.bb-new"
  mv -f "$target.bb-new" "$target"
}

# bb-link TARGET NAME makes a symbolic link lead somewhere.
bb-link() {
  [[ "$(readlink "$2" 2>/dev/null || true)" == "$1" ]] || { mkdir -p "$(dirname "$2")" && ln -sfn "$1" "$2"; }
}
