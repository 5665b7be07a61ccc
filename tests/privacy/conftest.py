"""Fifty digits for every comparison with mpmath, and its default again afterwards."""

from collections.abc import Iterator

import mpmath as mp
import pytest


@pytest.fixture(autouse=True)
def fifty_digits() -> Iterator[None]:
    with mp.workdps(50):
        yield
