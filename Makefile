# Each target does all its set-up by itself, into .venv/; see README.md.
#   make lab     a learner's JupyterLab, on a copy of the lesson in work/
#   make grade   a TA's whole run: what lies in submitted/, or else the sample class
#   make test    everything that CI runs
#   make build   the three editions, from lessons/
#   make bench   speed and size, as ratios measured side by side

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: lab grade test build bench

lab: .venv/.lab
	mkdir -p work
	cp -n release/mha/multi_head_attention.ipynb work/ || true
	$(BIN)/jupyter lab work/multi_head_attention.ipynb

grade: .venv/.ta
	$(call need,bwrap,bubblewrap)
	$(BIN)/python -m classroom.grade

build: .venv/.ta
	$(BIN)/python -m classroom.editions

test: .venv/.test
	$(call need,bwrap,bubblewrap)
	$(call need,chromium,chromium)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

bench: .venv/.test
	$(call need,bwrap,bubblewrap)
	$(call need,chromium,chromium)
	for script in benchmarks/*.py; do $(BIN)/python $$script || exit 1; done

.venv/.%: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo 'Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11'; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo 'Setting up .venv for "$*" (the first time takes some minutes) ...'
	@$(PIP) install --constraint constraints.txt --editable '.[$*]'
	@touch $@

# $(call need,COMMAND,PACKAGE): have COMMAND, from Debian's PACKAGE where we may install it.
define need
	@command -v $(1) >/dev/null || \
	    { test "$$(id -u)" = 0 && apt-get update -qq && \
	      apt-get install -qq --no-install-recommends $(2) >/dev/null; } || \
	    { echo 'Please install $(2) first, for example: sudo apt-get install $(2)'; exit 1; }
endef
