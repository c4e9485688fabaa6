#!/bin/bash
# The first run of bashible on a machine that is to be a node of the group {{ .nodeGroup.name | line }}.
set -Eeuo pipefail
umask 077
state="${BASHIBLE_STATE_DIR:-/var/lib/bashible}"
runner="${BASHIBLE_RUNNER:-/opt/deckhouse/bin/bashible}"
export BASHIBLE_API_SERVERS={{ join "," .normal.apiserverEndpoints | squote }}
{{- if or (eq .nodeGroup.nodeType "CloudEphemeral") .nodeGroup.staticInstances }}
# Who ordered the machine can follow what happens on it.
tell() {
  local try address
  address=$(hostname -I | cut -d' ' -f1)
  for try in 1 2 3; do
    "$runner" kube "/apis/deckhouse.io/v1alpha2/instances/$(<"$state/machine-name")/status" -X PATCH -H 'Content-Type: application/merge-patch+json' \
      -d "{\"status\":{\"bootstrapStatus\":{\"description\":\"use 'nc $address 8000' to follow\",\"logsEndpoint\":\"$address:8000\"}}}" >/dev/null && return 0
    sleep 1
  done
  echo "the log of this machine could not be announced"
}
[[ -s "$state/machine-name" ]] || cp "$state/discovered-node-name" "$state/machine-name"
tell
{{- end }}
[[ -e "$state/bashible-fully-initialized" ]] || touch "$state/first_run"
until "$runner" script {{ .nodeGroup.name | squote }} >"$state/bashible.sh.download" && head -n 1 "$state/bashible.sh.download" | grep -q '^#!/.*bash$'; do
  echo "the API server has not given bashible.sh; trying again in 10 seconds"
  sleep 10
done
mv "$state/bashible.sh.download" "$state/bashible.sh"
chmod 0700 "$state/bashible.sh"
until "$state/bashible.sh" --max-retries 10; do
  echo "bashible.sh ended; trying again in 10 seconds"
  sleep 10
done
