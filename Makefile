# What a person types here. Every target sets up what it needs in .venv first; nothing is installed elsewhere.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PINS := requirements/dev.txt
UV_PIN := requirements/uv.txt
SOURCES := $(shell find src examples -name '*.py' -type f 2>/dev/null)
export PYTHONDONTWRITEBYTECODE =
export UV_COMPILE_BYTECODE = 1

.PHONY: demo phone test check bench faults requirements pins setup format snapshots clean

setup: $(READY)

$(READY): $(PINS) $(UV_PIN) pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo 'jobconsole needs Python 3.11 or newer; say which one with: make PYTHON=python3.11 $(MAKECMDGOALS)'; exit 1; }
	@echo 'Setting up $(VENV): about half a minute the first time.'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(UV_PIN)
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r $(PINS)
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-build-isolation --no-deps --editable .
	@$(BIN)/python -m compileall -q src examples
	@touch $@

phone: $(READY)
	@$(BIN)/jobservice phone $(if $(PERSON),--person $(PERSON))

demo: $(READY)
	@$(BIN)/python -m compileall -q src examples
	@$(BIN)/jobconsole demo

test: $(READY)
	$(BIN)/python -m pytest

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/sqlfluff lint --processes 2 --disable-progress-bar src/jobservice/store/sql src/jobservice/store/migrations
	$(BIN)/jobservice check examples/payments/records --application examples.payments:application

# ONLY=page|claims|rescoring|codes|plans|applying|runs|lateness|history|instants|operator|jobs|engine|console  KEEP=folder outside the repository  WRITE=1 puts the table into docs/benchmarks.md
bench: $(READY)
	@$(BIN)/python -m compileall -q src examples benchmarks
	@$(BIN)/python -m benchmarks $(addprefix --only ,$(ONLY)) $(if $(KEEP),--keep $(KEEP)) $(if $(WRITE),--write)

# What takes long: trees of processes that are killed, or searched through for secrets; then fifty plans under random
# kills, ten thousand jobs, and thousands of occurrences, under all that can happen to Workers and their server; of the last it
# prints a report
# (FAULTS_SEED repeats a run that failed).
faults: $(READY)
	$(BIN)/python -m pytest -n 2 -m long
	FAULTS_APPLIES=$(or $(FAULTS_APPLIES),50) $(BIN)/python -m pytest -n 0 tests/faults/test_applying.py
	FAULTS_JOBS=$(or $(FAULTS_JOBS),10000) $(BIN)/python -m pytest -n 0 -m long tests/faults/test_jobs.py
	FAULTS_OCCURRENCES=$(or $(FAULTS_OCCURRENCES),2500) $(BIN)/python -m pytest -n 0 tests/faults/test_schedules.py

requirements: $(READY)
	$(BIN)/python -m tests.requirements

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

snapshots: $(READY)
	$(BIN)/python -m pytest -m '' tests/snapshots --snapshot-update
	$(BIN)/python -m tests.snapshots.pictures

# New pins: the only target that looks for newer versions. It writes no address of where they came from.
pins: $(READY)
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-header \
		--extra service --extra embedded --group dev pyproject.toml --output-file $(PINS)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache snapshot_report.html
