"""The public domain of records: a closed geodesic ball, and the rule that moves them into it."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from geodp.arguments import finite_real, positive_real, real_array, text_or_none
from geodp.errors import ConditionError, InputError, SpaceError
from geodp.kernels import BLOCK_FLOATS, MANY
from geodp.kernels.threads import each
from geodp.progress import tick
from geodp.spaces.base import Array, BoolArray, Space
from geodp.spaces.batch import length
from geodp.spaces.lattice import LogSum
from geodp.statistics.declarations import agreed
from geodp.statistics.maps import clip_maps
from geodp.statistics.moving import moved_in
from geodp.statistics.records import (
    ClippedRecords,
    LocalRecords,
    as_records,
    raw_block,
    raw_chunks,
)

if TYPE_CHECKING:
    from geodp.kernels.kernel import Kernel

_CHUNK_FLOATS = 2**13  # floats per chunk: 64 KiB, so that its temporaries stay in the cache
_WIDEST = 1e100  # beyond, or below its inverse, squares of lengths leave the range of floats
_SLACK = 1e-9  # relative: how far beyond the radius a moved record may land


@dataclass(frozen=True, eq=False)
class Ball:
    """The closed geodesic ball ``{x : dist(center, x) <= radius}``: where records may lie.

    Centre and radius are public and must not be looked up in the data. ``clip`` applies the public
    rule: a record outside moves along the geodesic to the edge; one that is no point of the space
    (NaN, indefinite, off the manifold), or at the cut locus of the centre, becomes the centre.

    On a ``gd.Power`` it is a ball in each place, all of the one radius, and the rule works place by
    place: a map with one bad voxel loses that voxel alone.

    Parameters
    ----------
    space : the space of the records.
    center : array of shape ``space.point_shape``, or ``"origin"`` for the space's own; on a Power
        also one point for all places.
    radius : geodesic distance, finite and positive, in the space's own length.
    physical_unit, component_order, frame : what the raw numbers are (``"1e-3 mm^2/s"``, ``"xx xy
        yy"``, ``"scanner"``), declared by you and copied to the receipt; never guessed.

    Raises
    ------
    InputError, SpaceError : the centre is no point of the space, the radius is missing or not
        finite and positive, or what is declared is no text.

    Examples
    --------
    >>> import geodp as gd
    >>> ball = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.5)
    >>> len(ball.clip([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]))
    2
    """

    space: Space
    # public and required; missing ones get a sentence that says how to choose them
    center: Array = None  # type: ignore[assignment]
    radius: float = None  # type: ignore[assignment]
    physical_unit: str | None = None
    component_order: str | None = None
    frame: str | None = None
    # what is true of every clipped record after rounding: its distance from the centre, and the
    # distance in each place of a map; the same number for all spaces but powers
    reach: float = field(init=False)
    cell_reach: float = field(init=False)

    def __post_init__(self) -> None:
        space = self.space
        if not isinstance(space, Space):
            raise InputError("The first argument of a ball is a space, such as gd.Sphere(2).")
        for name in ("physical_unit", "component_order", "frame"):
            what = f"The {name.replace('_', ' ')}"
            object.__setattr__(self, name, text_or_none(getattr(self, name), what))
        if self.center is None:
            raise InputError("The centre is missing. It is public and must be given.")
        center = real_array(self._stated_center(), "The centre")
        if center.shape == space.cell.point_shape:
            center = np.array(np.broadcast_to(center, space.point_shape))
        if center.shape != space.point_shape:
            raise SpaceError(
                f"The centre has shape {center.shape}; a point of {space.spec} has shape "
                f"{space.point_shape}."
            )
        if not space.contains(center):
            hint = getattr(space, "point_hint", "")
            raise SpaceError(f"The centre is no point of {space.spec}.{hint}")
        radius = positive_real(self.radius, "The radius")
        if not 1 / _WIDEST <= radius <= _WIDEST:
            raise ConditionError(
                f"The radius must lie between {1 / _WIDEST:g} and {_WIDEST:g}, where floats hold "
                "squared distances. Use another unit of length."
            )
        center = space.project(center)
        center.setflags(write=False)
        object.__setattr__(self, "center", center)
        object.__setattr__(self, "radius", radius)
        centers = np.unique(center.reshape(space.cells, *space.cell.point_shape), axis=0)
        wide = radius * (1 + _SLACK)
        reach = wide + max(space.cell.log_error(point, wide) for point in centers)
        if not reach <= radius * (1 + 1e-3):
            raise ConditionError(
                f"A ball of radius {radius:g} around this centre is too wide for 64-bit floats on "
                f"{space.spec}: rounding alone moves its records by more than a thousandth of the "
                "radius. Use a smaller radius, a centre that is better conditioned or nearer to 0, "
                "or another metric."
            )
        reach = float(np.nextafter(reach, np.inf))
        whole = reach if space.cells == 1 else math.sqrt(space.cells) * reach * (1 + 1e-12)
        object.__setattr__(self, "cell_reach", reach)
        object.__setattr__(self, "reach", whole)

    def _stated_center(self) -> Any:
        """The centre as an array: a text can only name the origin."""
        if not isinstance(self.center, str):
            return self.center
        if self.center != "origin":
            raise InputError('The centre is a point of the space, or the text "origin".')
        return self.space.origin

    @classmethod
    def from_eigenvalues(
        cls, space: Space, low: float, high: float, **declared: str | None
    ) -> Ball:
        """The ball around a multiple of the identity that holds every SPD matrix with eigenvalues
        in ``[low, high]``: physical limits turned into centre and radius. ``declared`` as for Ball.

        ``low`` and ``high`` are public limits in the unit of the records, ``0 < low < high``.

        Examples
        --------
        >>> import geodp as gd
        >>> ball = gd.Ball.from_eigenvalues(gd.SPD(3), 0.1, 3.0)  # diffusivities in 1e-3 mm^2/s
        >>> round(ball.radius, 4)
        2.9455
        """
        make = getattr(space.cell, "eigenvalue_ball", None)
        if make is None:
            raise SpaceError(
                f"Eigenvalue limits describe SPD matrices, not points of {space.spec}."
            )
        low = positive_real(low, "The least eigenvalue")
        high = positive_real(high, "The greatest eigenvalue")
        if not low < high:
            raise InputError("The least eigenvalue must lie below the greatest.")
        center, radius = make(low, high)
        return cls(space, center, radius, **declared)

    @classmethod
    def from_degrees(
        cls,
        space: Space,
        longitude: float,
        latitude: float,
        degrees: float,
        **declared: str | None,
    ) -> Ball:
        """The cap of ``degrees`` around a direction on ``Sphere(2)``, all angles in degrees.

        Examples
        --------
        >>> import geodp as gd
        >>> ball = gd.Ball.from_degrees(gd.Sphere(2), longitude=10, latitude=50, degrees=20)
        >>> round(ball.radius, 4)
        0.3491
        """
        make = getattr(space.cell, "degree_ball", None)
        if make is None:
            raise SpaceError(
                f"Degrees describe directions on a sphere, not points of {space.spec}."
            )
        longitude = finite_real(longitude, "The centre's longitude")
        latitude = finite_real(latitude, "The centre's latitude")
        if abs(latitude) > 90:
            raise InputError("The centre's latitude must lie between -90 and 90 degrees.")
        center, radius = make(longitude, latitude, positive_real(degrees, "The cap's angle"))
        return cls(space, center, radius, **declared)

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
        elsewhere = getattr(source, "clipped_by", None)  # records that are not of this process
        if elsewhere is not None:
            clipped: ClippedRecords = elsewhere(self)
            return clipped
        return self.clip_block(source, self.kernel_for(len(source)))

    def kernel_for(self, n: int) -> Kernel | None:
        """The compiled pass that ``n`` records are worth, if any."""
        return self.space.kernel() if n >= MANY else None

    def clip_block(self, source: Any, kernel: Kernel | None) -> LocalRecords:
        """Some of the records, as an array that ``accept`` takes, after the public rule."""
        if self.space.cells > 1:
            return clip_maps(self, source)
        if kernel is not None:
            return self._fused_clip(source, kernel)
        moved = np.zeros(len(source), dtype=bool)
        rough = np.zeros(len(source), dtype=bool)
        replaced, logs = [], []
        for start, chunk in raw_chunks(source, self.chunk_rows):
            tick("clipping", start, len(source))
            fixed, changed, z = self.apply_rule(chunk)
            logs.append(LogSum.of(z, 2 * self.reach))
            moved[start : start + len(chunk)] = changed
            with np.errstate(all="ignore"):
                differs = (fixed != chunk).reshape(len(chunk), -1).any(axis=1)
            rough[start : start + len(chunk)] = differs & ~changed
            replaced.append(fixed[changed])
        center_sum = functools.reduce(LogSum.merge, logs)
        return LocalRecords(self, source, moved, tuple(replaced), rough, center_sum)

    def _fused_clip(self, source: Any, kernel: Kernel) -> LocalRecords:
        """The same for many records, by the kernel: it adds up those that are points well inside,
        and moves others, each by itself."""
        moved = np.zeros(len(source), dtype=bool)
        scale, fused = 2 * self.reach, kernel.at(self.center)

        def one(start: int) -> tuple[LogSum, Array]:
            block = raw_block(source, start, self.block_rows)
            total, left = self.space.fused_sum(fused, block, scale, self.within(self.radius))
            at = np.flatnonzero(left)
            if not len(at):
                return total, np.empty((0, *self.space.point_shape))
            rest, fixed, changed = moved_in(self, fused, block[at], self._widest)
            moved[start + at] = changed
            return total.merge(rest), fixed[changed]

        parts = []
        for part in each(one, range(0, len(source), self.block_rows)):
            parts.append(part)
            tick("clipping", min(len(parts) * self.block_rows, len(source)), len(source))
        center_sum = functools.reduce(LogSum.merge, (total for total, _ in parts))
        replaced = tuple(rows for _, rows in parts)
        return LocalRecords(self, source, moved, replaced, None, center_sum, kernel)

    def accept(self, records: Any) -> Any:
        """``records`` as an array of the right dtype and shape, no value looked at.

        ``MismatchError`` where their file declares another unit, order or frame than the ball."""
        agreed(vars(self), getattr(records, "declared", {}))
        return as_records(records, self.space.point_shape)

    def project(self, x: ArrayLike) -> Array:
        """Points outside moved along the geodesic from the centre to the edge."""
        x, out = np.asarray(x, dtype=np.float64), np.empty(np.shape(x))
        for ball, at in self.places:
            part = self._cells(x)[:, at].reshape(-1, *ball.space.point_shape)
            fixed = ball.apply_rule(part)[0]
            self._cells(out)[:, at] = fixed.reshape(-1, len(at), *ball.space.point_shape)
        return out

    def _cells(self, x: Array) -> Array:
        """A view of points as ``(n, places, *cell.point_shape)``."""
        return x.reshape(-1, self.space.cells, *self.space.cell.point_shape)

    @functools.cached_property
    def places(self) -> tuple[tuple[Ball, Any], ...]:
        """The balls of the places, equal ones once, and which places have each."""
        space = self.space
        if space.cells == 1:
            return ((self, np.arange(1)),)
        centers, which = np.unique(self.center, axis=0, return_inverse=True)
        balls = (Ball(space.cell, point, self.radius) for point in centers)
        return tuple((b, np.flatnonzero(which.ravel() == i)) for i, b in enumerate(balls))

    def offset(self, point: ArrayLike) -> float:
        """The distance of a point from the centre; on a Power the greatest in any place."""
        return float(np.max(self.space.cell.dist(self.center, point)))

    def holds(self, point: Array) -> bool:
        """Whether a point lies in the ball, up to the rounding of clipped records."""
        space = self.space
        with np.errstate(all="ignore"):
            known = bool(space.contains(point)) and not bool(space.cut_locus(self.center, point))
            return known and self.offset(point) <= self.cell_reach

    def log_error(self, offset: float = 0.0) -> float:
        """The rounding of log-coordinates between the ball's points and one at ``offset``."""
        return self.space.log_error(self.center, max(self.cell_reach, offset))

    def edge(self, z: Array) -> Array:
        """The points at the ball's radius in the directions of coordinates ``(n, dim)``."""
        z = z.reshape(len(z), self.space.cells, self.space.cell.dim)
        z = z * (self.radius / np.linalg.norm(z, axis=-1, keepdims=True))
        return self.space.exp_coords(self.center, z.reshape(len(z), self.space.dim))

    @property
    def _widest(self) -> float:
        """The least distance from which a record moves: beyond the radius, so that a moved one
        stays where it landed."""
        return self.radius * (1 + _SLACK)

    def within(self, distance: float) -> float:
        """The distance up to which a pass may keep a point as it is read: ``project`` leaves it
        within ``distance`` then, rounding of logarithms aside."""
        return max(0.0, distance - self.space.cell.projection_error)

    @functools.cached_property
    def chunk_rows(self) -> int:
        """Records per chunk: a public constant of the space."""
        return self._rows_of(_CHUNK_FLOATS)

    @functools.cached_property
    def block_rows(self) -> int:
        """Records per block of a compiled pass: a public constant of the space."""
        return self._rows_of(BLOCK_FLOATS)

    def _rows_of(self, floats: int) -> int:
        least = max(1, 64 // self.space.cells)
        return max(least, floats // int(np.prod(self.space.point_shape)))

    def apply_rule(self, x: Array) -> tuple[Array, BoolArray, Array]:
        """The public rule on ``(n, *point_shape)``; which records changed; the new log-coordinates
        at the centre."""
        space, center = self.space, self.center
        wide = (slice(None),) + (None,) * len(space.point_shape)
        with np.errstate(all="ignore"):  # a warning here would depend on a record
            lost = ~space.contains(x)
            x = space.project(np.where(lost[wide], center, x))
            lost |= space.cut_locus(center, x)
            x = np.where(lost[wide], center, x)
            z = np.array(space.log_coords(center, x))
            t = length(z)  # by itself for each record, and without overflow
            widest = self._widest
            far = ~(t <= widest)
            edge = space.exp_coords(center, z[far] * (self.radius / t[far])[:, None])
            edge = space.project(edge)
            back = space.log_coords(center, edge)
            inside = length(back) <= widest
            inside &= space.contains(edge)
            x[far] = np.where(inside[wide], edge, center)
            z[far] = np.where(inside[:, None], back, 0.0)
        return x, lost | far, z

    def __repr__(self) -> str:
        unit = "" if self.physical_unit is None else f", physical_unit={self.physical_unit!r}"
        return f"Ball({self.space.spec}, radius={self.radius!r}{unit})"
