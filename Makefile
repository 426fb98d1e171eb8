# make test: everything a pull request must pass.  make help: the rest.
PYTHON ?= python3
BIN := .venv/bin
# What the virtual environment is made of: it is made anew when one of these changes.
INGREDIENTS := requirements/dev.txt pyproject.toml setup.py kustomize/go.mod kustomize/go.sum kustomize/main.go

.PHONY: help demo test lint bench bench-tools dist openapi kubernetes-tables requirements clean

help:  ## what there is to make
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 20

demo: .venv/made  ## render this repository, check it, and show that nothing changed
	$(BIN)/paddlegen render
	$(BIN)/paddlegen check
	$(BIN)/paddlegen list
	@if git rev-parse --git-dir >/dev/null 2>&1; then \
	  git status --short manifests submissions; \
	  test -z "$$(git status --short manifests submissions)" && echo "manifests are exactly as committed"; \
	fi

test: lint  ## lint, then every test
	$(BIN)/pytest

lint: .venv/made  ## style, types and the direction of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/made  ## how fast, on this machine
	$(BIN)/python -m tests.bench

bench-tools:  ## the peers that make bench compares with, built from source
	GOBIN=$(CURDIR)/.tools/bin go install github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0

dist: .venv/made  ## the wheel for this platform, with kustomize inside
	$(BIN)/python -m pip wheel --no-deps --no-build-isolation --wheel-dir dist .

openapi:  ## the file kustomize merges by, from the schema inside the pinned kustomize
	cd kustomize && go run ./openapi > ../paddlegen/schemas/openapi.json

kubernetes-tables: .venv/made  ## the table of every Kubernetes version, from kubernetes-validate
	$(BIN)/python tools/kubernetes_tables.py

requirements: .venv/made  ## pin the newest versions that pyproject.toml allows
	$(BIN)/python -m pip install --quiet --target .tools/uv uv
	.tools/uv/bin/uv pip compile --quiet --universal --python-version 3.11 --upgrade --generate-hashes \
	  --no-emit-index-url --no-annotate --no-header pyproject.toml --group dev --output-file requirements/dev.txt

clean:  ## away with everything that can be made again
	rm -rf .venv .tools build dist paddlegen/_bin *.egg-info

.venv/made: $(INGREDIENTS)
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit(sys.executable + " is older than Python 3.11; name a newer one: make PYTHON=python3.12")'
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@# setuptools warns at every editable install.
	PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@test -x paddlegen/_bin/kustomize || echo "no kustomize was built (no Go, no network?): paddlegen uses the one on PATH"
	@touch $@
