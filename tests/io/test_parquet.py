"""Parquet: fixed-size lists read by row groups, in constant memory; damage is refused first."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import geodp as gd
from geodp.io import read_records
from geodp.io.parquet import ParquetRecords, write_parquet

pa = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
pq = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")

BALL = gd.Ball(gd.SPD(2), np.eye(2), 1.0)
MEAN = gd.FrechetMean(BALL)
NOISE = gd.Wrapped(gd.Gaussian())


def _records(n: int = 1000) -> np.ndarray:
    z = np.random.default_rng(0).normal(size=(n, 3)) * 0.5
    records = gd.SPD(2).exp_coords(np.eye(2), z)
    records[7] = np.nan
    return records


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "records.parquet"
    said = {"physical_unit": "1e-3 mm^2/s", "component_order": "xx xy yy", "frame": "scanner"}
    ids = [f"p{i // 2}" for i in range(1000)]
    write_parquet(place, _records(), gd.SPD(2), row_group=300, ids=ids, **said)
    return place


def test_what_was_written_is_read(path: Path) -> None:
    found, records = ParquetRecords(path, gd.SPD(2)), _records()
    assert (found.shape, len(found), found.dtype) == ((1000, 2, 2), 1000, np.float64)
    for rows in (slice(0, 10), slice(290, 620), slice(None, None, 7), np.array([1, 299, 300, 999])):
        assert np.array_equal(found[rows], records[rows], equal_nan=True)
    assert found[5:5].shape == (0, 2, 2)
    assert found.declared["component_order"] == "xx xy yy"
    ball = gd.Ball(gd.SPD(2), np.eye(2), 1.0, **found.declared)
    assert ball.physical_unit == "1e-3 mm^2/s"


def test_the_mean_is_the_same_bits(path: Path) -> None:
    found = ParquetRecords(path, gd.SPD(2))
    assert np.array_equal(MEAN.evaluate(found).value, MEAN.evaluate(_records()).value)
    persons = gd.release(found, MEAN, gd.GaussianDP(1), NOISE, entities=found.ids("id"))
    assert (persons.n, persons.unit) == (500, "person")


def test_a_compiled_pass_reads_it_too(tmp_path: Path) -> None:
    records = _records(20_000)
    write_parquet(tmp_path / "many.parquet", records, gd.SPD(2), row_group=1000)
    found = ParquetRecords(tmp_path / "many.parquet", gd.SPD(2))
    assert np.array_equal(MEAN.evaluate(found).value, MEAN.evaluate(records).value)


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """No more than four row groups and what decodes one are held."""
    n, rows = 200_000, 2000
    write_parquet(tmp_path / "long.parquet", np.zeros((n, 3)), gd.Euclidean(3), row_group=rows)
    found = ParquetRecords(tmp_path / "long.parquet", gd.Euclidean(3))
    gd.FrechetMean(gd.Ball(gd.Euclidean(3), np.zeros(3), 1.0)).evaluate(found)
    assert sum(group.nbytes for group in found._kept.values()) <= 4 * rows * 24
    assert pa.default_memory_pool().bytes_allocated() < n * 24 / 4


def test_nulls_are_malformed_records(tmp_path: Path) -> None:
    column = pa.array([[1.0, 2.0], None, [None, 3.0]], pa.list_(pa.float64(), 2))
    pq.write_table(pa.table({"x": column}), tmp_path / "nulls.parquet")
    found = ParquetRecords(tmp_path / "nulls.parquet", gd.Euclidean(2))[:]
    assert found[0].tolist() == [1.0, 2.0]
    assert np.isnan(found[1]).all()
    assert np.isnan(found[2, 0])


TABLES = [
    ({"x": pa.array([[1.0], [1.0, 2.0]])}, None, "one column of fixed-size lists"),
    ({"x": pa.array([[1.0], [1.0, 2.0]])}, "x", "no fixed-size list"),
    ({"x": pa.array([1.0, 2.0])}, "x", "no fixed-size list"),
    ({"x": pa.array([[1.0] * 3] * 2, pa.list_(pa.float64(), 3))}, None, "a point needs 2"),
    ({"x": pa.array([["a"] * 2] * 2, pa.list_(pa.string(), 2))}, None, "real numbers"),
    ({"x": pa.array([[1.0] * 2] * 2, pa.list_(pa.float64(), 2))}, "y", "no column 'y'"),
]


@pytest.mark.parametrize(("table", "column", "words"), TABLES)
def test_other_columns_are_refused(tmp_path: Path, table, column, words: str) -> None:
    pq.write_table(pa.table(table), tmp_path / "bad.parquet")
    with pytest.raises(gd.InputError, match=words):
        ParquetRecords(tmp_path / "bad.parquet", gd.Euclidean(2), column)


def test_another_space_is_refused(path: Path) -> None:
    with pytest.raises(gd.MismatchError, match="holds points of spd:2"):
        ParquetRecords(path, gd.SPD(2, "log-euclidean"))


@pytest.mark.parametrize("where", ["cut", "middle", "no parquet"])
def test_a_file_broken_half_way_is_refused_before_anything_is_spent(
    path: Path, tmp_path: Path, where: str
) -> None:
    raw = bytearray(path.read_bytes())
    if where == "cut":
        raw = raw[: len(raw) // 2]
    elif where == "middle":
        start = pq.ParquetFile(path).metadata.row_group(2).column(0).data_page_offset
        raw[start + 40 : start + 400] = bytes(360)
    else:
        raw = bytearray(b"lon,lat\n1,2\n")
    path.write_bytes(raw)
    ledger = gd.Ledger.create(tmp_path / "budget.db", gd.GaussianDP(1), unit="record")
    with pytest.raises(gd.InputError, match=r"damaged|cannot be read"):
        gd.release(
            ParquetRecords(path, gd.SPD(2)),
            MEAN,
            gd.GaussianDP(1),
            NOISE,
            ledger=ledger,
            dataset="s",
        )
    assert ledger.left_for("s", None) == 1


def test_read_records_knows_the_format(path: Path) -> None:
    assert np.array_equal(read_records(path, gd.SPD(2))[:], _records(), equal_nan=True)
    assert len(read_records(path, gd.SPD(2), key="record")) == 1000
    with pytest.raises(gd.InputError, match="as they are"):
        read_records(path, gd.SPD(2), columns="lower")
