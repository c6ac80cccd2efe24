# Each target makes the virtual environment if it is missing and installs what it needs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALL := PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install -qq --disable-pip-version-check
INTO ?= iacta-reproduced
SECONDS ?= 3600
PORT ?= 8000
SETTINGS := pyproject.toml constraints.txt
PLAYER := core plot serve
DEVELOPER := test check bench docs

# Tests start Python hundreds of times, which compiles nothing anew where it may keep what it compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo plot serve test check fuzz reproduce bench docs format clean

demo: $(VENV)/core
	@$(BIN)/iacta campaign 72 22 8 2 2 2 7 1 1 3 1 2 3 5 1

# What pictures, all methods and `iacta reproduce` need.
plot: $(VENV)/plot

# A page on which every question is asked, at http://127.0.0.1:8000/ or another PORT.
serve: $(VENV)/serve
	@$(BIN)/iacta serve --port $(PORT)

test: $(VENV)/test
	@$(BIN)/python -m pytest --numprocesses auto --dist worksteal

check: $(VENV)/check
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/mypy

# An hour of random commands and calls; the tests make a few hundred of the same.
fuzz: $(VENV)/test
	@$(BIN)/python -m tests.fuzz $(SECONDS)

reproduce: $(VENV)/plot
	@$(BIN)/iacta reproduce $(INTO)

bench: $(VENV)/bench
	@$(BIN)/python -m benchmarks

docs: $(VENV)/docs
	@$(BIN)/python -m docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --config-file build/mkdocs.yml --site-dir ../site
	@echo "site/index.html"

format: $(VENV)/check
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix

clean:
	rm -rf $(VENV) build site

$(VENV)/bin/python:
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# Groups of packages take pip 25.1; the oldest Python brings an older one.
$(VENV)/pip: | $(VENV)/bin/python
	@$(INSTALL) 'pip>=25.1'
	@touch $@

$(VENV)/core: EXTRAS := plan
$(VENV)/plot $(VENV)/docs: EXTRAS := methods,plan,plot
$(VENV)/serve: EXTRAS := serve
$(VENV)/test $(VENV)/check $(VENV)/bench: EXTRAS := cluster,serve

$(PLAYER:%=$(VENV)/%): $(SETTINGS) | $(VENV)/bin/python
	@$(INSTALL) -e '.[$(EXTRAS)]'
	@touch $@

$(DEVELOPER:%=$(VENV)/%): $(VENV)/%: $(SETTINGS) | $(VENV)/pip
	@$(INSTALL) -e '.[$(EXTRAS)]' --group $*
	@touch $@
