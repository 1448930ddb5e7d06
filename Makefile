# Every target makes the virtual environment it needs, so a fresh machine needs Python 3.11+, make and git only.
#   make demo ARGS=--once          hand options to the command
#   make test ARGS="-k quota"      or to pytest
#   make test SYSTEM_PACKAGES=no   leave the system's packages alone
#   make demo SHEET=no             do not download the sheet in the browser

PYTHON ?= python3
ARGS ?=
SYSTEM_PACKAGES ?= yes
SHEET ?= yes
# Twice the processors of a small machine: many tests wait for other programs.
TEST_PROCESSES ?= 4
# Each process gets tests that stand together, and takes from the others when it has none: what a file shares is made once.
TEST_FLAGS := -n $(TEST_PROCESSES) --dist worksteal

VENV := .venv
BIN := $(VENV)/bin
JAVASCRIPT := addin tests/node/modules tests/node/*.js tests/node/*.mjs
NODE_TOOLS := tests/node/node_modules
NPM_FLAGS := --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error

# What an environment holds follows from these two files: when one changes, it is brought up to date.
PINS := pyproject.toml constraints.txt .ci/hashes.txt

# uv installs in seconds what takes pip a minute, and only files with the pinned hashes; pip, which has no hashes beside a
# folder, is the way where uv does not run or cannot reach the index.
# Everything is compiled here, as pip does by itself: else whoever keeps no byte code compiles it at every start.
install = @echo "• installing $(1) into $(VENV)"; \
	{ $(BIN)/python -m uv pip install --quiet --python $(BIN)/python --compile-bytecode --constraint .ci/hashes.txt --editable '.$(2)' $(3) 2>$(VENV)/uv.log \
	|| $(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.$(2)' $(3); } \
	&& $(BIN)/python -m compileall -q addin udfs dataservice

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: $(VENV)/run.stamp try-sheet ## Start the embedded service and the add-in with sample data, and show formulas at work
	@$(BIN)/addin demo $(ARGS)

.PHONY: test
test: $(VENV)/dev.stamp system-packages chart-tools node-tools try-sheet ## Run all tests
	@echo "• running the tests"
	@$(BIN)/python -m pytest $(TEST_FLAGS) $(ARGS)

# What runs the tests stays as pinned; what the product runs on is the lowest or the newest that it says it runs on.
.PHONY: test-lowest test-newest
test-lowest: VERSIONS := lowest-direct
test-lowest: ## Run the tests with the lowest versions that pyproject.toml allows
test-newest: VERSIONS := highest
test-newest: ## Run the tests with the newest versions that pyproject.toml allows
test-lowest test-newest: $(VENV)/dev.stamp system-packages chart-tools node-tools try-sheet
	@echo "• installing the versions into $(VENV)-$(VERSIONS)"
	@$(BIN)/python -m uv venv --quiet --seed --clear $(VENV)-$(VERSIONS)
	@$(BIN)/python -m uv pip compile --quiet --all-extras --resolution $(VERSIONS) --no-header --no-annotate \
	  --output-file $(VENV)-$(VERSIONS)/versions.txt pyproject.toml >/dev/null
	@$(BIN)/python -m uv pip install --quiet --python $(VENV)-$(VERSIONS)/bin/python \
	  --constraint $(VENV)-$(VERSIONS)/versions.txt --editable . --group dev --group docs
	@$(VENV)-$(VERSIONS)/bin/python -m pytest $(TEST_FLAGS) $(ARGS)

.PHONY: sheet
sheet: $(VENV)/run.stamp ## Download the sheet in the browser (9 MB; where there is no npm 60 MB more, for this once)
	@$(BIN)/python -m addin.sheet.fetch

# Nothing else needs it, so where it cannot be had the work goes on.
.PHONY: try-sheet
try-sheet: $(VENV)/venv.stamp
	@if [ "$(SHEET)" = yes ]; then $(BIN)/python -m addin.sheet.fetch || echo "• going on without the sheet in the browser"; fi

.PHONY: lint
lint: $(VENV)/dev.stamp node-tools ## Check style, types, import directions, shell scripts and the JavaScript
	@echo "• ruff check"; $(BIN)/ruff check .
	@echo "• ruff format"; $(BIN)/ruff format --check .
	@echo "• mypy"; $(BIN)/mypy
	@echo "• import-linter"; $(BIN)/lint-imports > $(VENV)/imports.log || { cat $(VENV)/imports.log; exit 1; }
	@echo "• shellcheck"; $(BIN)/shellcheck $$(grep -l '^#!.*bash' .ci/*)
	@if [ -x $(NODE_TOOLS)/.bin/tsc ]; then echo "• tsc --checkJs"; $(NODE_TOOLS)/.bin/tsc --project tests/node/tsconfig.json && \
	echo "• eslint" && $(NODE_TOOLS)/.bin/eslint --config tests/node/eslint.config.mjs $(JAVASCRIPT); \
	else echo "• tsc --checkJs, eslint: left out, no npm here"; fi

.PHONY: format
format: $(VENV)/dev.stamp ## Rewrite the Python files in the project's format
	@$(BIN)/ruff check --fix-only --quiet . && $(BIN)/ruff format .

.PHONY: benchmarks
benchmarks: $(VENV)/dev.stamp ## Measure, and print each figure beside its floor
	@$(BIN)/python -m benchmarks $(ARGS)

.PHONY: attack
attack: $(VENV)/dev.stamp system-packages node-tools try-sheet ## Attack everything for about six hours, and write what broke into docs/trust.md
	@$(BIN)/python -m tests.attack $(ARGS)

.PHONY: reference
reference: $(VENV)/dev.stamp ## Regenerate the documentation's generated parts: functions, settings, commands, the house
	@$(BIN)/python -m docs.generate

.PHONY: docs
docs: $(VENV)/dev.stamp ## Build the documentation into site/, with warnings as errors
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet && echo "• site/index.html"

.PHONY: sbom
sbom: $(VENV)/run.stamp ## Write sbom.json, the packages that the add-in runs on (CycloneDX); each wheel has it, too
	@$(BIN)/python .ci/sbom.py "$$($(BIN)/python -c 'from dataservice.version import product_version as v; print(v())')" sbom.json

.PHONY: release
release: $(VENV)/run.stamp ## Build wheel, source archive and SBOM into dist/, and check them on the oldest and newest Python
	@.ci/release

.PHONY: audit
audit: $(VENV)/run.stamp ## Look for known vulnerabilities of the pinned packages
	@$(BIN)/python -m uv tool run --quiet pip-audit --strict --progress-spinner off \
	  --requirement constraints.txt --no-deps --disable-pip

.PHONY: constraints
constraints: $(VENV)/dev.stamp ## Pin the newest versions that work on the oldest supported Python
	@echo '--editable .' | $(BIN)/python -m uv pip compile --quiet --python-version 3.11 \
	   --group dev --group docs --no-header --generate-hashes - \
	   | awk '/^-e/ { own = 1; next } /^[a-z0-9]/ { own = 0 } !own' > $(VENV)/hashes.txt
	@{ sed -n '/^#/p' constraints.txt; sed -n 's/^\([a-z0-9._-]*==[^ ;]*\).*/\1/p' $(VENV)/hashes.txt; } > $(VENV)/constraints.txt
	@{ sed -n '/^#/p' .ci/hashes.txt; cat $(VENV)/hashes.txt; } > $(VENV)/hashes-with-head.txt
	@mv $(VENV)/constraints.txt constraints.txt && mv $(VENV)/hashes-with-head.txt .ci/hashes.txt
	@git --no-pager diff --stat constraints.txt .ci/hashes.txt

