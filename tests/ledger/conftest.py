import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments"))

import ledger_faults


@pytest.fixture(params=["sqlite", "postgresql"])
def place_and_key(request: pytest.FixtureRequest) -> Iterator[tuple[str, Path]]:
    """A place for a new ledger on each database."""
    if request.param not in ledger_faults.databases():
        pytest.skip(f"{ledger_faults.VARIABLE} names no server; source .ci/postgres")
    with ledger_faults.place_for(request.param) as where:
        yield where
