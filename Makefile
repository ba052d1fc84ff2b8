# One target for each thing a person does with this repository. `make` alone lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Debian keeps ethtool, nft and tc where an ordinary user's PATH does not look.
export PATH := $(PATH):/usr/local/sbin:/usr/sbin:/sbin

target_dir := $(or $(CARGO_TARGET_DIR),target)
# One choice of packages and features everywhere, so that lint and test share what they compile.
everything := --workspace --all-features
# What `make dist` builds for; its C library declares some kernel structures otherwise, so lint reads that too.
static := $(shell uname -m)-unknown-linux-musl
# CPU seconds, size and start of what `make demo` and `make build` build.
build_cost = scripts/build-cost demo && scripts/build-cost release
# What clippy has checked serves documentation too: without this cargo would have rustc check the workspace once more.
checked_by_clippy = RUSTC_WORKSPACE_WRAPPER="$(dir $(realpath $(shell rustup which cargo-clippy)))clippy-driver" \
	CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__

.PHONY: help setup build demo test soak bench learn oracle gateways lint fuzz dist doc clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## install what all targets need and this machine lacks
	@scripts/setup build demo test bench lint dist fuzz
	@git config core.hooksPath scripts/hooks

build: ## the optimised program: target/release/linerate
	@scripts/setup build
	cargo build --release -p linerate --features hub,ndt7,web

demo: ## an incident of six hosts on this machine: measured, explained, fixed, proved
	@scripts/setup demo
	cargo build --profile demo -p linerate
	@$(target_dir)/demo/linerate demo

test: ## all tests
	@scripts/setup test
	@scripts/test $(everything)

soak: ## kills, full disks and hosts that lie, with other seeds each time, for SECONDS=3600
	@scripts/setup test
	@scripts/soak "$(or $(SECONDS),3600)"

bench: ## speed, as ratios to iperf3 and nuttcp in the same run, then what a build costs (ONLY=build: that alone)
	@scripts/setup bench
	@$(if $(filter build,$(ONLY)),,cargo run --release -p bench $(if $(ONLY),-- --only $(ONLY)))
	@$(if $(ONLY),$(if $(filter build,$(ONLY)),$(build_cost)),$(build_cost))

learn: ## how causes show, from generated incidents: crates/diagnose/causes/{learnt,weights}.toml
	@scripts/setup build
	cargo run --release -p linerate -- lab learn -o crates/diagnose/causes

oracle: ## predictions against a kernel in virtual time (minutes to hours): the cases that are new, and the table
	@scripts/setup oracle
	scripts/oracle
	cargo test -p sim --test transfers oracle -- --nocapture

gateways: ## balancing policies on a real XRootD cluster beside the model of it (root, half an hour)
	@scripts/setup gateways
	cargo build --release -p linerate
	$(target_dir)/release/linerate gateways lab

lint: ## format, clippy, documentation, and the repository's rules about itself
	@scripts/setup lint
	cargo fmt --all --check
	cargo clippy $(everything) --all-targets -- -D warnings
	$(checked_by_clippy) RUSTDOCFLAGS="-D warnings" cargo doc $(everything) --no-deps
	cargo check -p linux --target $(static)
	cargo test $(everything) --test repository

fuzz: ## each reader of foreign bytes for SECONDS=60 (one of them: NAME=...)
	@scripts/setup fuzz
	@scripts/fuzz "$(or $(SECONDS),60)" $(NAME)

dist: ## one static file that runs on any Linux of this architecture: dist/
	@scripts/setup dist
	@scripts/dist

doc: ## the programmer's documentation, as HTML
	@scripts/setup build
	cargo doc $(everything) --no-deps

clean: ## remove what was built
	cargo clean
	rm -rf dist fuzz/target
