# Sayso: `make run` is all a user needs; `make help` lists the rest.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# Sayso is many processes, each of which would compile all its modules again where this is set.
unexport PYTHONDONTWRITEBYTECODE

# The first Python that is new enough; `make PYTHON=/path/to/python3.12 …` chooses another.
CANDIDATES := python3 python3.13 python3.12 python3.11
NEW_ENOUGH := import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))
PYTHON ?= $(shell for each in $(CANDIDATES); do $$each -c '$(NEW_ENOUGH)' 2>/dev/null && { echo $$each; break; }; done)

BIN := .venv/bin
PACKAGES := app engine server ui assets
NOT_UNIT := engine or desktop or gpu or soak
# Torch and its like use one thread for each test process, else they hinder each other.
UNIT_PROCESSES ?= 3
SOAK_MINUTES ?= 60

.PHONY: help setup setup-run system-run system-dev system-soak run serve test unit integration check format bench bench-engine bench-memory bench-gpu soak clean

help: ## List what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | column -t -s $$'\t'

setup: .venv/.ready-dev ## Install everything for working on Sayso into .venv

setup-run: .venv/.ready-run

# Asked each time, since it is quick and whoever is not root has to hear of it until it is done.
system-run system-dev system-soak: system-%:
	@PYTHON="$(PYTHON)" .ci/system-packages $(patsubst run,runtime,$(patsubst dev,test,$*))

.venv/.made:
	@test -n "$(PYTHON)" || { echo "Sayso needs Python 3.11, 3.12 or 3.13. Install one, or say which: make PYTHON=/path/to/python3.12"; exit 1; }
	@$(PYTHON) -c '$(NEW_ENOUGH)' || { echo "$(PYTHON) is not Python 3.11, 3.12 or 3.13; say which one to use: make PYTHON=/path/to/python3.12"; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv; echo "No virtual environment could be made; on Debian and Ubuntu install python3-venv."; exit 1; }
	@touch $@

.venv/.ready-run: pyproject.toml constraints.txt | system-run .venv/.made
	@echo "Installing Sayso into .venv; the first time this takes some minutes."
	@PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all]'
	@touch $@

.venv/.ready-dev: pyproject.toml constraints.txt | system-dev .venv/.made
	@echo "Installing Sayso and what its tests need into .venv; the first time this takes some minutes."
	@PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@ .venv/.ready-run

run: setup-run ## Start the desktop assistant
	@$(BIN)/sayso

serve: setup-run ## Start the server without a desktop
	@$(BIN)/sayso serve $(ARGUMENTS)

test: setup ## Run all tests
	@started=$$SECONDS; $(MAKE) unit; $(MAKE) integration; echo "All tests passed in $$((SECONDS - started)) s."

unit: setup ## Run the quick tests
	@started=$$SECONDS; OMP_NUM_THREADS=1 $(BIN)/pytest -q -n $(UNIT_PROCESSES) -m "not ($(NOT_UNIT))"; \
	echo "Unit tests passed in $$((SECONDS - started)) s."

integration: setup ## Run the tests with real engine, desktop and microphone
	@started=$$SECONDS; $(BIN)/pytest -q -m "(engine or desktop) and not (gpu or soak)"; \
	echo "Integration tests passed in $$((SECONDS - started)) s."

check: setup .cache/types/sayso ## Check style, imports and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports --no-logo --cache-dir .cache/import-linter
	@$(BIN)/mypy $(addprefix -p sayso.,$(PACKAGES))

.cache/types/sayso: Makefile
	@rm -rf $@ && mkdir -p $@
	@for each in $(PACKAGES); do ln -s ../../../$$each $@/$$each; done

format: setup ## Put the code into its form
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format --quiet .

bench: setup ## Measure speed, memory and quality, the recogniser beside faster-whisper
	@for each in $$(grep -lE '^if __name__' tests/bench/*.py); do echo "== $$each"; $(BIN)/python $$each; done

bench-engine: setup ## Measure the streaming engine; PEER='…' names another server to measure beside it
	@$(BIN)/python tests/bench/streaming_input.py
	@$(BIN)/python tests/bench/causal.py
	@$(BIN)/python tests/bench/voxtral.py $(PEER)

bench-memory: setup ## Measure what idle sessions hold and give back; PEER='…' names another server to measure beside it
	@$(BIN)/python tests/bench/memory.py
	@$(BIN)/python tests/bench/memory_crowd.py $(PEER)

bench-gpu: setup ## Measure the published Voxtral shape on a GPU, the small one where there is none
	@$(BIN)/python tests/bench/voxtral_steps.py

soak: setup system-soak ## Let the assistant work for an hour, and a server live through days for another, or SOAK_MINUTES=…
	@SOAK_MINUTES=$(SOAK_MINUTES) $(BIN)/pytest -q -s --timeout=0 -m soak

clean: ## Remove everything that was built or installed
	rm -rf .venv .cache build dist *.egg-info .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
