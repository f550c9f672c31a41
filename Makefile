# The front door. CMake (CMakePresets.json) does the work; `make help` lists what there is.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

PREFIX ?= /usr/local
# How much the tests do: ci is what `make test` aims to finish with in a quarter of an hour on two cores.
NTH_TEST_SIZE ?= ci
export NTH_TEST_SIZE
export PATH := $(PATH):/usr/local/go/bin
# One that has matplotlib, which Debian installs for its own python alone. Looked for when it is used.
PYTHON ?= $(shell for p in python3 /usr/bin/python3; do \
  $$p -c 'import matplotlib' 2>/dev/null && echo $$p && break; done)

TESTED := release debug asan tsan clang

## demo: the first thing to look at: build nth and its benchmarks, run the demonstration
demo: deps
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build --preset release --target demo
	@build/release/bench/demo

## test: format and lint, then build and test with gcc, clang and each sanitizer
test: deps lint $(TESTED:%=test-%)
	@scripts/test-preset.sh --summary release debug asan tsan clang-release

## test-release, test-debug, test-asan, test-tsan, test-clang: one of these builds alone
test-release test-debug test-asan test-tsan: test-%: deps
	@scripts/test-preset.sh $*
test-clang: deps
	@scripts/test-preset.sh clang-release

## lint: clang-format and clang-tidy, warnings as errors
lint: deps
	@cmake --preset clang-release --log-level=WARNING >/dev/null
	@scripts/lint.sh build/clang-release

## format: let clang-format rewrite what lint complains of
format: deps
	@scripts/lint.sh --fix

## bench: build and run the benchmarks; results go to build/release/bench
bench: deps
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build --preset release
	@$(PYTHON) bench/compare.py

## tools: build nth-stack, which tells how much stack a program's functions may need
tools:
	@scripts/install-deps.sh build tools cluster
	@cmake --preset install --log-level=WARNING >/dev/null
	@cmake --build --preset install --target nth-stack
	@echo build/install/tools/stack/nth-stack

## install: the libraries, nth-stack, headers, CMake and pkg-config files to PREFIX (no root needed for your own folder)
install:
	@scripts/install-deps.sh build tools cluster
	@cmake --preset install --log-level=WARNING >/dev/null
	@cmake --build --preset install
	@cmake --install build/install --prefix "$(abspath $(PREFIX))"

## deps: install the packages that are missing
deps:
	@scripts/install-deps.sh

## clean: remove everything that was built
clean:
	@rm -rf build

## help: this list
help:
	@sed -n 's/^## //p' $(firstword $(MAKEFILE_LIST)) | \
	  awk -F': ' '{ n = index($$0, ": "); printf "  make %s\n      %s\n", substr($$0, 1, n - 1), substr($$0, n + 2) }'

.PHONY: demo test $(TESTED:%=test-%) lint format bench tools install deps clean help
