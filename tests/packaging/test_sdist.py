"""The sdist, built and installed by who has no wheel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from environment import Environment


def test_the_sdist_installs_and_works(fresh: Callable[..., Environment], sdist: Path) -> None:
    made = fresh(str(sdist))
    assert made.receipt().exists()
    assert made.code("import geodp; print(geodp.__file__)").startswith(str(made.home))
