#!/bin/sh
# Makes the deepcopy functions, the definition of DVPInstanceClass and the schema of
# DVPClusterConfiguration from their Go types.
set -eu
cd "$(dirname "$0")/../../../.."
generator="go tool -modfile=tools.mod controller-gen"
folder=agents/dvp/api/configuration
for version in v1 v1alpha1; do
	rm -f $folder/$version/deepcopy_gen.go # what it finds written it leaves out
done
$generator object paths=./$folder/...
for version in v1 v1alpha1; do
	mv $folder/$version/zz_generated.deepcopy.go $folder/$version/deepcopy_gen.go
done
$generator crd:maxDescLen=400 paths=./$folder/v1alpha1 output:crd:dir=$folder/crds
$generator crd:maxDescLen=0 paths=./$folder/v1 output:crd:dir=$folder/documents
# The chart installs the same definitions.
mkdir -p charts/cloud-provider-dvp/definitions
cp $folder/crds/*.yaml agents/dvp/api/infrastructure/crds/*.yaml charts/cloud-provider-dvp/definitions/
