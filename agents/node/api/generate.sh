#!/bin/sh
# Makes the deepcopy functions and the definitions of this folder's kinds from their Go types.
set -eu
cd "$(dirname "$0")/../../.."
generator="go tool -modfile=tools.mod controller-gen"
for version in v1 v1alpha1 v1alpha2; do
	# What it finds written it leaves out, under whatever name but its own.
	rm -f agents/node/api/$version/deepcopy_gen.go
done
$generator object paths=./agents/node/api/...
for version in v1 v1alpha1 v1alpha2; do
	mv agents/node/api/$version/zz_generated.deepcopy.go agents/node/api/$version/deepcopy_gen.go
done
$generator crd:maxDescLen=400 paths=./agents/node/api/... output:crd:dir=agents/node/api/crds
# The chart installs the same definitions.
mkdir -p charts/node-manager/definitions
cp agents/node/api/crds/*.yaml charts/node-manager/definitions/
