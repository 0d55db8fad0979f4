# goldseam: `make demo` shows what it does, `make test` proves that it works. `make help` lists the rest.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
DEMO ?= demo-out
TESTS ?=
TEST_JOBS ?=
IMAGE ?= goldseam
IMAGE_OPTIONS ?=
PROJECT_URL ?=
BIN := .venv/bin

export PATH := $(PATH):$(CURDIR)/.venv-uv/bin
# Programs under test are started a thousand times: bytecode is kept, whatever the shell says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup venv engine base demo schemas compiled test unit coverage attacks lint docs reference tutorial package image check clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: venv engine ## make .venv from uv.lock and make sure of a container engine

venv:
	@uv="$$(PYTHON=$(PYTHON) scripts/uv.sh | tail -n 1)" && "$$uv" sync --quiet --locked

engine: venv
	@scripts/engine.sh $(BIN)/python

base: setup
	@scripts/base.sh $(BIN)/goldseam

demo: base ## mine, prove and score the demo into demo-out
	$(BIN)/goldseam demo -o $(DEMO)

schemas: venv ## fetch GitHub's official schemas, which the tests' server holds itself to (npm)
	@$(BIN)/python -m tests.github_server.schemas > /dev/null

compiled: schemas # each worker imports all tests, and would compile them: once is enough
	@[ -d tests/unit/__pycache__ ] || $(BIN)/pytest --collect-only -qq > /dev/null || true

test: base schemas compiled ## run all tests
	$(BIN)/pytest -n $(or $(TEST_JOBS),3) --dist loadfile --no-loadscope-reorder --durations=25 $(TESTS)

unit: venv schemas compiled ## run the tests that need no container engine
	$(BIN)/pytest -n $(or $(TEST_JOBS),2) --dist loadfile --no-loadscope-reorder tests/unit $(TESTS)

coverage: base schemas compiled ## run all tests and say which lines they reach; takes half as long again
	$(BIN)/pytest -n $(or $(TEST_JOBS),3) --dist loadfile --no-loadscope-reorder --cov --cov-report=term $(TESTS)

attacks: base ## try eight times as many changed transcripts and patches, every attack and every honest patch; the last line has both figures
	GOLDSEAM_FUZZ=8500 GOLDSEAM_PATCHES=8500 $(BIN)/pytest -q -n $(or $(TEST_JOBS),2) tests/unit/test_fuzz_transcripts.py tests/unit/test_patch_fuzz.py
	$(BIN)/python -m tests.attacks

lint: venv ## ruff, mypy, import-linter, sizes of rooms, words of the documentation
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/house.py --check
	$(BIN)/python scripts/prose.py

docs: venv ## build the documentation into site/, strictly; open site/index.html, which needs no server
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

reference: venv ## write docs/reference from the program
	$(BIN)/python scripts/reference.py

tutorial: base ## run every command of the tutorial on the sample library
	$(BIN)/python scripts/tutorial.py

package: venv ## build wheel, source distribution and bill of materials into dist/, and try the wheel (PROJECT_URL=… for its metadata)
	@uv="$$(PYTHON=$(PYTHON) scripts/uv.sh | tail -n 1)" && $(BIN)/python scripts/package.py "$$uv" $(PROJECT_URL)

image: ## build the image of goldseam itself as $(IMAGE); IMAGE_OPTIONS are for docker build
	docker build $(IMAGE_OPTIONS) -t $(IMAGE) .

check: lint docs test ## lint and test

clean: ## remove what make made here; images stay (goldseam images gc)
	rm -rf .venv .venv-uv $(DEMO) dist site htmlcov .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
