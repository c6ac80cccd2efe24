# Each target creates the virtual environment if it is missing and installs its requirements.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CITATION := $(VENV)/citation
PINNED := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt
INSTALL := $(PINNED) $(BIN)/python -m pip install -qq --disable-pip-version-check
# make builds the core once for all environments, so pip must not build it.
IACTA := --config-settings=wheel.cmake=false --editable
INTO ?= iacta-reproduced
SECONDS ?= 3600
PORT ?= 8000
SETTINGS := pyproject.toml constraints.txt
PLAYER := demo plot serve
DEVELOPER := test check bench docs
IS_NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11) and \
	'iacta needs Python 3.11 or later, got ' + sys.version.split()[0])

# The core: make compiles each unit separately, into a folder for this compiler and these flags. With -O2 instead of
# -O3, bounds take up to 1.3 times as long.
CORE := src/iacta/native/library/core.$(if $(filter Darwin,$(shell uname)),dylib,so)
COMPILER := $(strip $(if $(shell command -v $(firstword $(CXX))),$(CXX),$(if $(filter default,$(origin CXX)),\
	$(firstword $(shell command -v c++ || command -v clang++)))))
COMPILED := -std=c++20 -fPIC -ffp-contract=off -fvisibility=hidden -fvisibility-inlines-hidden -pthread -Isrc/core
SOURCE := $(wildcard src/core/* src/core/*/*)
UNITS := $(filter %.cpp,$(SOURCE))
OBJECTS_IN := build/core-$(firstword $(shell echo '$(COMPILER) $(COMPILED)' | cksum))
OBJECTS := $(patsubst src/core/%.cpp,$(OBJECTS_IN)/%.o,$(UNITS))
FORMATTED := $(filter %.h %.hpp %.cpp,$(SOURCE)) $(wildcard tests/core/*pp benchmarks/*.cpp)
OPTIMISED = $(if $(filter search/relaxed%,$*),-O3,-O2)
PROCESSORS := $(shell getconf _NPROCESSORS_ONLN)
JOBS = $(if $(findstring -j,$(MAKEFLAGS)),,--jobs=$(PROCESSORS))

# Recreate a virtual environment whose Python is missing or too old.
ifneq ($(wildcard $(VENV)/pyvenv.cfg),)
ifneq ($(shell $(BIN)/python -c "$(IS_NEW_ENOUGH)" >&2 2>/dev/null || echo broken),)
$(info $(VENV) has no working Python; recreating it)
$(shell rm -rf $(VENV))
endif
endif

# Tests start Python hundreds of times; cached bytecode makes each start faster.
unexport PYTHONDONTWRITEBYTECODE

.DELETE_ON_ERROR:
.PHONY: demo plot serve core test test-fast check fuzz fuzz-core reproduce bench bench-core docs format wheels clean help

demo: $(VENV)/demo ## install iacta, and show the odds of an unfinished game
	@$(BIN)/iacta campaign 72 22 8 2 2 2 7 1 1 3 1 2 3 5 1

plot: $(VENV)/plot try-core ## install the packages for pictures and for all methods

serve: $(VENV)/serve try-core ## serve the web pages at http://127.0.0.1:8000/ or another PORT
	@$(BIN)/iacta serve --port $(PORT)

core: $(if $(COMPILER),,no-compiler) ## compile the core of plans and whole games
	@$(MAKE) -s --question $(OBJECTS) || \
		echo "compiling the core of plans and whole games; the result is kept until its source changes"
	@$(MAKE) -s --no-print-directory $(JOBS) $(CORE)

# Without a compiler, everything except plans and whole games works.
.PHONY: try-core no-compiler
try-core:
	@mkdir -p build
	@$(MAKE) -s --no-print-directory core 2>build/core.log || \
		echo "plans and whole games do not work, as the core was not compiled; \`make core\` shows the reason"

no-compiler:
	@echo "no C++ compiler found; on Debian: apt install g++" >&2; exit 1

# Move the library to its place only after a test has loaded it.
$(CORE): $(OBJECTS) src/core/iacta.h cmake/record.py
	@$(COMPILER) $(COMPILED) -shared $(OBJECTS) -o $(OBJECTS_IN)/$(@F)
	@cp src/core/iacta.h $(OBJECTS_IN)
	@$(PYTHON) cmake/record.py $(OBJECTS_IN)/$(@F)
	@mkdir -p $(@D)
	@mv $(OBJECTS_IN)/$(@F) $(OBJECTS_IN)/$(@F).sha256 $(OBJECTS_IN)/iacta.h $(@D)

$(OBJECTS_IN)/%.o: src/core/%.cpp
	@mkdir -p $(@D)
	@$(COMPILER) $(COMPILED) $(OPTIMISED) -MMD -MP -c $< -o $@

-include $(OBJECTS:.o=.d)

# Tests wait for servers, the browser and programs half of the time, so more test processes than processors run. The
# server gives searches a low priority; at the lowest priority, tests leave them enough time.
test: $(VENV)/test core ## run all tests
	@nice -n 19 $(BIN)/python -m pytest --numprocesses $$((2 * $(PROCESSORS) + 1)) --dist worksteal

test-fast: $(VENV)/test core ## run the fast tests: no browser, no server, no plans
	@$(BIN)/python -m pytest --numprocesses auto --dist worksteal -m "not slow" tests src

check: $(VENV)/check $(CITATION)/bin/cffconvert ## check format, style, types and data files
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/clang-format --dry-run --Werror $(FORMATTED)
	@$(BIN)/biome check --error-on-warnings >/dev/null
	@$(BIN)/mypy
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@$(CITATION)/bin/cffconvert --validate

# `make test` runs a few hundred of these cases, and some seeds of each range.
fuzz: $(VENV)/test core ## run random commands and calls for an hour, or SECONDS; then all seeds
	@$(BIN)/python -m tests.fuzz $(SECONDS)
	@IACTA_WHOLE_RANGES=1 $(BIN)/python -m pytest $$(grep -rl choose_seeds --include='test_*.py' tests)

# Sanitizers detect memory errors, overflows and data races; the case's number repeats a case.
fuzz-core: build/fuzz-core build/race-core ## run random calls of the core for SECONDS, also in threads
	@build/fuzz-core $(SECONDS)
	@build/race-core

# Clang compiles sanitizers in half the time of GCC, but may lack their libraries.
SANITIZERS = $(or $(shell echo 'int main() {}' | clang++ -fsanitize=address -x c++ -o /dev/null - 2>/dev/null && \
	echo clang++),$(COMPILER))

build/fuzz-core: $(SOURCE) $(wildcard tests/core/*pp)
	@mkdir -p build
	@$(SANITIZERS) $(COMPILED) -O0 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all \
		$(UNITS) tests/core/fuzz.cpp -o $@

build/race-core: $(SOURCE) $(wildcard tests/core/*pp)
	@mkdir -p build
	@$(SANITIZERS) $(COMPILED) -O0 -g1 -fsanitize=thread $(UNITS) tests/core/race.cpp -o $@

reproduce: $(VENV)/plot core ## recompute the literature into iacta-reproduced, or INTO
	@$(BIN)/iacta reproduce $(INTO)

bench: $(VENV)/bench core ## measure speed, plans and load; GROUP=plans runs one group
	@$(BIN)/python -m benchmarks $(GROUP)

bench-core: build/bench-core ## measure the core without Python, and its time to stop
	@build/bench-core

build/bench-core: $(OBJECTS) tests/core/problems.hpp benchmarks/core.cpp
	@$(COMPILER) $(COMPILED) -O2 -Itests/core $(OBJECTS) benchmarks/core.cpp -o $@

docs: $(VENV)/docs core ## build the site into the folder site
	@$(BIN)/python -m tools.docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict --config-file build/mkdocs.yml --site-dir ../site
	@echo "site/index.html"

format: $(VENV)/check ## apply the formatter and what the linter can fix
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix
	@$(BIN)/clang-format -i $(FORMATTED)
	@$(BIN)/biome check --write

wheels: $(VENV)/wheels ## build the wheel and the source distribution into dist
	@$(PINNED) $(BIN)/python -m build --outdir dist

clean: ## delete all files that make creates
	rm -rf $(VENV) build dist site $(dir $(CORE)) iacta-reproduced
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-10s  %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

$(VENV)/bin/python:
	@$(PYTHON) -c "$(IS_NEW_ENOUGH)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# `pip install --group` needs pip 25.1; Python 3.11 comes with an older pip.
$(VENV)/pip: | $(VENV)/bin/python
	@$(INSTALL) 'pip>=25.1'
	@touch $@

# cffconvert needs its own environment, because it needs an older jsonschema than the tests.
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
$(VENV)/test $(VENV)/check $(VENV)/bench: EXTRAS := cluster,graphs,serve

$(PLAYER:%=$(VENV)/%): $(SETTINGS) | $(VENV)/bin/python
	@$(INSTALL) $(IACTA) '.$(EXTRAS:%=[%])'
	@touch $@

$(DEVELOPER:%=$(VENV)/%): $(VENV)/%: $(SETTINGS) | $(VENV)/pip
	@$(INSTALL) $(IACTA) '.$(EXTRAS:%=[%])' --group $*
	@touch $@
