# Headrace's commands. `make help` lists them.
#
# Everything is built into .venv and target/ beside this file; nothing else on
# the machine is changed. The network is used for crates.io and PyPI only.

PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
SEE    := out
# Time for which `make fuzz` runs a target.
SECONDS := 60
# Without GNU timeout, tests of Rust may take for ever.
LIMITED := $(if $(shell command -v timeout),timeout --verbose 30m)

# rustup puts cargo there; shells opened before its installation do not know.
export PATH := $(PATH):$(HOME)/.cargo/bin
# One interpreter for all of cargo's calls, or the bindings are compiled twice.
export PYO3_PYTHON := $(CURDIR)/$(PY)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_QUIET := 1
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
# Results of these commands are not the user's.
export HEADRACE_STORE := $(CURDIR)/$(SEE)/store
unexport CONDA_PREFIX PYTHONHOME PYTHONPATH

RUST := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name '*.toml')

.PHONY: help build demo test lint house unchanged bench docs fuzz dist clean tools rust-tools
.NOTPARALLEL:
.DELETE_ON_ERROR:

help:
	@echo 'make demo    build, run two example scenarios, leave plots in $(SEE)/'
	@echo 'make test    build, check style and types, run every test'
	@echo 'make lint    style, types and prose only'
	@echo 'make house                 measure repetition beside its budget'
	@echo 'make unchanged BASE=main   compare results of scenarios with those of a revision, bit by bit'
	@echo 'make bench   measure the simulator beside SimPy and hand-written loops, schedulers, its cost and memory against size, and the load engine'
	@echo 'make fuzz SECONDS=60   feed damaged files to every reader of foreign files, each for a minute'
	@echo 'make build   build into .venv; the command is then .venv/bin/headrace'
	@echo 'make docs    build the documentation site into $(SEE)/site'
	@echo 'make dist    build and test a wheel and a source distribution, in dist/'
	@echo 'make clean   remove .venv, target/, $(SEE)/, dist/ and caches'

build: $(VENV)/.built

demo: build
	@$(PY) -m headrace demo --plot $(SEE)
	@echo
	@echo 'Plots of throughput, latency and utilisation (PNG and SVG):'
	@echo '  $(SEE)/pfssim-write-then-read/'
	@echo '  $(SEE)/pfssim-sfq/'

# The test runners' own last lines come last. A Rust test that hangs is named after a minute, and
# ended with the run; a Python test has its own limit (pyproject.toml).
test: lint
	@echo '== Rust tests'
	@$(LIMITED) cargo test --workspace --quiet --tests
	@$(LIMITED) cargo test --workspace --quiet --doc
	@echo '== Python tests'
	@$(PY) -m pytest -q -n logical --dist worksteal

lint: rust-tools build
	@echo '== Rust: format and lints'
	@cargo fmt --all --check
	@cargo clippy --workspace --all-targets --quiet -- -D warnings
	@echo '== Direction of dependencies'
	@$(PY) tools/arrows.py
	@echo '== Python: lints, format and types'
	@$(PY) -m ruff check --quiet .
	@$(PY) -m ruff format --check --quiet .
	@$(PY) -m mypy
	@$(PY) -m mypy --no-explicit-package-bases fuzz/python benches/applications benches/darshan benches/kernel benches/load benches/local benches/model benches/profile benches/scale benches/schedulers benches/striped-read benches/survival benches/sweep benches/twin benches/verdicts benches/web
	@for paper in papers/*/; do $(PY) -m mypy --no-explicit-package-bases $$paper || exit 1; done
	@echo '== Prose'
	@$(PY) tools/prose_lint.py README.md CONTRIBUTING.md CHANGELOG.md docs papers/*/README.md --docstrings --help-texts --rust
	@echo '== Repetition'
	@$(PY) tools/house.py --quiet

house: $(VENV)/.required
	@$(PY) tools/house.py

# LIMIT: seconds for a case. PAPERS=1: the papers too. FACES=1: what users see, in place of results.
unchanged: build
	@test -n '$(BASE)' || { echo 'BASE is missing: make unchanged BASE=main' >&2; exit 2; }
	@$(PY) tools/unchanged.py '$(BASE)' $(if $(LIMIT),--limit $(LIMIT)) $(if $(PAPERS),--papers) $(if $(FACES),--faces)

bench: build
	@$(PY) benches/kernel/compare.py
	@$(PY) benches/striped-read/striped_read.py
	@$(PY) benches/local/local.py
	@$(PY) benches/scale/scale.py
	@$(PY) benches/scale/memory.py --quick
	@$(PY) benches/scale/playback.py
	@$(PY) benches/sweep/sweep.py
	@$(PY) benches/schedulers/crossing.py
	@$(PY) benches/schedulers/placement.py
	@$(PY) benches/schedulers/at_scale.py
	@mkdir -p $(SEE) && $(PY) benches/load/agreement $(SEE)
	@cargo run --release --quiet -p headrace-load --example engine_cost
	@cargo run --release --quiet -p headrace-load --example open_loop
	@cargo run --release --quiet -p headrace-model --example net_speed
	@$(PY) benches/model/callback.py
	@cargo run --release --quiet -p headrace-survival --example speed
	@$(PY) benches/survival/whole_command.py
	@$(PY) benches/web/serve_load.py

# Opens from the file system, $(SEE)/site/index.html: nothing is fetched from the network.
docs: build
	@echo '== Rust reference'
	@RUSTDOCFLAGS='-A rustdoc::private_intra_doc_links' cargo doc --workspace --no-deps --quiet --exclude headrace-python
	@echo '== Site'
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --quiet --strict
	@echo 'file://$(CURDIR)/$(SEE)/site/index.html'

# Needs a nightly Rust compiler and cargo-fuzz. New inputs and findings stay in $(SEE)/fuzz.
fuzz: build
	@sh tools/fuzz $(PY) '$(SECONDS)' $(SEE)/fuzz

# A wheel and a source distribution. Both are tested outside this directory.
dist: $(VENV)/.required | tools
	@sh tools/dist '$(PYTHON)' $(VENV)/bin/maturin dist

clean:
	rm -rf $(VENV) target fuzz/target $(SEE) dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find python tests benches papers fuzz -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -f python/headrace/*.so

$(VENV)/.created: | tools
	@echo '== Making $(VENV)'
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.required: $(VENV)/.created pyproject.toml
	@echo '== Installing Python packages into $(VENV)'
	@$(PY) -m pip install maturin
	@touch $@

# Release: the extension is what users measure with. The Python sources are
# used in place, so only Rust and pyproject.toml make it out of date.
$(VENV)/.built: $(VENV)/.required $(RUST) pyproject.toml | tools
	@echo '== Building (the first time takes some minutes)'
	@$(PY) -m maturin develop --quiet --release --extras dev
	@touch $@

tools:
	@sh tools/require '$(PYTHON)'

rust-tools: | tools
	@cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1 \
	  || { echo 'The checks need rustfmt and clippy: rustup component add rustfmt clippy' >&2; exit 1; }
