#!/bin/bash
# The first run of bashible on a machine that is to be a node of the group plain.
set -Eeuo pipefail
umask 077
state="${BASHIBLE_STATE_DIR:-/var/lib/bashible}"
runner="${BASHIBLE_RUNNER:-/opt/deckhouse/bin/bashible}"
export BASHIBLE_API_SERVERS='10.0.0.1:6443,10.0.0.2:6443'
[[ -e "$state/bashible-fully-initialized" ]] || touch "$state/first_run"
until "$runner" script 'plain' >"$state/bashible.sh.download" && head -n 1 "$state/bashible.sh.download" | grep -q '^#!/.*bash$'; do
  echo "the API server has not given bashible.sh; trying again in 10 seconds"
  sleep 10
done
mv "$state/bashible.sh.download" "$state/bashible.sh"
chmod 0700 "$state/bashible.sh"
until "$state/bashible.sh" --max-retries 10; do
  echo "bashible.sh ended; trying again in 10 seconds"
  sleep 10
done
