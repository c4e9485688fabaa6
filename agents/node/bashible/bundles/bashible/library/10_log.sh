# Functions of steps. A step runs in a shell of its own with errexit, errtrace and pipefail, after
# these were read; BASHIBLE_RUNNER is the program that started it.

bb-log-debug() { [[ "${BB_LOG_LEVEL:-info}" != debug ]] || printf 'debug: %s\n' "$*" >&2; }
bb-log-info() { printf '%s\n' "$*"; }
bb-log-warning() { printf 'warning: %s\n' "$*" >&2; }
bb-log-error() { printf 'error: %s\n' "$*" >&2; }

# bb-error? says whether the command before it failed.
bb-error?() { (($? != 0)); }

# bb-exit CODE MESSAGE… ends the step.
bb-exit() {
  local code=$1
  shift
  if ((code == 0)); then bb-log-info "$*"; else bb-log-error "$*"; fi
  exit "$code"
}

# bb-exit-on-error MESSAGE… ends the step if the command before it failed.
bb-exit-on-error() {
  local code=$?
  ((code == 0)) || bb-exit "$code" "$@"
}

# bb-var NAME DEFAULT gives a variable a value unless it has one.
bb-var() {
  [[ -n "${!1:-}" ]] || printf -v "$1" '%s' "$2"
}
