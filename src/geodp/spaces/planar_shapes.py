"""Kendall's space of planar landmark shapes, CP^{k-2} with curvature between 1 and 4."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from geodp.errors import CutLocusError, SpaceError
from geodp.spaces import complexes as cx
from geodp.spaces import preshapes, radial
from geodp.spaces.base import Array, BoolArray, Space
from geodp.spaces.batch import EPS, array, broadcast, misfits, quiet
from geodp.spaces.batch import length as real_length
from geodp.spaces.checks import positive_integer
from geodp.spaces.complexes import Complex
from geodp.spaces.embeddings import Embedding, Projectors

if TYPE_CHECKING:
    from flint import arb

    from geodp.kernels.kernel import Kernel

_NEAR = 2.0**-6  # below this product of unit preshapes its rounding is worth removing


@dataclass(frozen=True, init=False, eq=False, repr=False)
class PlanarShapes(Space):
    """Shapes of ``landmarks`` >= 3 labelled points in the plane: what is left of a configuration
    when position, size and rotation do not matter. Reflections are other shapes.

    A point is an array ``(..., k, 2)`` of landmarks with centroid 0 and sum of squares 1; every
    rotation of it stands for the same shape. ``from_landmarks`` makes points of raw landmarks:
    records must go through it, since what is not centred and of size 1 is no point, and a release
    replaces it by the ball's centre. What the space gives back is in the canonical gauge: rotated
    onto the ``origin``, the regular k-gon. Landmarks may coincide as long as not all of them do.

    Distances are Riemannian (Kendall 1984): the arc length of the rotated preshapes, at most pi/2.
    They and logarithms keep about 14 digits from coincident shapes up to 1e-12 short of the cut
    locus, where no rotation is the best one. Tangent vectors at p are horizontal: centred and
    Hermitian-orthogonal to p, read as complex numbers. The basis turns with the representative, so
    coordinates do not depend on it.

    >>> import geodp as gd
    >>> S = gd.PlanarShapes(3)
    >>> flat, tall = S.from_landmarks([[[0, 0], [2, 0], [1, 1]], [[0, 0], [2, 0], [1, 3]]])
    >>> round(float(S.dist(flat, tall)), 6)
    0.523599
    """

    _landmarks: int

    def __init__(self, landmarks: int) -> None:
        count = positive_integer(landmarks, "number of landmarks")
        if count < 3:
            raise SpaceError(
                "Planar shapes need at least three landmarks: two of them have one shape only."
            )
        object.__setattr__(self, "_landmarks", count)

    @staticmethod
    def from_landmarks(x: ArrayLike) -> Array:
        """The points of raw landmark configurations, ``(..., k, 2)`` real or ``(..., k)`` complex.

        Each is centred, scaled to sum of squares 1 and rotated onto the origin. Where landmarks
        all coincide or are not finite the result is NaN, which is no point, so that the public
        rule of a ball applies to it. ``SpaceError`` for arrays of another kind.
        """
        return _from_landmarks(x)

    # --- constants ------------------------------------------------------------------------------
    @property
    def spec(self) -> str:
        return f"shapes:{self._landmarks}"

    @property
    def dim(self) -> int:
        return 2 * self._landmarks - 4

    @property
    def point_shape(self) -> tuple[int, ...]:
        return (self._landmarks, 2)

    @property
    def origin(self) -> Array:
        """The regular k-gon, counter-clockwise."""
        return cx.to_points(preshapes.fixed(self._landmarks).origin)

    @property
    def curvature(self) -> tuple[float, float]:
        return (1.0, 4.0) if self._landmarks > 3 else (4.0, 4.0)

    @property
    def ricci_lower(self) -> float:
        return 2.0 * (self._landmarks - 1)

    @property
    def injectivity_radius(self) -> float:
        return math.pi / 2

    @property
    def is_homogeneous(self) -> bool:
        return True

    @property
    def is_two_point_homogeneous(self) -> bool:
        return True

    @property
    def point_hint(self) -> str:
        """What to do about an array that is no point, for error messages."""
        return (
            " Hint: landmarks become points by gd.PlanarShapes.from_landmarks, unless all of them "
            "coincide."
        )

    @property
    def embedding(self) -> Embedding:
        """The map to Hermitian projections, for extrinsic means."""
        return Projectors(self._landmarks)

    # --- membership -----------------------------------------------------------------------------
    def kernel(self) -> Kernel | None:
        from geodp.kernels.shapes import planar_shapes

        return planar_shapes(self._landmarks)

    def contains(self, x: ArrayLike) -> BoolArray:
        if (wrong := misfits(x, self.point_shape)) is not None:
            return wrong
        z = cx.of_points(array(x))
        with quiet():
            drift = cx.modulus(cx.total(z)) / math.sqrt(self._landmarks)
            return np.asarray((np.abs(cx.length(z) - 1.0) <= 1e-6) & (drift <= 1e-6))

    def project(self, x: ArrayLike) -> Array:
        x = array(x)
        z = cx.of_points(x)
        rounding = self._rounding
        with quiet():
            drift = cx.modulus(cx.total(z)) / math.sqrt(self._landmarks)
            off = (drift > rounding) | (np.abs(cx.length(z) - 1.0) > rounding)
            move = (off | ~preshapes.is_canonical(z)) & self.contains(x)
            exact = cx.to_points(preshapes.canonical(cx.unit(cx.centred(z))))
            return np.where(move[..., None, None], exact, x)

    def cut_locus(self, p: ArrayLike, q: ArrayLike) -> BoolArray:
        _, inner = self._polar(p, q)
        with quiet():
            return np.asarray(cx.modulus(inner) <= 1e-10)

    # --- geometry -------------------------------------------------------------------------------
    def _polar(self, p: ArrayLike, q: ArrayLike) -> tuple[Complex, Complex]:
        """q - <p, q> p and <p, q> for the unit preshapes of p and q.

        The first is q - c p for a float c near <p, q>/|p|², free of rounding, made orthogonal to 1
        and p afterwards: nothing is lost where the shapes are near, whatever their rotations.
        """
        p, q = broadcast((array(p), 2), (array(q), 2))
        raw, goal = cx.of_points(p), cx.of_points(q)
        with quiet():
            base, image = cx.centred(raw), cx.centred(goal)
            own, size = cx.length(base), cx.length(image)
            unit, other = cx.unit(base), cx.unit(image)
            ratio = cx.divide(cx.product(base, image), cx.product(base, base))
            side = cx.centred(cx.residue(goal, ratio, raw))
            side = cx.across(unit, cx.across(unit, side))
            side = cx.scale(1.0 / size, side)
            inner = cx.product(unit, other)
            near = cx.modulus(inner) < _NEAR
            if near.any():
                a, b = raw.take(near), goal.take(near)
                drift = cx.multiply(cx.total(a).conj, cx.total(b))
                sharp, sizes = cx.accurate_product(a, b), (own * size)[near]
                inner.re[near] = (sharp.re - drift.re / self._landmarks) / sizes
                inner.im[near] = (sharp.im - drift.im / self._landmarks) / sizes
            return side, inner

    def dist(self, p: ArrayLike, q: ArrayLike) -> Array:
        side, inner = self._polar(p, q)
        with quiet():
            return np.asarray(np.arctan2(cx.length(side), cx.modulus(inner)))

    def log(self, p: ArrayLike, q: ArrayLike) -> Array:
        side, inner = self._polar(p, q)
        with quiet():
            sin, cos = cx.length(side), cx.modulus(inner)
            if (cos <= 4 * EPS).any():
                raise CutLocusError(
                    "The logarithm of shapes at distance pi/2 is not defined, since no rotation "
                    "fits best; PlanarShapes.cut_locus tells which pairs are too near to that."
                )
            stretch = np.where(sin > 0, np.arctan2(sin, cos) / sin, 1.0)
            back = Complex(inner.re / cos, -inner.im / cos).wide  # the best rotation
            return cx.to_points(cx.scale(stretch, cx.multiply(back, side)))

    def exp(self, p: ArrayLike, v: ArrayLike) -> Array:
        p, v = broadcast((array(p), 2), (array(v), 2))
        with quiet():
            unit = cx.unit(cx.centred(cx.of_points(p)))
            step = cx.across(unit, cx.centred(cx.of_points(v)))
            angle = cx.length(step)
            point = cx.add(cx.scale(np.cos(angle), unit), cx.scale(radial.sinc(angle), step))
            return cx.to_points(preshapes.canonical(cx.unit(cx.centred(point))))

    def inner(self, p: ArrayLike, u: ArrayLike, v: ArrayLike) -> Array:
        _, u, v = broadcast((array(p), 2), (array(u), 2), (array(v), 2))
        with quiet():
            return cx.product(cx.of_points(u), cx.of_points(v)).re

    def _frame(self, p: Array) -> tuple[Complex, Complex, Complex]:
        """The gauge's phase, a = o + w for the turned preshape w, and 1 + <w, o>."""
        unit = cx.unit(cx.centred(cx.of_points(p)))
        turn = preshapes.phase(unit)
        base = cx.multiply(turn.conj.wide, unit)
        origin = preshapes.fixed(self._landmarks).origin
        pivot = cx.product(base, origin)
        return turn, cx.add(origin, base), Complex(1.0 + pivot.re, pivot.im)

    def coords(self, p: ArrayLike, v: ArrayLike) -> Array:
        p, v = broadcast((array(p), 2), (array(v), 2))
        with quiet():
            turn, axis, pivot = self._frame(p)
            step = cx.multiply(turn.conj.wide, cx.of_points(v))
            along = cx.divide(cx.product(axis, step), pivot.conj)
            step = cx.subtract(step, cx.multiply(along.wide, axis))
            z = preshapes.fixed_coords(step)
            return z.reshape(*z.shape[:-2], self.dim)

    def vector(self, p: ArrayLike, z: ArrayLike) -> Array:
        p, z = broadcast((array(p), 2), (array(z), 1))
        with quiet():
            turn, axis, pivot = self._frame(p)
            step = preshapes.fixed_vector(z.reshape(*z.shape[:-1], self.dim // 2, 2))
            along = cx.divide(cx.product(axis, step), pivot)
            step = cx.subtract(step, cx.multiply(along.wide, axis))
            return cx.to_points(cx.multiply(turn.wide, step))

    def log_volume_density(self, p: ArrayLike, v: ArrayLike) -> Array:
        t = real_length(self.coords(p, v))
        return np.asarray((self.dim - 2) * radial.log_sinc(t) + radial.log_sinc(2.0 * t))

    def hessian(self, p: ArrayLike, q: ArrayLike) -> Array:
        z = self.log_coords(p, q)
        t = real_length(z)
        pairs = z.reshape(*z.shape[:-1], self.dim // 2, 2)
        turned = np.stack([-pairs[..., 1], pairs[..., 0]], axis=-1).reshape(z.shape)
        with quiet():
            along = np.where(t[..., None] > 0, turned / t[..., None], 0.0)
        slope = (radial.t_cot(2.0 * t) - radial.t_cot(t))[..., None, None]
        plane = along[..., :, None] * along[..., None, :]
        return np.asarray(radial.radial_hessian(z, radial.t_cot(t)) + slope * plane)

    # --- what the proofs need -------------------------------------------------------------------
    def log_error(self, center: ArrayLike, radius: float) -> float:
        """A few k ulps of a vector no longer than pi/2, and those of the best rotation.

        Length and direction before the rotation cost a few times k eps each, relatively, like the
        basis. The rotation is off by at most k eps/cos of the distance, and by no more than 64 k
        eps, since smaller products are taken in twice the precision.
        """
        reach = min(2.0 * float(radius), math.pi / 2)
        turn = min(1.0 / max(math.cos(reach), 1e-9), 1.0 / _NEAR)
        return (10.0 * self._landmarks + 40.0) * (1.0 + turn / 5.0) * EPS * reach

    @property
    def projection_error(self) -> float:
        """Distances of preshapes are at least those of shapes; 2 for an arc over its chord."""
        return 2 * self._rounding

    @property
    def _rounding(self) -> float:
        """Of centring, scaling and turning a preshape, which has the length 1."""
        return (2 * self._landmarks + 8) * EPS

    def exp_arb(self, p: Array, z: Sequence[arb]) -> list[arb]:
        from geodp.spaces.balls_shapes import exp_shape

        turn = preshapes.phase(cx.unit(cx.centred(cx.of_points(array(p)))))
        return exp_shape(p, (float(turn.re), float(turn.im)), z)


def _from_landmarks(x: ArrayLike) -> Array:
    raw = np.asarray(x)
    if raw.dtype.kind == "c" and raw.ndim >= 1:
        raw = np.stack([raw.real, raw.imag], axis=-1)
    if raw.dtype.kind not in "iuf" or raw.ndim < 2 or raw.shape[-1] != 2 or raw.shape[-2] < 3:
        raise SpaceError(
            "Landmarks are real numbers (..., k, 2) or complex ones (..., k), at least three in "
            "each configuration."
        )
    x = array(raw)
    with quiet():
        top = np.abs(x).max(axis=(-2, -1), keepdims=True)
        z = cx.of_points(x / top)  # so that squares neither overflow nor underflow
        first = Complex(z.re[..., :1], z.im[..., :1])
        z = cx.subtract(z, first)  # exact where landmarks are near one another
        alone = (z.re == 0).all(axis=-1) & (z.im == 0).all(axis=-1)
        point = cx.to_points(preshapes.canonical(cx.unit(cx.centred(z))))
        good = np.isfinite(point).all(axis=(-2, -1)) & ~alone
        return np.where(good[..., None, None], point, np.nan)
