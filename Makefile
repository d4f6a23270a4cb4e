# Everything runs in environments of its own; nothing is needed but Python 3.11+ and make.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test check sweep bench clean

# Derive the PUMA 560, print the comparison with the paper, write results/puma560.
demo: $(VENV)/.installed
	$(BIN)/kane derive puma560 --effort normal --out results/puma560

# The whole test suite.
test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest

# Types, lint, layers.
check: $(VENV)/.installed-dev
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/mypy
	$(BIN)/lint-imports

# Every robot of the development wheels against pinocchio (minutes).
sweep: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m sweep

bench: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks

$(VENV)/bin/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'kane needs Python 3.11 or newer; set PYTHON=...')"
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) results .pytest_cache .mypy_cache .ruff_cache .hypothesis
