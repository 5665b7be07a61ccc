"""A column of fixed-size lists of a Dask dataframe as an array."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from geodp.errors import InputError
from geodp.io.dask_checks import failures
from geodp.io.lists import check_lists, numbers_of_lists
from geodp.spaces.base import Array, Space
from geodp.statistics.records import from_objects


def array_of_lists(frame: Any, space: Space, column: str) -> Any:
    """The Dask array ``(n, *space.point_shape)``, a partition to a chunk; one look at the lengths
    of all partitions."""
    import dask
    import dask.array as da

    if not hasattr(frame, "to_delayed") or not hasattr(frame, "columns"):
        raise InputError("Records of a dataframe are a column of a dask.dataframe.")
    if column not in frame.columns:
        raise InputError(f"The Dask dataframe has no column {column!r}.")
    _check_type(frame.dtypes[column], column, math.prod(space.point_shape))
    parts = frame[column].to_delayed()
    with failures(" Nothing was spent."):
        counts = dask.compute(*(dask.delayed(len)(part) for part in parts))
    points = dask.delayed(_points)
    chunks = [
        da.from_delayed(points(part, space.point_shape), (count, *space.point_shape), np.float64)
        for part, count in zip(parts, counts, strict=True)
        if count
    ]
    if not chunks:
        raise InputError("The Dask dataframe holds no record.")
    return da.concatenate(chunks)


def _check_type(dtype: Any, column: str, width: int) -> None:
    """By the declared type alone: no value decides."""
    arrow = getattr(dtype, "pyarrow_dtype", None)
    if arrow is not None:
        check_lists(arrow, column, width)
    elif dtype != np.dtype(object):
        raise InputError(
            f"The column {column!r} holds {dtype}, and records are fixed-size lists of numbers. If "
            "Dask has turned lists into text, set dataframe.convert-string to False in its "
            "configuration, or store them as pyarrow's fixed-size lists."
        )


def _points(part: Any, shape: tuple[int, ...]) -> Array:
    """The points of one partition, on a worker; what is none becomes NaN."""
    width = math.prod(shape)
    if getattr(part.dtype, "pyarrow_dtype", None) is not None:
        numbers = numbers_of_lists(part.array.__arrow_array__().combine_chunks())
    else:
        numbers = np.asarray(from_objects(part.tolist(), (width,)), dtype=np.float64)
    return np.asarray(numbers).reshape(-1, *shape)
