"""Records and single points from files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from geodp.errors import InputError
from geodp.io.arrays import NPY, NPZ, load_npy, load_npz
from geodp.io.declared import layout_for
from geodp.io.layout import Layout
from geodp.io.nifti import ENDINGS
from geodp.io.parquet import ParquetRecords
from geodp.io.source import STDIN, named, open_bytes
from geodp.io.table import UTF16
from geodp.spaces.base import Array, Space


def read_records(
    path: str | os.PathLike[str],
    space: Space,
    *,
    layout: str | None = None,
    columns: str | Sequence[str] | None = None,
    lonlat: bool = False,
    poincare: bool = False,
    key: str | None = None,
    header: bool | None = None,
) -> Any:
    """Records of ``space`` from a .npy, .npz, .parquet, CSV or TPS file, or ``-`` for standard
    input.

    The format is recognised by the file's first bytes; what is neither .npy nor .npz is CSV
    (``read_table`` says how lines are read), or TPS landmarks if the name ends in .tps. No
    value is looked at: a malformed record comes out as an array row that is no point, which the
    public rule of ``Ball.clip`` takes care of.

    Parameters
    ----------
    layout, columns, lonlat, poincare : how a record is spelled, see ``layout_for``.
    key : which array of a .npz file, or column of a .parquet file.
    header : whether a CSV file starts with a header. It must be said: a first line that decided
        by itself would let a malformed record change the number of records.

    Returns
    -------
    array ``(n, *space.point_shape)``, a read-only memory map for a .npy file that needs no
    conversion.

    Raises
    ------
    InputError : no such file, a damaged one, the wrong dtype or shape, a CSV file without
        ``header``, a header with the wrong number of columns.

    Examples
    --------
    >>> import tempfile, pathlib, geodp as gd
    >>> file = pathlib.Path(tempfile.mkdtemp(), "directions.csv")
    >>> _ = file.write_text("lon,lat\\n0,90\\n0,oops\\n")
    >>> read_records(file, gd.Sphere(2), lonlat=True, header=True).round(3).tolist()
    [[0.0, 0.0, 1.0], [nan, nan, nan]]
    """
    declared = layout_for(space, layout=layout, columns=columns, lonlat=lonlat, poincare=poincare)
    return read_layout(path, declared, key=key, header=header)


def read_layout(
    path: str | os.PathLike[str],
    layout: Layout,
    *,
    key: str | None = None,
    header: bool | None = None,
    guess: bool = False,
) -> Any:
    """``read_records`` with the layout at hand. ``guess``, for eyes that may see the records, lets
    the first line of a CSV file say whether it is a header."""
    if is_parquet(path):
        return parquet_records(path, layout, key)
    return stacked_points(*_load(path, layout, key, header, guess=guess), named(path), layout)


def is_parquet(path: str | os.PathLike[str]) -> bool:
    return os.fspath(path).lower().endswith(".parquet")


def parquet_records(
    path: str | os.PathLike[str], layout: Layout, key: str | None
) -> ParquetRecords:
    layout.check_unnamed(named(path))
    if not layout.is_plain:
        raise InputError("Parquet files hold points as they are: declare no layout.")
    return ParquetRecords(path, layout.space, key)


def stacked_points(found: Any, is_table: bool, name: str, layout: Layout) -> Any:
    """The points that an array or a table holds."""
    if is_table:
        return layout.points(found)
    layout.check_unnamed(name)
    _check_dtype(found, name)
    shape = layout.array_shape
    stacked = np.moveaxis(found, layout.record_axis, 0) if found.ndim else found
    if stacked.ndim != len(shape) + 1 or stacked.shape[1:] != shape:
        raise InputError(
            f"{name} holds an array of shape {found.shape}; {layout.stacked_shape()} is needed: "
            f"{layout.columns}, for {layout.space.spec}."
        )
    if len(stacked) == 0:
        raise InputError(f"{name} holds no record.")
    return stacked if layout.is_plain else layout.points(stacked)


def read_point(text: str, layout: Layout, what: str) -> Array:
    """One public point: ``origin``, numbers such as ``0,0,1``, or a file that holds one point.

    Numbers and files are spelled as the layout says; ``what`` starts the error messages.

    >>> import geodp as gd
    >>> read_point("0,90", layout_for(gd.Sphere(2), lonlat=True), "The centre").round(3).tolist()
    [0.0, 0.0, 1.0]
    """
    space, layout = layout.space, replace(layout, names=())
    if text == "origin":
        return space.origin
    numbers = _numbers(text)
    if numbers is None:
        found, is_table = _load(text, layout, None, None, guess=True)
        _check_dtype(found, named(text))
        if is_table and len(found) == 1:
            found = found[0]
        if layout.is_plain and found.shape == space.point_shape:
            return np.array(found, dtype=np.float64)
        if found.shape == layout.array_shape:
            found = found.reshape(-1)
        if found.shape != (layout.width,):
            raise InputError(
                f"{what} is read from {text!r}, whose array has shape {found.shape}; one point of "
                f"{space.spec} is needed: {layout.columns}."
            )
        numbers = np.array(found, dtype=np.float64)
    if len(numbers) != layout.width:
        raise InputError(
            f"{what} has {len(numbers)} numbers; {layout.width} are needed: {layout.columns}."
        )
    point: Array = layout.points(numbers[None])[0]
    return point


def _load(
    path: str | os.PathLike[str],
    layout: Layout,
    key: str | None,
    header: bool | None,
    *,
    guess: bool,
) -> tuple[Any, bool]:
    """The array in a file, and whether it is a CSV table."""
    name, ending = named(path), os.fspath(path).lower()[-4:]
    with open_bytes(path) as stream:
        try:
            magic = stream.read(len(NPY))
            stream.seek(0)
            if not magic:
                raise InputError(f"{name} is empty.")
            if magic.startswith(NPZ):
                return load_npz(stream, name, key), False
            if key is not None:
                raise InputError(f"A key names an array of a .npz file; {name} is none.")
            if magic == NPY:
                in_place = os.fspath(path) != STDIN and os.path.isfile(path)
                return load_npy(os.fspath(path) if in_place else stream, name), False
            if ending in (".npy", ".npz"):
                raise InputError(f"{name} is damaged: it does not start as a {ending} file does.")
            if magic.startswith(UTF16):
                raise InputError(f"{name} is text in UTF-16; save it as UTF-8.")
            if (reader := layout.formats.get(ending)) is not None:
                if header is not None:
                    raise InputError(f"A header is one of a CSV file; {name} is none.")
                layout.check_unnamed(name)
                return reader(stream, layout.width, layout.columns, None), True
            if is_parquet(path):
                raise InputError(
                    f"{name} is named as a Parquet file, which holds records; a single point is "
                    "read from .npy, .npz or CSV."
                )
            if os.fspath(path).lower().endswith(ENDINGS):
                raise InputError(
                    f"{name} is named as a NIfTI file, whose unit and order must be declared: read "
                    "it by geodp.io.read_voxels or geodp.io.read_subjects."
                )
            if ending == ".tps":
                raise InputError(
                    f"{name} is named as a TPS file, which holds landmarks as they are: declare "
                    "shapes:K for K of them, and no layout."
                )
            if header is None and not (guess or layout.names):
                raise InputError(
                    f"{name} is read as CSV: say whether its first line is a header (--header; in "
                    "Python header=True) or a record (--no-header; header=False). The line itself "
                    "cannot decide: a malformed record there would change the number of records."
                )
            return layout.rows(stream, header), True
        except OSError as error:
            raise InputError(f"{name} cannot be read.") from error


def _numbers(text: str) -> Array | None:
    try:
        return np.array([float(word) for word in text.split(",")])
    except ValueError:
        return None


def _check_dtype(found: Any, name: str) -> None:
    if found.dtype.kind not in "iuf":
        raise InputError(f"{name} holds {found.dtype} values; real numbers are needed.")
