# The targets people and CI call. `make setup` brings everything; each later target starts from it and
# does only what changed since the last run.

PYTHON ?= python3.11
VENV   ?= .venv
OUT    ?= out

CARGO_TARGET_DIR ?= $(CURDIR)/target
export CARGO_TARGET_DIR
export PYO3_PYTHON = $(abspath $(VENV))/bin/python

# Without python3.11 on the path, whatever python3 there is.
PYTHON_FOUND := $(shell command -v $(PYTHON) >/dev/null 2>&1 && $(PYTHON) -c '' >/dev/null 2>&1 && echo $(PYTHON) || echo python3)
PY      = $(VENV)/bin/python
SOMA    = $(CARGO_TARGET_DIR)/release/soma
EXT     = python/somatize/_somatize.abi3.so
RUST    = Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name 'Cargo.toml' -o -name '*.bin')
NEXTEST = $(shell command -v cargo-nextest >/dev/null 2>&1 && echo 'nextest run --no-tests=warn' || echo test)

.PHONY: setup demo test test-rust test-python test-slow lint fmt bench bench-smoke docs clean browser

setup: $(VENV)/.locked $(SOMA) $(EXT)

# The lock is copied last: an interrupted install starts again. A new clone has newer files and the same
# lock, so what it says is compared, not its age.
$(VENV)/.locked: requirements.lock
	test -x $(PY) || $(PYTHON_FOUND) -m venv $(VENV)
	cmp -s $< $@ || $(PY) -m pip install --quiet --disable-pip-version-check --requirement $<
	cp $< $@

$(SOMA): $(RUST)
	cargo build --release --locked -p soma-cli
	@touch $@

# The wheel carries the native binary as a script, so `soma` in the venv is the same program.
$(EXT): $(VENV)/.locked $(SOMA) $(RUST) pyproject.toml
	$(PY) -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $@

demo: setup
	$(PY) examples/digits.py --out $(OUT)/digits
	$(SOMA) inspect $(OUT)/digits/store
	$(SOMA) importance $(OUT)/digits/store

test: test-rust test-python

test-rust: setup
	cargo $(NEXTEST) --locked
	cargo test --doc --locked --quiet

# One thread a process: the tests' networks are tiny, and two threads each on two busy cores wait for one another.
test-python test-slow bench bench-smoke: export OMP_NUM_THREADS = 1

test-python: setup browser
	$(PY) -m pytest -n 2 --dist loadfile

test-slow: setup browser
	$(PY) -m pytest -m 'slow or not slow and not gpu and not benchmark'

# The figures are opened in a real browser. Debian's package is taken where it can be; elsewhere those
# tests say that they lack it.
browser:
	@scripts/browser

lint: setup
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --all-features --locked --quiet -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked --quiet
	scripts/deny
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

fmt: $(VENV)/.locked
	cargo fmt --all
	$(VENV)/bin/ruff check --fix-only --quiet .
	$(VENV)/bin/ruff format .

bench: setup
	cargo bench --locked -p soma-benches
	for one in benches/compare/*.py; do echo "== $$one" && $(PY) $$one || exit 1; done

# Every bench once, quickly: it runs, and its numbers are printed, not judged.
bench-smoke: setup
	cargo bench --locked -p soma-benches -- --quick --noplot
	for one in benches/compare/*.py; do echo "== $$one" && $(PY) $$one --smoke || exit 1; done

docs: setup
	cargo doc --workspace --no-deps --locked

clean:
	rm -rf $(OUT) $(EXT) python/somatize.data
