#!/bin/bash
# Configures this node as one of the group {{ .nodeGroup.name | line }}. It is made for the group by
# bashible-api-server; the program that it starts replaces it when there is a newer one.
{{- with .proxy }}
{{- with .httpProxy }}
export HTTP_PROXY={{ . | squote }} http_proxy={{ . | squote }}
{{- end }}
{{- with .httpsProxy }}
export HTTPS_PROXY={{ . | squote }} https_proxy={{ . | squote }}
{{- end }}
export NO_PROXY={{ join "," (.noProxy | default list) | squote }} no_proxy={{ join "," (.noProxy | default list) | squote }}
{{- end }}
export PATH=/opt/deckhouse/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export BASHIBLE_NODE_GROUP={{ .nodeGroup.name | squote }}
export BASHIBLE_CHECKSUM={{ .configurationChecksum | squote }}
export BASHIBLE_API_SERVERS={{ join "," .normal.apiserverEndpoints | squote }}
export BASHIBLE_PACKAGES_PROXY_ADDRESSES={{ join "," .packagesProxy.addresses | squote }}
{{- with .packagesProxy.token }}
export BASHIBLE_PACKAGES_PROXY_TOKEN={{ . | squote }}
{{- else }}
BASHIBLE_PACKAGES_PROXY_TOKEN=$(cat {{ .normal.bootstrapTokenPath }} 2>/dev/null)
export BASHIBLE_PACKAGES_PROXY_TOKEN
{{- end }}
exec "${BASHIBLE_RUNNER:-/opt/deckhouse/bin/bashible}" run "$@"
