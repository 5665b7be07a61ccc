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
from geodp.io import dask_records as dask_module
from geodp.io import write_parquet
from geodp.io.dask_records import DaskRecords
from geodp.progress import reporting
from geodp.statistics import entities as entities_module
from geodp.statistics import maps as maps_module
from geodp.statistics.aggregate import ClipPass, LogPass, fold
from geodp.statistics.entities import Entities
from geodp.statistics.entity_rules import EntityMean

dask = pytest.importorskip("dask", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array", reason="the extra dask is not installed")
dd = pytest.importorskip("dask.dataframe", reason="the extra dask is not installed")
pd = pytest.importorskip("pandas", reason="the extra dask is not installed")
pa = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
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


def _infer_means(records: object) -> np.ndarray:
    numbers = gd.infer(records, BALL, gd.GaussianDP(2), rng=np.random.default_rng(0))
    return np.array([float(np.sum(one.value)) for one in numbers.releases.values()])


def test_sums_behind_inference_are_the_same_bits() -> None:
    records = _records(600, 2)
    there = DaskRecords(da.from_array(records, chunks=(100, 2, 2)))
    assert np.array_equal(_infer_means(there), _infer_means(records))


MAPS = gd.Ball(gd.Power(gd.SPD(2), 12), np.eye(2), 1.0)


def _maps(n: int) -> np.ndarray:
    maps = gd.SPD(2).exp_coords(np.eye(2), np.random.default_rng(4).normal(size=(n, 12, 3)) * 0.15)
    maps[2, 5], maps[3, 6] = np.nan, 1e5 * np.eye(2)
    return maps


@pytest.mark.parametrize("chunks", [(20, 12, 2, 2), (60, 5, 2, 2), (17, 4, 1, 2)])
def test_maps_give_the_same_bits_however_they_are_chunked(chunks: tuple[int, ...]) -> None:
    """Whole maps, all people's places, and both ways at once; blocks of one place and more."""
    maps, mean = _maps(60), gd.FrechetMean(MAPS)
    there = DaskRecords(da.from_array(maps, chunks=chunks))
    local, remote = MAPS.clip(maps), MAPS.clip(there)
    assert np.array_equal(mean.evaluate(local).value, mean.evaluate(remote).value)
    assert local.replaced_share == remote.replaced_share == 2 / (60 * 12)
    tangent = gd.TangentMean(MAPS)
    assert np.array_equal(tangent.evaluate(maps).value, tangent.evaluate(there).value)


def test_maps_with_a_centre_in_every_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps_module, "BLOCK_FLOATS", 500)  # two places at a time
    centers = gd.SPD(2).exp_coords(np.eye(2), np.random.default_rng(5).normal(size=(12, 3)) * 0.1)
    mean = gd.FrechetMean(gd.Ball(MAPS.space, centers, 1.0))
    there = DaskRecords(da.from_array(_maps(60), chunks=(30, 6, 2, 2)))
    assert np.array_equal(mean.evaluate(_maps(60)).value, mean.evaluate(there).value)


def _frame(records: np.ndarray, arrow: bool, broken: bool = False) -> object:
    lists = [None if np.isnan(row).any() else list(row) for row in records.reshape(len(records), 4)]
    column = lists
    if arrow:
        typed = pa.array(lists, pa.list_(pa.float64(), 4))
        column = pd.Series(pd.arrays.ArrowExtensionArray(typed))
    whose = [f"p{i // 2}" for i in range(len(records))]
    with dask.config.set({"dataframe.convert-string": False}):
        frame = dd.from_pandas(pd.DataFrame({"x": column, "who": whose}), npartitions=4)
    if not broken:
        return frame

    def fail(part: object) -> object:
        if len(part) and part["who"].iloc[0] != "p0":  # type: ignore[index,arg-type]
            raise ValueError("record 17 is 3.5")
        return part

    return frame.map_partitions(fail, meta=frame._meta)


