# make report   environment, install, validation report (report.html, report.json)
# make test     environment, install, the tests without what `make slow` and `make pages` run
# make slow     tests that compute for more than a second each
# make check    lint, types and the quick tier of the tests: a minute, for those who change the code
# make mutations  models made wrong on purpose: each must fail a measure of the report
# make gallery  validation and default commands of the machines of the gallery
# make pages   the documents, the report and the live page in Chromium: layout, contrast, descriptions; tests of the page, of
#               pictures, films, documents and examples
# make hostile  10,000 generated bad inputs (files, calls, commands): each ends in a result or in an error of the package
# make thorough  slow, mutations, hostile, pages, test-rl, extras, source archive and tests as on other processors: each where the
#               files that it covers have changed since it last passed, as .ci/passed.json says
# make versions  the quick tests on Python 3.12 and 3.13 without PyBullet, and with the oldest libraries; extras; source archive
# make test-rl  tests of training, of sweeps on a cluster, of kernels compiled for graphics cards and of environments with the
#               oldest Gymnasium, in an environment of their own

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
	if $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo $$p; break; fi; done)
INSTALLED := $(VENV)/.installed
SOURCES := .ci twin envs validation assets tests benchmarks examples docs/conf.py docs/handbook docs/images
RL := build/rl
# Named before the extra that needs it: otherwise builds for graphics cards come in, several GB of them.
TORCH := torch==2.13.0
TESTING := 'pytest>=9.0' pytest-xdist hypothesis
# Libraries of reinforcement learning that the environments are tested with, beside those of the extras.
OTHERS := 'torchrl>=0.14'
# Without bytecode, each of the many processes would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE
# Of generated bad input.
INPUTS := 10000
# Processes of the quick tier; 0: none but the one that is started.
WORKERS := 2
TESTS := $(BIN)/python -m pytest --numprocesses 2 --dist worksteal
# Files with tests marked `slow`; all of them where none are named.
FILES ?=

.PHONY: help report docs pages page-tests test slow gallery gallery-report mutations hostile check quick thorough versions test-rl lint types bench history assets pictures wheel clean

help:
	@awk '/^# / {sub(/^# /, ""); print; next} {exit}' Makefile

report: $(INSTALLED)
	$(BIN)/twin validate --report report.html --json report.json

report.json: | $(INSTALLED)
	$(MAKE) report

# Pictures of the site, drawn again where the package, a script or the report has changed.
DRAWN := build/images/.drawn
$(DRAWN): $(shell find twin envs assets docs/images benchmarks examples -name '*.py' -o -name '*.toml' -o -name '*.json' -o -name '*.js' -o -name '*.css') report.json | $(INSTALLED)
	PYTHONPATH=tests:tests/support $(BIN)/python docs/images $(@D)
	touch $@

# The site in build/docs, with the numbers of the last report.
docs: $(INSTALLED) $(DRAWN)
	rm -rf build/docs
	$(BIN)/sphinx-build -W --keep-going -q -j auto -b html -d build/doctrees docs build/docs

# The pages in Chromium: what is too wide, clipped, covered, hard to read or has no description. All that it sees on
# sheets: PYTHONPATH=tests:tests/support python -m legible build/docs report.html --pictures build/sheets
pages: docs page-tests
	PYTHONPATH=tests:tests/support $(BIN)/python -m legible build/docs report.html

# What only a browser, a camera, a film, documents or examples need.
page-tests: $(INSTALLED)
	$(TESTS) -m 'pages and not gallery'

test: $(INSTALLED)
	$(TESTS) -m 'not gallery and not slow and not pages'

# Those of some files: make slow FILES='tests/model/dynamics/test_batches.py'
slow: $(INSTALLED)
	$(TESTS) -m 'slow and not gallery and not pages' $(FILES)

# Tests that take a minute for every machine of the gallery.
gallery: $(INSTALLED)
	$(TESTS) -m gallery

gallery-report: $(INSTALLED)
	$(TESTS) -m gallery tests/validation/test_gallery.py

# Models made wrong on purpose, of which each must fail a measure of the report; writes the table in validation/mutations.md.
mutations: $(INSTALLED)
	PYTHONPATH=tests:tests/support $(BIN)/python -m mutations

