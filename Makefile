# make help lists the targets. CI (.ci/run) calls the same ones.

GO          ?= go
FUZZTIME    ?= 30s
FUZZJOBS    ?= 1
PARALLEL    ?= 2
SOAKTIME    ?= 10m
SOAKSTREAMS ?= 10000
# Tools are pinned, and kept outside the tree.
GOLANGCI    := v2.12.2
TOOLS       ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/taskbridge/tools

.DEFAULT_GOAL := help
.PHONY: help build test race fuzz golden lint fmt tidy conformance peers cells login interop mutation cover readme redis replicas ledger soak tools

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/taskbridge
	$(GO) build -o bin/taskbridge ./cmd/taskbridge

test: ## run all tests that need only Go
	$(GO) test ./...

race: ## the same under the race detector
	$(GO) test -race ./...

fuzz: ## run every fuzz target for FUZZTIME (30s) each, FUZZJOBS (1) of them at a time
	@set -eu; list=$$(mktemp -d); trap 'rm -rf "$$list"' EXIT; \
	$(GO) test -list '^Fuzz' ./... >"$$list/all"; \
	awk '/^Fuzz/ {name[n++] = $$1} /^ok/ {for (i = 0; i < n; i++) print $$2, name[i]; n = 0}' "$$list/all" >"$$list/targets"; \
	[ -s "$$list/targets" ] || { echo 'no fuzz targets' >&2; exit 1; }; \
	xargs -P $(FUZZJOBS) -n 2 sh -c '\
		out=$$($(GO) test -run "^$$" -fuzz "^$$2\$$" -fuzztime $(FUZZTIME) -parallel $(PARALLEL) "$$1" 2>&1) || echo "$$1.$$2" >>"$$0/failed"; \
		printf "== %s %s\n%s\n" "$$1" "$$2" "$$out"' "$$list" <"$$list/targets"; \
	echo "$$(wc -l <"$$list/targets") fuzz targets"; \
	[ ! -e "$$list/failed" ] || { echo "failed:" $$(cat "$$list/failed") >&2; exit 1; }

golden: ## accept what the code produces now as golden output, to be read as a diff
	@packages=$$($(GO) list -f '{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./... | \
		awk '/ [^ ]*\/internal\/golden\/goldentest( |$$)/ {print $$1}'); \
	[ -n "$$packages" ] || { echo 'no package runs golden files' >&2; exit 1; }; \
	$(GO) test $$packages -update

lint: tools ## run the linters and check the formatting
	$(TOOLS)/golangci-lint-$(GOLANGCI) run ./...
	cd interop/go && $(TOOLS)/golangci-lint-$(GOLANGCI) run ./...

fmt: tools ## format the code
	$(TOOLS)/golangci-lint-$(GOLANGCI) fmt ./...
	cd interop/go && $(TOOLS)/golangci-lint-$(GOLANGCI) fmt ./...

tidy: ## fail if go.mod, go.sum or generated files are not up to date
	$(GO) mod verify
	$(GO) mod tidy -diff
	$(GO) -C interop/go mod verify
	$(GO) -C interop/go mod tidy -diff
	$(GO) generate ./...

conformance: ## the official suite at every side of the bridge (needs node, npm)
	interop/run.sh conformance

peers: ## seven real clients through the bridge, in front of ten servers (needs node, npm, python3)
	interop/run.sh peers

cells: ## clients of both eras at servers of both, as the README's table has it (needs node, npm)
	interop/run.sh cells

login: ## clients with nothing but a URL log in, at both faces (needs node, npm)
	interop/run.sh login

interop: ## the real clients and servers, and the official suite
	interop/run.sh all

replicas: ## three bridges over one Redis: the flows of the cells, and the official suite (needs node, npm, redis-server)
	REPLICAS=3 interop/run.sh cells
	REPLICAS=3 interop/conformance/measure.sh legacy/modern-fixture modern/legacy-fixture

redis: ## run the tests of the Redis store on real servers (needs redis-server 7 or later)
	$(GO) test -race -tags interop ./adapter/state/redis/...

ledger: ## two minutes of tasks while replicas are killed, and all of docs/ledger.md (needs redis-server 7 or later)
	$(GO) test -tags interop -count=1 -timeout 15m ./internal/ledger \
		-tasks 2000 -duration 2m -kill 10s -outage 20s -report "$(CURDIR)/docs/ledger.md"

readme: ## run the commands of the README and compare what they print (needs bash, curl)
	$(GO) run ./internal/readme/cmd README.md

soak: build ## put the bridge under hostile load for SOAKTIME (10m), with SOAKSTREAMS (10000) idle streams (needs Linux)
	ulimit -n $$(ulimit -Hn) && $(GO) run ./internal/soak/cmd -bin bin/taskbridge -for $(SOAKTIME) -streams $(SOAKSTREAMS)

mutation: ## delete every single field mapping in turn: the tests must notice
	$(GO) run ./internal/mutate/cmd -parallel $(PARALLEL) -allow internal/mutate/mapping.allow ./mapping

cover: ## measure how much of the code the tests run
	@mkdir -p bin
	$(GO) test -coverprofile=bin/cover.out ./...
	$(GO) tool cover -func=bin/cover.out | tail -n 1

tools: $(TOOLS)/golangci-lint-$(GOLANGCI) ## install the pinned tools

# A copy that is installed already, at this very version, is as good.
$(TOOLS)/golangci-lint-$(GOLANGCI):
	@mkdir -p $(TOOLS)
	@set -eu; found=; \
	for candidate in "$$(command -v golangci-lint || true)" "$$($(GO) env GOPATH)/bin/golangci-lint"; do \
		if [ -x "$$candidate" ] && [ "v$$("$$candidate" version --short)" = "$(GOLANGCI)" ]; then found=$$candidate; break; fi; \
	done; \
	if [ -n "$$found" ]; then ln -sf "$$found" $@; else \
		echo 'installing golangci-lint $(GOLANGCI)'; \
		GOBIN=$(TOOLS) GOFLAGS= $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI); \
		mv $(TOOLS)/golangci-lint $@; \
	fi
