"""Records in Dask arrays: the same bits as in memory, whoever computes them."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

import numpy as np
import pytest

import geodp as gd
from geodp.io.dask_records import DaskRecords
from geodp.statistics.aggregate import ClipPass, LogPass, fold

da = pytest.importorskip("dask.array", reason="the extra dask is not installed")
distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")

pytestmark = pytest.mark.filterwarnings("default")  # of asyncio and sockets, in Dask

BALL = gd.Ball(gd.SPD(2), np.eye(2), 1.0)
MEAN = gd.FrechetMean(BALL)


def _records(n: int, seed: int = 0) -> np.ndarray:
    z = np.random.default_rng(seed).normal(size=(n, 3)) * 0.5
    records = gd.SPD(2).exp_coords(np.eye(2), z)
    records[3] = np.nan
    records[n // 2] *= 1e5
    return records


@pytest.fixture(scope="module")
def cluster() -> Iterator[distributed.LocalCluster]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as running:
            yield running


@pytest.mark.parametrize("rows", [1, 7, 50, 400])
def test_a_pass_is_a_monoid(rows: int) -> None:
    """Chunks and their order change no bit."""
    records, x = _records(400), 1.1 * np.eye(2)
    for aggregate in (LogPass(BALL, 400, x, 4.0), ClipPass(BALL, 400)):
        whole = aggregate.update(aggregate.init(), records)
        chunks = [records[i : i + rows] for i in range(0, 400, rows)]
        states = [aggregate.update(aggregate.init(), chunk) for chunk in reversed(chunks)]
        merged = reduce(aggregate.merge, states)
        for found in (merged, fold(aggregate, chunks)):
            one, other = (
                [state] if not hasattr(state, "center_sum") else [state.center_sum, state.moved]
                for state in (whole, found)
            )
            assert repr(one) == repr(other)


@pytest.mark.parametrize("n", [300, 20_000])  # numpy, and a compiled pass
def test_threads_give_the_same_bits(n: int) -> None:
    records = _records(n)
    there = DaskRecords(da.from_array(records, chunks=(n // 7, 2, 1)))
    local, remote = BALL.clip(records), BALL.clip(there)
    assert np.array_equal(MEAN.evaluate(local).value, MEAN.evaluate(remote).value)
    assert local.replaced_share == remote.replaced_share > 0
    assert np.array_equal(np.concatenate([*local.chunks()]), np.concatenate([*remote.chunks()]))
    assert np.array_equal(local.subsample(100), remote.subsample(100))


def test_a_cluster_gives_the_same_bits_and_survives_the_loss_of_a_worker(
    cluster: distributed.LocalCluster,
) -> None:
    records = _records(12_000, 1)
    expected = MEAN.evaluate(records).value
    with distributed.Client(cluster) as client:
        there = DaskRecords(da.from_array(records, chunks=(2500, 2, 2)))
        assert np.array_equal(MEAN.evaluate(there).value, expected)
        victims = list(client.run(os.getpid).values())
        passes = []

        def lose_one() -> None:
            passes.append(None)
            if len(passes) == 2:  # in the middle of the solver's passes
                os.kill(victims[0], signal.SIGKILL)

        mean = gd.FrechetMean(BALL, progress=lose_one)
        assert np.array_equal(mean.evaluate(there).value, expected)
        assert len(passes) >= 2
        out = gd.release(there, MEAN, gd.GaussianDP(1), gd.Wrapped(gd.Gaussian()))
        assert out.n == 12_000


def test_a_worker_without_geodp_is_refused_before_anything_is_spent(
    cluster: distributed.LocalCluster,
) -> None:
    with distributed.Client(cluster) as client:
        client.run(exec, "import sys; sys.modules['geodp'] = None")  # as if it were not installed
        try:
            with pytest.raises(gd.InputError, match="cannot import geodp"):
                DaskRecords(da.zeros((10, 2), chunks=(5, 2)))
        finally:
            client.run(exec, "import sys; sys.modules.pop('geodp', None)")
        assert len(DaskRecords(da.zeros((10, 2), chunks=(5, 2)))) == 10


def _ragged() -> object:
    array = da.zeros((10, 2), chunks=(5, 2))
    return array.map_blocks(lambda block: block[:-1], dtype=float, chunks=array.chunks)


def _broken() -> object:
    def fail(block: np.ndarray) -> np.ndarray:
        if block.size:
            raise ValueError("record 17 is 3.5")
        return block

    return da.zeros((10, 2), chunks=(5, 2)).map_blocks(fail, dtype=float)


def _unknown() -> object:
    array = da.zeros((10, 2), chunks=(5, 2))
    return array[array[:, 0] >= 0]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (_ragged, "ragged"),
        (_broken, "cannot be computed"),
        (_unknown, "unknown size"),
        (lambda: np.zeros((3, 2)), "takes a dask.array"),
        (lambda: da.zeros((3, 2), dtype=complex), "numbers are needed"),
    ],
)
def test_arrays_that_cannot_serve_get_a_sentence(make, words: str) -> None:
    with pytest.raises(gd.InputError, match=words) as refusal:
        DaskRecords(make())
    assert "17" not in str(refusal.value)


def test_a_ledger_knows_the_records_again(tmp_path: Path) -> None:
    records = np.abs(np.random.default_rng(0).normal(size=(40, 2)))
    mean = gd.FrechetMean(gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0))
    ledger = gd.Ledger.create(tmp_path / "budget.db", gd.GaussianDP(1), unit="person")
    there = DaskRecords(da.from_array(records, chunks=(7, 2)))
    for data in (there, records):
        gd.release(
            data, mean, gd.GaussianDP("0.5"), gd.Wrapped(gd.Gaussian()), ledger=ledger, dataset="s"
        )
    assert float(ledger.left_for("s", None)) == 0.5
