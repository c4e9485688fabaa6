#!/bin/sh
# Makes the Go code of this folder's .proto file. It needs protoc (Debian: protobuf-compiler);
# the plugins are those that tools.mod pins.
set -eu
cd "$(dirname "$0")/../../../.."
plugins=$(mktemp -d)
trap 'rm -rf "$plugins"' EXIT
for name in protoc-gen-go protoc-gen-go-grpc; do
	printf '#!/bin/sh\nexec go tool -modfile=tools.mod %s "$@"\n' "$name" >"$plugins/$name"
	chmod +x "$plugins/$name"
done
protoc -I . \
	--plugin="$plugins/protoc-gen-go" --go_out=. --go_opt=paths=source_relative \
	--plugin="$plugins/protoc-gen-go-grpc" --go-grpc_out=. --go-grpc_opt=paths=source_relative \
	agents/node/fencing/fencingpb/*.proto
