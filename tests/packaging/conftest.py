"""Wheel and sdist in fresh environments: `make packaging`, which says by GEODP_DIST where they are.

Left out of `make unit`, since environments are filled from the package index.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from environment import ROOT, Environment

DIST = os.environ.get("GEODP_DIST")
collect_ignore_glob = [] if DIST else ["test_*.py"]


def _one(pattern: str) -> Path:
    (found,) = Path(DIST or "").absolute().glob(pattern)
    return found


@pytest.fixture(scope="session")
def wheel() -> Path:
    return _one("*.whl")


@pytest.fixture(scope="session")
def sdist() -> Path:
    return _one("*.tar.gz")


@pytest.fixture(scope="session")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Environment]:
    """Makes an environment that holds what is named, in the versions of the lock file."""

    def make(*what: str) -> Environment:
        return Environment.make(tmp_path_factory.mktemp("environment"), *what)

    return make


@pytest.fixture(scope="session")
def tracked() -> set[str]:
    """The project's own files that a distribution is made of, relative to the repository."""
    words = ["git", "ls-files", "-z", "src", "LICENSE", "README.md", "pyproject.toml"]
    out = subprocess.run(words, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return set(filter(None, out.split("\0")))
