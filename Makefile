# Everything that is done with this source tree, by name. `make` alone lists it.
#
# Results go to bin/ (our programs), .cache/ (programs that are not ours, built from source once)
# and .demo/ (what a demo keeps). None of them is committed.

PORT ?= 8443
HOST ?= localhost

# Packages that are tested at a time: one more than there are cores, since many wait for time to pass or for
# machines to start. The longest ones begin first.
TEST_PACKAGES ?= $(shell expr $$(nproc) + 1)

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# Our programs need no C library; building them without cgo also means without a C compiler.
GO_BUILD = CGO_ENABLED=0 go build -ldflags "-X main.version=$(VERSION)"

.DEFAULT_GOAL := help
.PHONY: help demo demo-reset build assets lab kubelet cluster-api opentofu test test/short test-deps generate verify lint e2e bench
.DELETE_ON_ERROR:

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z\/0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

## To use

demo: build ## set up and start everything on this machine (PORT=8443, HOST=localhost)
	@exec bin/demo --port $(PORT) --host $(HOST)

demo-reset: ## forget what the demo has kept: database, clusters, keys, certificates
	@$(GO_BUILD) -o bin/demo ./cmd/demo
	@exec bin/demo reset

build: assets ## build our programs into bin/
	@echo "  building our programs (the first time about three minutes on two idle cores, then seconds)"
	@$(GO_BUILD) -o bin/ ./cmd/...

assets: web/assets/node_modules/.package-lock.json ## bundle scripts and styles of the pages
	@cd web/assets && npm run --silent build

web/assets/node_modules/.package-lock.json: web/assets/package-lock.json
	@echo "  fetching scripts for the pages"
	@cd web/assets && npm ci --loglevel=error
	@touch $@

lab: ## build etcd, Kubernetes and kwok from source (about ten minutes once)
	@$(GO_BUILD) -o bin/lab ./cmd/lab
	@bin/lab build

kubelet: ## build the kubelet that tests of real machines run
	@cd agents/lab/kubernetes && CGO_ENABLED=0 go build -modfile=kubelet.mod -trimpath -o ../../../.cache/kubelet \
		-ldflags "-s -w -X k8s.io/component-base/version.gitVersion=v1.37.2 -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=37" \
		k8s.io/kubernetes/cmd/kubelet

cluster-api: .cache/cluster-api/core .cache/cluster-api/clusterctl ## build Cluster API's own controllers and clusterctl, for tests of ours

.cache/cluster-api/core: agents/dvp/clusterapi/go.mod
	@echo "  building Cluster API (about five minutes once)"
	@mkdir -p .cache/cluster-api/crds
	@cd agents/dvp/clusterapi && CGO_ENABLED=0 go build -trimpath -o ../../../$@ sigs.k8s.io/cluster-api/core
	@install -m 644 -t .cache/cluster-api/crds "$$(cd agents/dvp/clusterapi && go list -m -f '{{.Dir}}' sigs.k8s.io/cluster-api)"/core/config/crd/bases/*.yaml

.cache/cluster-api/clusterctl: agents/dvp/clusterapi/go.mod
	@mkdir -p .cache/cluster-api
	@cd agents/dvp/clusterapi && CGO_ENABLED=0 go build -trimpath -o ../../../$@ sigs.k8s.io/cluster-api/cmd/clusterctl

opentofu: .cache/tofu ## build OpenTofu, which lays out clusters in DVP

.cache/tofu: agents/dvp/opentofu/go.mod
	@echo "  building OpenTofu (about five minutes once)"
	@cd agents/dvp/opentofu && CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o ../../../$@ github.com/opentofu/opentofu/cmd/tofu

## To change

test: assets lab cluster-api opentofu ## run every test (needs what test-deps installs)
	@.ci/need
	go vet ./...
	go run ./internal/postgres/pgserve -- go test -race -shuffle on -p $(TEST_PACKAGES) ./agents/node/bashible/machinetest $$(go list ./... | grep -vx commander/e2e)
	go run ./internal/postgres/pgserve -- go test -race -shuffle on ./e2e # by itself: it kills processes and drives browsers
	GOGC=400 go test -timeout 30m ./jobs/simulation ./agents/node/fencing/model # by themselves: too many schedules for the race detector

test/short: assets ## run the tests that need no database and no cluster
	go test -short ./views/... ./internal/config ./internal/run ./internal/telemetry ./internal/clock ./agents/agentapi ./agents/tunnel ./agents/dhctl/...

test-deps: ## install on Debian what the tests need: C compiler, Chromium, Docker, PostgreSQL
	.ci/install

generate: .cache/bin/sqlc ## make generated code anew: pages, queries, protocols, kinds
	go tool -modfile=tools.mod templ generate
	.cache/bin/sqlc generate
	sh agents/dhctl/dhctlpb/generate.sh
	sh agents/node/api/generate.sh
	sh agents/node/fencing/fencingpb/generate.sh
	sh agents/dvp/api/virtualization/generate.sh
	sh agents/dvp/api/infrastructure/generate.sh
	sh agents/dvp/api/configuration/generate.sh
	go generate ./store/...

# sqlc has a C library inside and a slower replacement for it; the replacement builds everywhere.
.cache/bin/sqlc: tools.mod
	$(GO_BUILD) -modfile=tools.mod -trimpath -o $@ github.com/sqlc-dev/sqlc/cmd/sqlc

verify: generate ## check that generated code is what its sources say, and the formatting
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	git diff --exit-code -- '*_templ.go' '*.sql.go' '*_gen.go' '*_gen.txt' '*.pb.go' 'agents/*/crds/*.yaml' 'agents/*/documents/*.yaml' 'charts/*/definitions'

lint: ## run the linters of .golangci.yaml
	go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.8.0 run

e2e: build lab ## walk through the whole product in a real browser
	go test -count=1 -v ./e2e/...

bench: build lab ## measure the figures of bench/README.md
	cd bench && go run .
