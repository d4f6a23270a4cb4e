# Everything runs in environments of its own; nothing is needed but Python 3.11+ and make.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test check sweep fuzz bench clean

# Derive the PUMA 560, print the comparison with the paper, write results/puma560.
demo: $(VENV)/.installed
	$(BIN)/kane derive puma560 --effort normal --out results/puma560
	@echo "Open results/puma560/report.html in a browser: the whole model on one page."

# The whole test suite.
test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest

# Types, lint, layers.
check: $(VENV)/.installed-dev
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/mypy
	$(BIN)/lint-imports

# Every robot file of the wheels against pinocchio, MuJoCo and Drake (about an hour on two cores).
sweep: $(VENV)/.installed-robots
	$(BIN)/python -m pytest -m sweep -n auto

# Damaged files for every reader, half of the time by the coverage-guided fuzzer atheris where it can be installed.
FUZZ_SECONDS ?= 600
fuzz: $(VENV)/.installed-dev
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: atheris
	$(BIN)/python tests/formats/fuzz.py --seconds $(FUZZ_SECONDS) --seed $$(date +%s) --atheris

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

# Robot files and Drake without what they depend on, in a folder of their own.
$(VENV)/.installed-robots: tests/robot_wheels.txt $(VENV)/.installed-dev
	for wheel in $$(grep -v '^#' tests/robot_wheels.txt); do \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --upgrade \
	    --target $(VENV)/robots $$wheel || echo "not installed, its files are left out: $$wheel"; \
	done
	touch $@

clean:
	rm -rf $(VENV) results .pytest_cache .mypy_cache .ruff_cache .hypothesis