@pytest.mark.parametrize("arrow", [True, False])
def test_dataframes_give_the_same_bits_and_know_whose_records_are(arrow: bool) -> None:
    records = _records(200, 6)
    there = DaskRecords.from_dataframe(_frame(records, arrow), gd.SPD(2), "x")
    assert np.array_equal(MEAN.evaluate(there).value, MEAN.evaluate(records).value)
    ids = there.ids("who")
    assert ids == [f"p{i // 2}" for i in range(200)]
    local, remote = (Entities(ids, 200, EntityMean()).clip(BALL, x) for x in (records, there))
    assert np.array_equal(np.concatenate([*local.chunks()]), np.concatenate([*remote.chunks()]))
    out = gd.release(there, MEAN, gd.GaussianDP(1), gd.Wrapped(gd.Gaussian()), entities=ids)
    assert (out.n, out.unit) == (100, "person")


def test_a_parquet_file_as_a_dataframe(tmp_path: Path) -> None:
    records = _records(90, 7)
    write_parquet(tmp_path / "a.parquet", records, gd.SPD(2), row_group=20, ids=[*range(90)])
    for how in ({"dtype_backend": "pyarrow"}, {}):
        frame = dd.read_parquet(tmp_path / "a.parquet", split_row_groups=True, **how)
        there = DaskRecords.from_dataframe(frame, gd.SPD(2), "record")
        assert np.array_equal(MEAN.evaluate(there).value, MEAN.evaluate(records).value)
        assert there.ids("id") == [*range(90)]


def test_a_list_of_another_length_is_a_malformed_record() -> None:
    """Where the type does not rule it out, no refusal depends on it."""
    lists = [[1.0, 2.0], [3.0], None, ["a", 1.0], [5.0, None], [7.0, 8.0]]
    with dask.config.set({"dataframe.convert-string": False}):
        frame = dd.from_pandas(pd.DataFrame({"x": lists}), npartitions=2)
    found = DaskRecords.from_dataframe(frame, gd.Euclidean(2), "x")[:]
    assert found[0].tolist(), found[5].tolist() == ([1.0, 2.0], [7.0, 8.0])
    assert np.isnan(found[1:5]).any(axis=1).all()


def _typed(kind: object) -> object:
    values = pd.arrays.ArrowExtensionArray(pa.array([[1.0, 2.0]] * 4, kind))
    return dd.from_pandas(pd.DataFrame({"x": pd.Series(values)}), npartitions=2)


FRAMES = [
    (lambda: _frame(_records(20), True, broken=True), "cannot be computed"),
    (lambda: _frame(_records(20), False, broken=True), "cannot be computed"),
    (lambda: _typed(pa.list_(pa.float64())), "no fixed-size list"),
    (lambda: _typed(pa.list_(pa.float64(), 2)), "lists of 2 numbers; a point needs 4"),
    (lambda: dd.from_pandas(pd.DataFrame({"x": [1.0, 2.0]}), npartitions=1), "fixed-size lists of"),
    (lambda: dd.from_pandas(pd.DataFrame({"x": [[1.0], [2.0]]}), npartitions=1), "convert-string"),
    (lambda: dd.from_pandas(pd.DataFrame({"y": [1.0]}), npartitions=1), "no column 'x'"),
    (lambda: da.zeros((4, 4)), "column of a dask.dataframe"),
]


@pytest.mark.parametrize(("make", "words"), FRAMES)
def test_dataframes_that_cannot_serve_get_a_sentence(make, words: str, tmp_path: Path) -> None:
    ledger = gd.Ledger.create(tmp_path / "budget.db", gd.GaussianDP(1), unit="record")
    with pytest.raises(gd.InputError, match=words) as refusal:
        gd.release(
            DaskRecords.from_dataframe(make(), gd.SPD(2), "x"),
            *(MEAN, gd.GaussianDP(1), gd.Wrapped(gd.Gaussian())),
            ledger=ledger,
            dataset="s",
        )
    assert "17" not in str(refusal.value)
    assert ledger.left_for("s", None) == 1


def test_ids_are_those_of_a_dataframe() -> None:
    with pytest.raises(gd.InputError, match="no column 'who'"):
        DaskRecords(da.zeros((4, 2))).ids("who")


def _lose_one(passes: list[None], victims: list[int]) -> None:
    passes.append(None)
    if len(passes) == 2:
        os.kill(victims[0], signal.SIGKILL)


