"""The public domain of a record: a closed geodesic ball, and the rule that moves records into it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from geodp.errors import ConditionError, InputError, SpaceError
from geodp.spaces.base import Array, BoolArray, Space

_CHUNK_FLOATS = 2**16  # floats per chunk: 512 KiB, small beside any input worth chunking
_SLACK = 1e-9  # relative: how far beyond the radius a moved record may land


@dataclass(frozen=True, eq=False)
class Ball:
    """The closed geodesic ball ``{x : dist(center, x) <= radius}``: where records may lie.

    Centre and radius are public and must not be looked up in the data. ``clip`` applies the public
    rule: a record outside moves along the geodesic to the edge; one that is no point of the space
    (NaN, indefinite, off the manifold), or at the cut locus of the centre, becomes the centre.

    Parameters
    ----------
    space : the space of the records.
    center : array of shape ``space.point_shape``.
    radius : geodesic distance, finite and positive, in the space's own length.
    physical_unit : what one unit of the raw records is (``"1e-3 mm^2/s"``), as declared by you.

    Raises
    ------
    InputError, SpaceError : the centre is no point of the space, the radius is missing or not
        finite and positive.

    Examples
    --------
    >>> import geodp as gd
    >>> ball = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.5)
    >>> len(ball.clip([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]))
    2
    """

    space: Space
    center: Array
    radius: float
    physical_unit: str | None = None
    reach: float = field(init=False)  # radius after rounding: true for every clipped record

    def __post_init__(self) -> None:
        space = self.space
        if not isinstance(space, Space):
            raise InputError("The first argument of a ball is a space, such as gd.Sphere(2).")
        center = _numeric(self.center, "The centre")
        if center.shape != space.point_shape:
            raise SpaceError(
                f"The centre has shape {center.shape}; a point of {space.spec} has shape "
                f"{space.point_shape}."
            )
        if not space.contains(center):
            raise SpaceError(f"The centre is no point of {space.spec}.")
        radius = positive_real(self.radius, "The radius")
        center = space.project(center)
        center.setflags(write=False)
        object.__setattr__(self, "center", center)
        object.__setattr__(self, "radius", radius)
        reach = radius * (1 + _SLACK) + space.log_error(center, radius * (1 + _SLACK))
        if not reach <= radius * (1 + 1e-3):
            raise ConditionError(
                f"A ball of radius {radius:g} around this centre is too wide for 64-bit floats on "
                f"{space.spec}: rounding alone moves its records by more than a thousandth of the "
                "radius. Use a smaller radius, a better-conditioned centre, or another metric."
            )
        object.__setattr__(self, "reach", float(np.nextafter(reach, np.inf)))

    @classmethod
    def from_eigenvalues(
        cls, space: Space, low: float, high: float, *, physical_unit: str | None = None
    ) -> Ball:
        """The ball around a multiple of the identity that holds every SPD matrix with eigenvalues
        in ``[low, high]``: physical limits turned into centre and radius.

        ``low`` and ``high`` are public limits in the unit of the records, ``0 < low < high``.

        Examples
        --------
        >>> import geodp as gd
        >>> ball = gd.Ball.from_eigenvalues(gd.SPD(3), 0.1, 3.0)  # diffusivities in 1e-3 mm^2/s
        >>> round(ball.radius, 4)
        2.9456
        """
        make = getattr(space, "eigenvalue_ball", None)
        if make is None:
            raise SpaceError(f"Eigenvalue limits describe SPD matrices, not points of {space.spec}.")
        low = positive_real(low, "The least eigenvalue")
        high = positive_real(high, "The greatest eigenvalue")
        if not low < high:
            raise InputError("The least eigenvalue must lie below the greatest.")
        center, radius = make(low, high)
        return cls(space, center, radius, physical_unit)

    @classmethod
    def from_degrees(
        cls, space: Space, longitude: float, latitude: float, degrees: float
    ) -> Ball:
        """The cap of ``degrees`` around a direction on ``Sphere(2)``, all angles in degrees.

        Examples
        --------
        >>> import geodp as gd
        >>> ball = gd.Ball.from_degrees(gd.Sphere(2), longitude=10, latitude=50, degrees=20)
        >>> round(ball.radius, 4)
        0.3491
        """
        make = getattr(space, "degree_ball", None)
        if make is None:
            raise SpaceError(f"Degrees describe directions on a sphere, not points of {space.spec}.")
        for angle, what in ((longitude, "longitude"), (latitude, "latitude")):
            if not np.isfinite(angle):
                raise InputError(f"The centre's {what} must be a finite number of degrees.")
        center, radius = make(longitude, latitude, positive_real(degrees, "The cap's angle"))
        return cls(space, center, radius, "degree")

    def clip(self, records: ArrayLike | ClippedRecords) -> ClippedRecords:
        """The records after the public rule, each treated by itself.

        ``records`` has shape ``(n, *point_shape)``; a memory map is read chunk by chunk and never
        copied whole. Never fails on a record's value; refuses wrong dtypes and shapes.
        """
        if isinstance(records, ClippedRecords):
            if records.ball is not self:
                raise InputError("These records were clipped to another ball.")
            return records
        source = self.accept(records)
        moved = np.zeros(len(source), dtype=bool)
        replaced = []
        for start, chunk in _raw_chunks(source, self.chunk_rows):
            fixed, changed = self._rule(chunk)
            moved[start : start + len(chunk)] = changed
            replaced.append(fixed[changed])
        return ClippedRecords(self, source, moved, tuple(replaced))

    def accept(self, records: Any) -> Any:
        """``records`` as an array of the right dtype and shape, at least two, no value looked at."""
        return _as_records(records, self.space.point_shape)

    def project(self, x: ArrayLike) -> Array:
        """Points outside moved along the geodesic from the centre to the edge."""
        x = np.asarray(x, dtype=np.float64)
        return self._rule(x.reshape(-1, *self.space.point_shape))[0].reshape(x.shape)

    @property
    def chunk_rows(self) -> int:
        """Records per chunk: a public constant of the space."""
        return max(64, _CHUNK_FLOATS // int(np.prod(self.space.point_shape)))

    def _rule(self, x: Array) -> tuple[Array, BoolArray]:
        """The public rule on ``(n, *point_shape)``; the second array says which records changed."""
        space, center = self.space, self.center
        wide = (slice(None),) + (None,) * len(space.point_shape)
        with np.errstate(all="ignore"):  # a warning here would depend on a record
            lost = ~space.contains(x)
            x = space.project(np.where(lost[wide], center, x))
            lost |= space.cut_locus(center, x)
            x = np.where(lost[wide], center, x)
            z = space.log_coords(center, x)
            t = np.sqrt(np.einsum("ni,ni->n", z, z))
            far = ~(t <= self.radius)
            if far.any():
                edge = space.exp_coords(center, z[far] * (self.radius / t[far])[:, None])
                edge = space.project(edge)
                back = space.log_coords(center, edge)
                inside = np.einsum("ni,ni->n", back, back) <= (self.radius * (1 + _SLACK)) ** 2
                inside &= space.contains(edge)
                x[far] = np.where(inside[wide], edge, center)
        return x, lost | far

    def __repr__(self) -> str:
        unit = "" if self.physical_unit is None else f", physical_unit={self.physical_unit!r}"
        return f"Ball({self.space.spec}, radius={self.radius!r}{unit})"


class ClippedRecords:
    """Records after the public rule; only ``Ball.clip`` makes them, and only chunks come out.

    Holds the raw array (or memory map) and the replaced records beside it, so that a clipped copy
    of the whole input never exists. Nothing of it prints.
    """

    __slots__ = ("_moved", "_replaced", "_source", "ball")

    def __init__(self, ball: Ball, source: Any, moved: BoolArray, replaced: tuple[Array, ...]):
        self.ball = ball
        self._source = source
        self._moved = moved
        self._replaced = replaced

    def __len__(self) -> int:
        return len(self._source)

    def chunks(self) -> Iterator[Array]:
        """Clipped chunks ``(rows, *point_shape)``, in order, as fresh contiguous float64 arrays."""
        raw = _raw_chunks(self._source, self.ball.chunk_rows)
        with np.errstate(all="ignore"):
            for (start, chunk), replaced in zip(raw, self._replaced, strict=True):
                moved = self._moved[start : start + len(chunk)]
                chunk[moved] = replaced
                yield self.ball.space.project(chunk)

    def subsample(self, size: int) -> Array:
        """About ``size`` clipped records at evenly spaced positions, which depend on n alone."""
        step = max(1, len(self) // size)
        rows, start = [], 0
        for chunk in self.chunks():
            rows.append(chunk[(-start) % step :: step])
            start += len(chunk)
        return np.concatenate(rows)

    def __repr__(self) -> str:
        return f"<clipped records in {self.ball!r}>"

    def __reduce__(self) -> Any:
        raise TypeError("Clipped records are not pickled: they hold raw records.")


def positive_real(value: object, what: str) -> float:
    """``value`` as a finite positive float, or an InputError that starts with ``what``."""
    if value is None:
        raise InputError(
            f"{what} is missing. Choose it from public knowledge (physical limits, the design of "
            "the study), never from the data; the page 'How to choose' shows ways."
        )
    if isinstance(value, (bool, str)):
        raise InputError(f"{what} must be a number.")
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be a number.") from error
    if not (np.isfinite(number) and number > np.finfo(np.float64).tiny):
        raise InputError(f"{what} must be finite and positive.")
    return number


def _numeric(x: object, what: str) -> Array:
    if x is None:
        raise InputError(f"{what} is missing. It is public and must be given.")
    try:
        array = np.asarray(x)
    except ValueError as error:
        raise InputError(f"{what} is not a regular array of numbers.") from error
    if array.dtype.kind not in "iuf":
        raise InputError(f"{what} has dtype {array.dtype}; real numbers are needed.")
    return np.array(array, dtype=np.float64)


def _as_records(records: Any, shape: tuple[int, ...]) -> Any:
    """An array ``(n, *shape)`` of real dtype, memory maps as they are; ragged rows become NaN."""
    if records is None:
        raise InputError("No records were given.")
    if isinstance(records, np.ma.MaskedArray):
        records = records.astype(np.float64).filled(np.nan)
    if not isinstance(records, np.ndarray):
        try:
            records = np.asarray(records)
        except ValueError:  # rows of different shapes
            records = _ragged(records, shape)
    if records.dtype.kind not in "iuf":
        raise InputError(
            f"The records have dtype {records.dtype}; real numbers (float64, float32, integers) "
            "are needed."
        )
    if records.shape[1:] != shape or records.ndim != len(shape) + 1:
        expected = ", ".join(["n", *map(str, shape)])
        raise InputError(
            f"The records have {records.ndim} axes, the last ones {records.shape[1:]}; an array of "
            f"shape ({expected}) is needed."
        )
    if len(records) < 2:
        raise InputError("At least two records are needed.")
    return records


def _ragged(records: Any, shape: tuple[int, ...]) -> Array:
    out = np.full((len(records), *shape), np.nan)
    for row, record in zip(out, records, strict=True):
        try:
            array = np.asarray(record)
        except ValueError:
            continue
        if array.shape == shape and array.dtype.kind in "iuf":
            row[...] = array
    return out


def _raw_chunks(source: Any, rows: int) -> Iterator[tuple[int, Array]]:
    for start in range(0, len(source), rows):
        with np.errstate(all="ignore"):
            yield start, np.array(source[start : start + rows], dtype=np.float64, order="C")
