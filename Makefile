# Each target makes the virtual environment if it is missing and installs what it needs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PINNED := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt
INSTALL := $(PINNED) $(BIN)/python -m pip install -qq --disable-pip-version-check
# The core is built here, once for all environments, and not by pip.
IACTA := --config-settings=wheel.cmake=false --editable
INTO ?= iacta-reproduced
SECONDS ?= 3600
PORT ?= 8000
SETTINGS := pyproject.toml constraints.txt
CORE := src/iacta/plan/native/core.$(if $(filter Darwin,$(shell uname)),dylib,so)
COMPILER := $(shell command -v $(CXX) $(if $(filter default,$(origin CXX)),|| command -v c++ || command -v clang++))
# What is in the core to say from which source it was built; cmake/CMakeLists.txt says the same.
HASH := import hashlib, pathlib; files = sorted(pathlib.Path('src/core').iterdir()); \
	print(hashlib.sha256(b''.join(each.name.encode() + each.read_bytes() for each in files)).hexdigest()[:16])
COMPILED := -std=c++20 -ffp-contract=off -fvisibility=hidden -pthread
PLAYER := core plot serve
DEVELOPER := test check bench docs

# Tests start Python hundreds of times, which compiles nothing anew where it may keep what it compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo plot serve core test test-fast check fuzz fuzz-core reproduce bench bench-core docs format wheels clean

demo: $(VENV)/core core
	@$(BIN)/iacta campaign 72 22 8 2 2 2 7 1 1 3 1 2 3 5 1

# What pictures, all methods and `iacta reproduce` need.
plot: $(VENV)/plot core

# A page on which every question is asked, at http://127.0.0.1:8000/ or another PORT.
serve: $(VENV)/serve core
	@$(BIN)/iacta serve --port $(PORT)

# The compiled core of plans, beside the Python that loads it.
core: $(if $(COMPILER),$(CORE),no-compiler)

no-compiler:
	@echo "no C++ compiler found: plans on large boards need one; on Debian: apt install g++"

$(CORE): $(wildcard src/core/*) cmake/CMakeLists.txt
	@mkdir -p $(dir $@)
	@source=$$($(PYTHON) -c "$(HASH)") && \
	$(COMPILER) -O3 $(COMPILED) -fPIC -shared -DIACTA_SOURCE=\"$$source\" src/core/interface.cpp -o $@.new && mv $@.new $@

test: $(VENV)/test core
	@$(BIN)/python -m pytest --numprocesses auto --dist worksteal

# What one runs while working: no browser, no server, nothing slow; without a compiler, no plans.
test-fast: $(VENV)/test core
	@$(BIN)/python -m pytest --numprocesses auto --dist worksteal -m "not slow" tests src

check: $(VENV)/check
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/mypy

# An hour of random commands and calls; the tests make a few hundred of the same.
fuzz: $(VENV)/test core
	@$(BIN)/python -m tests.fuzz $(SECONDS)

# The same for the core, built to notice what it reads or counts wrongly; any case can be run again by its number.
fuzz-core: build/fuzz-core
	@build/fuzz-core $(SECONDS)

build/fuzz-core: $(wildcard src/core/* tests/core/*pp)
	@mkdir -p build
	@$(COMPILER) -O0 -g1 $(COMPILED) -fsanitize=address,undefined -fno-sanitize-recover=all -Isrc/core \
		src/core/interface.cpp tests/core/fuzz.cpp -o $@

reproduce: $(VENV)/plot core
	@$(BIN)/iacta reproduce $(INTO)

# Every group, or those named, such as make bench GROUP=plans.
bench: $(VENV)/bench core
	@$(BIN)/python -m benchmarks $(GROUP)

# How fast the core is without Python, and how soon it stops.
bench-core: build/bench-core
	@build/bench-core

build/bench-core: $(wildcard src/core/* tests/core/problems.hpp benchmarks/core.cpp)
	@mkdir -p build
	@$(COMPILER) -O3 $(COMPILED) -Isrc/core -Itests/core src/core/interface.cpp benchmarks/core.cpp -o $@

docs: $(VENV)/docs core
	@$(BIN)/python -m docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict --config-file build/mkdocs.yml --site-dir ../site
	@echo "site/index.html"

format: $(VENV)/check
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix

# A wheel for this machine, and the source; `cibuildwheel` makes those for all others.
wheels: $(VENV)/wheels
	@$(PINNED) $(BIN)/python -m build --outdir dist

clean:
	rm -rf $(VENV) build dist site $(CORE)

$(VENV)/bin/python:
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# Groups of packages take pip 25.1; the oldest Python brings an older one.
$(VENV)/pip: | $(VENV)/bin/python
	@$(INSTALL) 'pip>=25.1'
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