.PHONY: clean
clean: ## Remove the environment, caches and everything built
	@rm -rf $(VENV) $(VENV)-* $(NODE_TOOLS) addin/sheet/component site build dist .benchmarks .cache .coverage* coverage.xml htmlcov \
	  .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache .schemathesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: system-packages
system-packages:
	@if [ "$(SYSTEM_PACKAGES)" = yes ]; then .ci/install-debian-packages; fi

.PHONY: chart-tools
chart-tools: $(VENV)/venv.stamp
	@.ci/fetch-chart-tools

.PHONY: node-tools
node-tools:
	@if command -v npm >/dev/null 2>&1; then $(MAKE) --silent $(NODE_TOOLS)/.stamp; \
	else echo "• npm is not here: the tests of Microsoft's engine and the JavaScript types are left out"; fi

$(NODE_TOOLS)/.stamp: tests/node/package.json
	@echo "• installing the JavaScript test tools into $(NODE_TOOLS)"
	@npm install --prefix tests/node $(NPM_FLAGS) >/dev/null && touch $@

$(VENV)/venv.stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed; name one with PYTHON=..."; exit 1; }
	@echo "• making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)
	@awk '/^[a-z]/ { on = /^uv==/ } on' .ci/hashes.txt > $(VENV)/uv.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement $(VENV)/uv.txt || echo "• going on without uv"
	@touch $@

$(VENV)/run.stamp: $(VENV)/venv.stamp $(PINS)
	$(call install,the add-in,[service],)
	@touch $@

$(VENV)/dev.stamp: $(VENV)/venv.stamp $(PINS)
	$(call install,the add-in and its development tools,,--group dev --group docs)
	@touch $@
