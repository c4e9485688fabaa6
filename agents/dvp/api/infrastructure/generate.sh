#!/bin/sh
# Makes the deepcopy functions and the definitions of this folder's kinds from their Go types.
set -eu
cd "$(dirname "$0")/../../../.."
generator="go tool -modfile=tools.mod controller-gen"
folder=agents/dvp/api/infrastructure
rm -f $folder/v1alpha1/deepcopy_gen.go # what it finds written it leaves out
$generator object paths=./$folder/v1alpha1
mv $folder/v1alpha1/zz_generated.deepcopy.go $folder/v1alpha1/deepcopy_gen.go
$generator crd:maxDescLen=400 paths=./$folder/v1alpha1 output:crd:dir=$folder/crds
