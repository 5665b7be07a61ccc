"""The layouts by name: a reader declares one, and nothing is guessed from the numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from geodp.errors import InputError
from geodp.io import directions, landmarks, matrices_layout
from geodp.io.layout import Layout, plain
from geodp.io.named_columns import checked_names
from geodp.spaces.base import Space

_LAYOUTS: dict[str, Callable[[Space], Layout]] = (
    matrices_layout.LAYOUTS | directions.LAYOUTS | landmarks.LAYOUTS
)
LAYOUTS = tuple(_LAYOUTS)


def layout_for(
    space: Space,
    *,
    layout: str | None = None,
    columns: str | Sequence[str] | None = None,
    lonlat: bool = False,
    poincare: bool = False,
) -> Layout:
    """The layout that was declared for records of ``space``; by default points as they are, and
    landmarks x1, y1, x2, y2, ….

    Parameters
    ----------
    layout : for SPD matrices ``"full"`` (m² numbers, row by row; the default in CSV), ``"lower"``
        (the lower triangle row by row: xx xy yy xz yz zz, as NIfTI, ANTs, DTI-TK, DIPY and AFNI
        have it), ``"upper"`` (xx xy xz yy yz zz, FSL) or ``"diagonal-first"`` (xx yy zz xy xz yz,
        MRtrix and TORTOISE). For ``Sphere(2)`` ``"lonlat-degrees"``, ``"lonlat-radians"``,
        ``"dip-azimuth-degrees"`` or ``"dip-azimuth-radians"`` (dip first; x north, y east, z
        down), for spheres ``"unit-vectors"``. For ``Hyperbolic(d)`` ``"poincare"``,
        ``"hyperboloid"`` or ``"hyperboloid-time-last"``. For planar shapes ``"wide"`` (x1, y1,
        x2, y2, …), ``"split"`` (x1, x2, …, y1, y2, …), ``"long"`` or ``"long-from-0"`` (lines of
        specimen, landmark, x, y; landmarks numbered from 1 or 0) or ``"pkn"`` (R's arrays,
        specimens last).
    columns : a list of names: the columns of a CSV file that spell a point, as its header names
        them, in the order that the layout declares; other columns are passed over. Or one text,
        ``"full"``, ``"lower"``, ``"upper"`` or ``"diagonal-first"``, as by ``layout``.
    lonlat : the same as ``layout="lonlat-degrees"``.
    poincare : the same as ``layout="poincare"``.

    Raises
    ------
    InputError : the declaration does not describe points of ``space``, or there are two.

    Examples
    --------
    >>> import geodp as gd
    >>> layout_for(gd.SPD(3), layout="lower").width
    6
    """
    if columns is not None and not isinstance(columns, str):
        found = layout_for(space, layout=layout, lonlat=lonlat, poincare=poincare)
        if not found.is_by_line:
            raise InputError("In this layout a record has several lines: name no columns.")
        return replace(found, names=checked_names(columns, found.width, found.columns))
    flags = {"lonlat-degrees": lonlat, "poincare": poincare}
    declared = [name for name in (layout, columns) if name is not None]
    declared += [name for name, is_set in flags.items() if is_set]
    if len(declared) > 1:
        raise InputError(
            "Declare one of layout, columns, lonlat and poincare; they exclude each other."
        )
    if columns is not None and columns not in matrices_layout.LAYOUTS:
        raise InputError(
            f"The columns of a matrix are {', '.join(matrices_layout.LAYOUTS)}; not {columns!r}."
        )
    if not declared:
        is_shapes = getattr(space, "from_landmarks", None) is not None
        return landmarks.wide(space) if is_shapes else plain(space)
    if declared[0] not in _LAYOUTS:
        raise InputError(f"There is no layout {declared[0]!r}; there are {', '.join(LAYOUTS)}.")
    return _LAYOUTS[declared[0]](space)
