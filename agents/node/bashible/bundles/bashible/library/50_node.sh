# What needs the API server or package servers is done by the runner.

bb-wait-for-approval() { "$BASHIBLE_RUNNER" approval; }
bb-deckhouse-get-disruptive-update-approval() { "$BASHIBLE_RUNNER" disruption; }
bb-reboot-if-needed() { "$BASHIBLE_RUNNER" reboot; }

# bb-curl-kube PATH [-X METHOD] [-d BODY] [-H 'Content-Type: …'] prints the answer of the API server.
bb-curl-kube() { "$BASHIBLE_RUNNER" kube "$@"; }
bb-curl-kube-healthz() { "$BASHIBLE_RUNNER" kube /healthz >/dev/null; }

# bb-curl-helper-patch-node-metadata NODE labels|annotations [--resource-version=N] KEY=VALUE KEY- …
# changes this node; other nodes are not this node's to change.
bb-curl-helper-patch-node-metadata() {
  local node=$1 what=$2
  shift 2
  [[ "$node" == "$D8_NODE_HOSTNAME" ]] || bb-exit 1 "node $node is not this node"
  case "$what" in
    labels) "$BASHIBLE_RUNNER" label "$@" ;;
    annotations) "$BASHIBLE_RUNNER" annotate "$@" ;;
    *) bb-exit 1 "$what is neither labels nor annotations" ;;
  esac
}

bb-d8-node-name() { printf '%s\n' "$D8_NODE_HOSTNAME"; }
bb-d8-node-ip() {
  cat "$BASHIBLE_STATE_DIR/discovered-node-ip" 2>/dev/null ||
    ip -4 -o route get 1.1.1.1 2>/dev/null | sed -n 's/.* src \([0-9.]*\).*/\1/p'
}

# bb-package-install NAME:DIGEST… installs what is not installed in exactly this version, and fires
# bb-package-installed with the name for each that was.
bb-package-install() {
  local package before
  for package in "$@"; do
    before=$(cat "$BASHIBLE_PACKAGES_DIR/${package%%:*}/digest" 2>/dev/null || true)
    [[ "$before" != "${package#*:}" ]] || continue
    "$BASHIBLE_RUNNER" package install "$package"
    bb-event-fire bb-package-installed "${package%%:*}"
  done
}
bb-package-fetch() { "$BASHIBLE_RUNNER" package fetch "$@"; }
bb-package-remove() {
  local name
  for name in "$@"; do
    [[ -e "$BASHIBLE_PACKAGES_DIR/$name/digest" ]] || continue
    "$BASHIBLE_RUNNER" package remove "$name"
    bb-event-fire bb-package-removed "$name"
  done
}

# bb-is-bundle? NAME… says whether the operating system is one of these, by the ID of
# /etc/os-release, alone or with its version: debian, debian-12.
bb-is-bundle?() {
  local id version name
  id=$(. "${BB_OS_RELEASE:-/etc/os-release}" && printf '%s' "$ID")
  version=$(. "${BB_OS_RELEASE:-/etc/os-release}" && printf '%s' "${VERSION_ID:-}")
  for name in "$@"; do
    [[ "$name" != "$id" && "$name" != "$id-$version" ]] || return 0
  done
  return 1
}
