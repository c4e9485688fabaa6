#!/bin/bash
# Configures this node as one of the group full. It is made for the group by
# bashible-api-server; the program that it starts replaces it when there is a newer one.
export HTTP_PROXY='http://proxy:3128' http_proxy='http://proxy:3128'
export NO_PROXY='10.0.0.0/8,.local' no_proxy='10.0.0.0/8,.local'
export PATH=/opt/deckhouse/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export BASHIBLE_NODE_GROUP='full'
export BASHIBLE_CHECKSUM='CHECKSUM'
export BASHIBLE_API_SERVERS='10.0.0.1:6443,10.0.0.2:6443'
export BASHIBLE_PACKAGES_PROXY_ADDRESSES='10.0.0.1:4219,10.0.0.2:4219'
export BASHIBLE_PACKAGES_PROXY_TOKEN='packages'
exec "${BASHIBLE_RUNNER:-/opt/deckhouse/bin/bashible}" run "$@"