def _workers(client: object, cluster: object) -> list[int]:
    """Two workers again, one of which may have been lost."""
    cluster.scale(2)  # type: ignore[attr-defined]
    client.wait_for_workers(2, timeout=120)  # type: ignore[attr-defined]
    return list(client.run(os.getpid).values())  # type: ignore[attr-defined]


def test_maps_and_persons_on_a_cluster_survive_the_loss_of_a_worker(
    cluster: distributed.LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker dies after the first block of places, and then that of persons."""
    maps, mean = _maps(60), gd.FrechetMean(MAPS)
    records, ids = _records(400, 8), np.arange(400) // 3
    groups = Entities(ids, 400, EntityMean())
    expected = mean.evaluate(maps).value, _all(groups.clip(BALL, records))
    for module in (maps_module, entities_module):
        monkeypatch.setattr(module, "BLOCK_FLOATS", 700)
    monkeypatch.setattr(dask_module, "_TOGETHER", 1)  # one block after the other
    with distributed.Client(cluster) as client:
        passes: list[None] = []
        victims = _workers(client, cluster)
        lossy = gd.FrechetMean(MAPS, progress=lambda: _lose_one(passes, victims))
        found = lossy.evaluate(DaskRecords(da.from_array(maps, chunks=(20, 4, 2, 2))))
        assert np.array_equal(found.value, expected[0])
        assert len(passes) > 2
        steps: list[None] = []
        victims = _workers(client, cluster)
        there = DaskRecords(da.from_array(records, chunks=(90, 2, 2)))
        with reporting(lambda step: _lose_one(steps, victims)):
            again = Entities(ids, 400, EntityMean()).clip(BALL, there)
        assert np.array_equal(_all(again), expected[1])
        assert len(steps) >= 2
        frame = DaskRecords.from_dataframe(_frame(records, True), gd.SPD(2), "x")
        assert np.array_equal(MEAN.evaluate(frame).value, MEAN.evaluate(records).value)
        assert len(frame.ids("who")) == 400


def _all(clipped: object) -> np.ndarray:
    return np.concatenate([*clipped.chunks()])  # type: ignore[attr-defined]


def test_a_file_that_breaks_later_releases_nothing_and_shows_nothing(tmp_path: Path) -> None:
    """Between the look at the chunks and the passes: a sentence without the task's own words."""
    place = tmp_path / "records.npy"
    np.save(place, _records(40))

    def load(at: int) -> np.ndarray:
        found = np.load(place)
        if len(found) != 40:
            raise ValueError("record 17 is 3.5")
        return found[at : at + 10]

    parts = [da.from_delayed(dask.delayed(load)(i), (10, 2, 2), float) for i in range(0, 40, 10)]
    there = DaskRecords(da.concatenate(parts))
    np.save(place, _records(20))
    with pytest.raises(gd.InputError, match="cannot be computed") as refusal:
        gd.release(there, MEAN, gd.GaussianDP(1), gd.Wrapped(gd.Gaussian()))
    assert "17" not in str(refusal.value)


def test_a_worker_without_geodp_is_refused_before_anything_is_spent(
    cluster: distributed.LocalCluster,
) -> None:
    with distributed.Client(cluster) as client:
        client.run(exec, "import sys; sys.modules['geodp'] = None")  # as if it were not installed
        try:
            with pytest.raises(gd.InputError, match="cannot import geodp"):
                DaskRecords(da.zeros((10, 2), chunks=(5, 2)))
            with pytest.raises(gd.InputError, match="cannot import geodp"):
                DaskRecords.from_dataframe(_frame(_records(20), True), gd.SPD(2), "x")
        finally:
            client.run(exec, "import sys; sys.modules.pop('geodp', None)")
        assert len(DaskRecords(da.zeros((10, 2), chunks=(5, 2)))) == 10


def _ragged() -> object:
    array = da.zeros((10, 2), chunks=(5, 2))
    return array.map_blocks(lambda block: block[:-1], dtype=float, chunks=array.chunks)


def _ragged_maps() -> object:
    maps = da.zeros((10, 6, 2, 2), chunks=(5, 3, 2, 2))
    return maps.map_blocks(lambda block: block[:, :-1], dtype=float, chunks=maps.chunks)


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
        (_ragged_maps, "ragged"),
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
