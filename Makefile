# Two commands for everyone: make demo, make test. Both set up .venv by themselves.
PYTHON ?= python3
PY := .venv/bin/python
UV := .venv/bin/uv
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK ?= 1

.PHONY: demo test lint types unit docs tutorials study experiments bench format lock clean

demo: .venv/ready
	$(PY) examples/digits_demo.py --out demo

test: lint types unit docs

lint: .venv/ready
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: .venv/ready
	$(PY) -m mypy

unit: .venv/ready
	$(PY) -m pytest -n 2

docs: .venv/ready
	$(PY) -m sphinx -W -n -q -b html docs docs/_build/html

# run the tutorials and refresh the figures that they show
tutorials: .venv/ready
	$(PY) -W error docs/_ext/blocks.py docs/tutorials/*.md

study: .venv/ready
	$(PY) experiments/study.py
	$(PY) experiments/composition.py
	$(PY) experiments/wrapped_spherical.py
	$(PY) experiments/which_noise.py
	$(PY) experiments/r1smg.py

experiments: .venv/ready
	$(PY) experiments/wrapped_gaussian.py
	$(PY) experiments/knorm_gradient.py
	$(PY) experiments/riemannian_laplace.py
	$(PY) experiments/wrapped_versus_riemannian.py
	$(PY) experiments/sampler_check.py
	$(PY) experiments/shapes.py

bench: .venv/ready
	$(PY) -m pytest benchmarks --benchmark-enable -q -s

# wheel and sdist of the tracked files, the wheel built from the sdist
dist: .venv/ready
	rm -rf build/dist && mkdir -p build/dist/source
	git ls-files -z src LICENSE README.md pyproject.toml | tar --null -T - -cf - | tar -xf - -C build/dist/source
	$(UV) build -q --out-dir build/dist build/dist/source

# both in fresh environments, each extra alone
packaging: dist
	GEODP_DIST=build/dist $(PY) -m pytest -n 2 --basetemp=build/environments tests/packaging

# the quick part of the tests on the wheel with every extra, in the oldest and in the newest
# versions that pyproject.toml allows; old packages warn of newer ones, which is no error here
QUICK ?= tests/api tests/cli/test_commands.py tests/cli/test_process.py tests/cli/test_volumes.py \
	tests/cli/test_bad_files.py tests/io tests/kernels tests/ledger/test_ledger.py tests/plots \
	tests/random tests/report tests/sklearn tests/spaces/test_parse.py tests/web/test_pages.py
TOOLS := pytest pytest-benchmark pytest-xdist hypothesis mpmath pyriemann jsonschema httpx2
oldest: SOLVED := --resolution lowest-direct
oldest: VERSION := $(or $(OLDEST_PYTHON),3.11)
oldest: TOOLS += httpx  # the test client of older Starlette
newest: VERSION := $(or $(NEWEST_PYTHON),$(PYTHON))

oldest newest: dist
	$(UV) venv -q --clear --python $(VERSION) build/$@
	$(UV) pip compile -q $(SOLVED) --python build/$@ --extra all --extra accounting --no-annotate pyproject.toml -o build/$@.txt
	$(UV) pip install -q --python build/$@ -r build/$@.txt $(TOOLS)
	$(UV) pip install -q --python build/$@ --no-deps build/dist/*.whl
	build/$@/bin/python -m pytest -q -n 2 -W default $(QUICK)

format: .venv/ready
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

.venv/ready: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "geodp needs Python 3.11 or newer; set PYTHON=python3.x")'
	$(PYTHON) -m venv .venv
	$(PY) -m pip install -q -r requirements.lock
	$(PY) -m pip install -q --no-deps --no-build-isolation -e .
	touch .venv/ready

# exact versions for the commands above, solved afresh from pyproject.toml
lock:
	rm -rf build/lock && $(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install -q --upgrade pip setuptools
	build/lock/bin/python -m pip install -q -e ".[all]" --group dev --group docs
	build/lock/bin/python -m pip freeze --exclude-editable --all | grep -v '^pip==' > requirements.lock

clean:
	rm -rf .venv build demo docs/_build