# Generated bad input; one of them again: PYTHONPATH=tests:tests/support python -m hostile calls:123
hostile: $(INSTALLED)
	PYTHONPATH=tests:tests/support $(BIN)/python -m hostile $(INPUTS)

# What a contributor runs before every commit.
check: lint types quick

quick: $(INSTALLED)
	$(BIN)/python -m pytest -m quick --numprocesses $(WORKERS) --dist worksteal -q

# What needs PyTorch, Ray or compilers for graphics cards, and the environments on the oldest Gymnasium: the one of RLlib.
# Tests are skipped where a library is missing: here none may be. What needs no such library is left to `make test`,
# and so are environments on other engines than the reference: to Gymnasium they are all alike.
test-rl: $(RL)/.installed
	$(RL)/bin/python -c 'import joblib, matplotlib, numba_cuda, pyarrow, ray.rllib.algorithms.ppo, stable_baselines3, tensorboard, torch, torchrl'
	$(RL)/bin/python -m pytest --numprocesses 2 --dist worksteal tests/training/test_rl_*.py tests/sweep/test_cluster_ray.py \
		tests/envs/test_registered.py tests/envs/test_vector.py tests/kernels/cuda/test_compilation.py \
		-k 'not mujoco and not bullet'

versions: $(INSTALLED)
	$(BIN)/python .ci/versions.py

thorough: $(INSTALLED)
	$(BIN)/python .ci/thorough.py

lint: $(INSTALLED)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)

# A type checker does not follow the folder mapping of an editable install: it sees the folders as they are installed.
types: $(INSTALLED)
	rm -rf build/types && mkdir -p build/types/twin
	ln -s $(CURDIR)/twin/* $(CURDIR)/envs $(CURDIR)/validation $(CURDIR)/assets build/types/twin/
	cd build/types && MYPYPATH=.:../../docs ../../$(BIN)/mypy --config-file ../../pyproject.toml --cache-dir ../mypy -p twin -p handbook
	cd build/types && MYPYPATH=. ../../$(BIN)/mypy --config-file ../../pyproject.toml --cache-dir ../mypy --scripts-are-modules ../../examples/*.py

bench: $(INSTALLED)
	$(BIN)/python -m pytest benchmarks --benchmark-group-by=group --benchmark-columns=min,median,rounds

# A few ratios within one run, one more row of benchmarks/results/history.csv: half a minute.
history: $(INSTALLED)
	PYTHONPATH=tests:tests/support $(BIN)/python benchmarks/history.py

assets: $(INSTALLED)
	for machine in $(notdir $(patsubst %/platform.toml,%,$(wildcard assets/*/platform.toml))); do \
		$(BIN)/twin export $$machine --format mjcf --out assets/$$machine && \
		$(BIN)/twin export $$machine --format urdf --out assets/$$machine || exit 1; done

# The committed pictures of README and docs, drawn anew; no display is needed.
pictures: $(INSTALLED) report.json
	PYTHONPATH=tests:tests/support $(BIN)/python docs/images

# Builds the wheel and uses it in an environment of its own, without the development tools.
wheel: $(INSTALLED)
	rm -rf build/wheel build/clean build/lib build/bdist.*
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir build/wheel .
	$(PYTHON) -m venv build/clean
	build/clean/bin/python -m pip install --quiet --no-compile build/wheel/*.whl
	cd build && clean/bin/twin list && clean/bin/twin simulate stewart --duration 0.05 --engine mujoco

$(INSTALLED): pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later is needed: apt install python3 python3-venv"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo "Python's venv is missing: apt install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip 'setuptools>=77'
	$(BIN)/python -m pip install -qq --no-compile --editable '.[dev]'
	touch $@

$(RL)/.installed: pyproject.toml
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --upgrade pip 'setuptools>=77'
	$(@D)/bin/python -m pip install -qq --no-compile $(TORCH)
	$(@D)/bin/python -m pip install -qq --no-compile $(TESTING) $(OTHERS) --editable '.[rl,cluster,cuda]' 'gymnasium==1.2.2' 'ray[rllib]==2.60.*'
	touch $@

clean:
	rm -rf $(VENV) build docs/_generated *.egg-info
