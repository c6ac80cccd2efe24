# Each target makes the virtual environment if it is missing and installs what it needs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CITATION := $(VENV)/citation
PINNED := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt
INSTALL := $(PINNED) $(BIN)/python -m pip install -qq --disable-pip-version-check
# The core is built here, once for all environments, and not by pip.
IACTA := --config-settings=wheel.cmake=false --editable
INTO ?= iacta-reproduced
SECONDS ?= 3600
PORT ?= 8000
SETTINGS := pyproject.toml constraints.txt
CORE := src/iacta/native/library/core.$(if $(filter Darwin,$(shell uname)),dylib,so)
COMPILER := $(shell command -v $(CXX) $(if $(filter default,$(origin CXX)),|| command -v c++ || command -v clang++))
# What is in the core to say from which source it was built; cmake/CMakeLists.txt says the same.
HASH := import hashlib, pathlib; files = sorted(pathlib.Path('src/core').iterdir()); \
	print(hashlib.sha256(b''.join(each.name.encode() + each.read_bytes() for each in files)).hexdigest()[:16])
COMPILED := -std=c++20 -ffp-contract=off -fvisibility=hidden -pthread
PLAYER := core plot serve
DEVELOPER := test check bench docs

# Tests start Python hundreds of times, which compiles nothing anew where it may keep what it compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo plot serve core test test-fast check fuzz fuzz-core reproduce bench bench-core docs format wheels clean help

demo: $(VENV)/core core ## a first answer: the game that had to be left unfinished
	@$(BIN)/iacta campaign 72 22 8 2 2 2 7 1 1 3 1 2 3 5 1

plot: $(VENV)/plot core ## install what pictures and all methods need

serve: $(VENV)/serve core ## ask in a browser, at http://127.0.0.1:8000/ or another PORT
	@$(BIN)/iacta serve --port $(PORT)

core: $(if $(COMPILER),$(CORE),no-compiler) ## compile the core of plans, beside the Python that loads it

no-compiler:
	@echo "no C++ compiler found: plans need one; on Debian: apt install g++"

$(CORE): $(wildcard src/core/*) $(wildcard cmake/*)
	@mkdir -p $(dir $@)
	@source=$$($(PYTHON) -c "$(HASH)") && \
	$(COMPILER) -O3 $(COMPILED) -fPIC -shared -DIACTA_SOURCE=\"$$source\" src/core/interface.cpp -o $@.new && mv $@.new $@
	@$(PYTHON) cmake/record.py $@

test: $(VENV)/test core ## run all tests
	@$(BIN)/python -m pytest --numprocesses auto --dist worksteal

test-fast: $(VENV)/test core ## those to run while working: no browser, no server, no plans
	@$(BIN)/python -m pytest --numprocesses auto --dist worksteal -m "not slow" tests src

check: $(VENV)/check $(CITATION)/bin/cffconvert ## run the formatter, the linter, the type checker and the checks of other files
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/mypy
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@$(CITATION)/bin/cffconvert --validate

# The tests make a few hundred of the same.
fuzz: $(VENV)/test core ## make random commands and calls for an hour, or other SECONDS
	@$(BIN)/python -m tests.fuzz $(SECONDS)

# Built to notice what it reads or counts wrongly; any case can be run again by its number.
fuzz-core: build/fuzz-core build/race-core ## ask the core random questions, for as long; and by many threads
	@build/fuzz-core $(SECONDS)
	@build/race-core

build/fuzz-core: $(wildcard src/core/* tests/core/*pp)
	@mkdir -p build
	@$(COMPILER) -O0 -g1 $(COMPILED) -fsanitize=address,undefined -fno-sanitize-recover=all -Isrc/core \
		src/core/interface.cpp tests/core/fuzz.cpp -o $@

build/race-core: $(wildcard src/core/* tests/core/*pp)
	@mkdir -p build
	@$(COMPILER) -O1 -g1 $(COMPILED) -fsanitize=thread -Isrc/core src/core/interface.cpp tests/core/race.cpp -o $@

reproduce: $(VENV)/plot core ## recompute the literature into the folder iacta-reproduced, or another INTO
	@$(BIN)/iacta reproduce $(INTO)

bench: $(VENV)/bench core ## measure speed, plans and load; GROUP=plans only these
	@$(BIN)/python -m benchmarks $(GROUP)

bench-core: build/bench-core ## measure the core without Python, and how soon it stops
	@build/bench-core

build/bench-core: $(wildcard src/core/* tests/core/problems.hpp benchmarks/core.cpp)
	@mkdir -p build
	@$(COMPILER) -O3 $(COMPILED) -Isrc/core -Itests/core src/core/interface.cpp benchmarks/core.cpp -o $@

docs: $(VENV)/docs core ## build the site into the folder site
	@$(BIN)/python -m tools.docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict --config-file build/mkdocs.yml --site-dir ../site
	@echo "site/index.html"

format: $(VENV)/check ## apply the formatter and what the linter can fix
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix

wheels: $(VENV)/wheels ## build a wheel for this machine, and the source, into the folder dist
	@$(PINNED) $(BIN)/python -m build --outdir dist

clean: ## delete all that these targets make here
	rm -rf $(VENV) build dist site $(CORE)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-10s  %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

$(VENV)/bin/python:
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# Groups of packages take pip 25.1; the oldest Python brings an older one.
$(VENV)/pip: | $(VENV)/bin/python
	@$(INSTALL) 'pip>=25.1'
	@touch $@

# An environment of its own: it takes another jsonschema than the tests do.
$(CITATION)/bin/cffconvert: constraints.txt
	@$(PYTHON) -m venv $(CITATION)
	@sed 's/^jsonschema==.*/jsonschema==3.2.0/' constraints.txt >$(CITATION)/constraints.txt
	@cd $(CITATION) && PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt \
		bin/python -m pip install -qq --disable-pip-version-check cffconvert
	@touch $@

$(VENV)/wheels: | $(VENV)/pip
	@$(INSTALL) build
	@touch $@

$(VENV)/plot $(VENV)/docs: EXTRAS := methods,plot
$(VENV)/serve: EXTRAS := serve
$(VENV)/test $(VENV)/check $(VENV)/bench: EXTRAS := cluster,serve

$(PLAYER:%=$(VENV)/%): $(SETTINGS) | $(VENV)/bin/python
	@$(INSTALL) $(IACTA) '.$(EXTRAS:%=[%])'
	@touch $@

$(DEVELOPER:%=$(VENV)/%): $(VENV)/%: $(SETTINGS) | $(VENV)/pip
	@$(INSTALL) $(IACTA) '.$(EXTRAS:%=[%])' --group $*
	@touch $@
