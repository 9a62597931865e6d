# Everything a developer runs by hand; continuous integration calls the same targets (see .ci/run).

ENV := $(or $(VIRTUAL_ENV),$(CURDIR)/.venv)
BIN := $(ENV)/bin
TORCH := $(shell sed -n 's/.*"\(torch==[^"]*\)".*/\1/p' pyproject.toml)
# Names the checkout that the environment was last set up for: an editable install points at one folder only.
STAMP := $(ENV)/.codesearch-$(firstword $(shell pwd | cksum)).stamp
PYTHON ?= python3
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help setup check format test bench clean

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do \
		printf '  make %-8s %s\n' "$$name" "$$text"; done

setup: $(STAMP)  ## create .venv unless an environment is active, and install for development

$(STAMP): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(ENV)
	@rm -f $(ENV)/.codesearch-*.stamp
	@# pip before 25.1 does not know --group.
	$(BIN)/python -m pip install --quiet --upgrade pip
	@# The pinned build first: left to the resolver, pip may take one with gigabytes of CUDA libraries.
	$(BIN)/python -m pip install --quiet '$(TORCH)'
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@

check: setup  ## formatting, lint, types and import directions; changes nothing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup  ## rewrite the sources as ruff wants them
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test: setup  ## run the tests; ARGS="-k fixtures -n 2" is handed to pytest
	$(BIN)/python -m pytest $(ARGS)

bench: setup  ## run the benchmarks that need no checkout of another project
	@set -e; for program in stdlib_oracle scale kill_test hooks; do \
		echo "== $$program"; $(BIN)/python "benchmarks/$$program.py" $(ARGS); done

clean:  ## remove caches and build results, not the environment
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
