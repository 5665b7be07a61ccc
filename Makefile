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
