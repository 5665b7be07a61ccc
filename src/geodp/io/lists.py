"""Arrow's fixed-size lists of numbers: a point in each."""

from __future__ import annotations

from typing import Any

import numpy as np

from geodp.errors import InputError
from geodp.spaces.base import Array


def check_lists(kind: Any, column: str, width: int) -> None:
    """``InputError`` where an Arrow type is no list of ``width`` real numbers."""
    import pyarrow.types as types

    if not types.is_fixed_size_list(kind):
        raise InputError(
            f"The column {column!r} is no fixed-size list, but {kind}: write records as fixed-size "
            "lists, as write_parquet does."
        )
    inner = kind.value_type
    if not (types.is_floating(inner) or types.is_integer(inner)):
        raise InputError(f"The column {column!r} holds {inner}; real numbers are needed.")
    if kind.list_size != width:
        raise InputError(
            f"The column {column!r} holds lists of {kind.list_size} numbers; a point needs {width}."
        )


def numbers_of_lists(lists: Any) -> Array:
    """An Arrow array of fixed-size lists as ``(n, width)``; nulls become NaN."""
    import pyarrow as pa

    width = lists.type.list_size
    values = lists.values.slice(lists.offset * width, len(lists) * width)
    numbers = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    numbers = np.array(numbers, dtype=np.float64).reshape(len(lists), width)
    if lists.null_count:
        numbers[np.asarray(lists.is_null())] = np.nan
    return numbers
