"""The laws that ``check_space`` runs, one function each; all raise ``AssertionError``."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from geodp.spaces.base import Array, Space
from geodp.testing.spaces import close, random_points


@dataclass(frozen=True)
class Sample:
    """Random points p, q, r within ``reach`` of the origin, coordinates z and w of that length."""

    reach: float
    p: Array
    q: Array
    r: Array
    z: Array
    w: Array

    @classmethod
    def draw(cls, space: Space, n: int, reach: float, rng: np.random.Generator) -> Sample:
        points = [random_points(space, n, reach, rng) for _ in range(3)]
        steps = [rng.normal(size=(n, space.dim)) for _ in range(2)]
        steps = [reach * s / np.linalg.norm(s, axis=1, keepdims=True) for s in steps]
        return cls(reach, points[0], points[1], points[2], steps[0], steps[1])


def constants(space: Space) -> None:
    """Shapes and orders of the constants."""
    low, high = space.curvature
    assert space.dim >= 1, "dim must be at least 1"
    assert space.origin.shape == space.point_shape, "the origin must have the shape of a point"
    assert bool(space.contains(space.origin)), "the origin must be a point"
    assert low <= high, "curvature must be (least, greatest)"
    assert space.dim > 1 or (low, high) == (0, 0), "curvature is (0, 0) in dimension one"
    assert space.ricci_lower >= (space.dim - 1) * low - 1e-12, "Ricci below (d-1) least curvature"
    assert space.ricci_lower <= (space.dim - 1) * high + 1e-12, "Ricci above (d-1) curvature"
    assert space.injectivity_radius > 0, "the injectivity radius must be positive"
    assert space.is_homogeneous or not space.is_two_point_homogeneous, "two points include one"
    close(space.join(space.split(space.origin)), space.origin, 0.0, "join must invert split")


def membership(space: Space, sample: Sample, not_points: Array | None) -> None:
    """``contains`` and ``project`` on points, rounded points, and what is no point."""
    n = len(sample.p)
    assert space.contains(sample.p).shape == (n,), "contains must give one bool per record"
    assert space.contains(sample.p).all(), "points reached by exp must be contained"
    once = space.project(sample.p * (1 + 1e-9))
    assert space.contains(once).all(), "project must give points"
    assert np.array_equal(space.project(once), once), "project must be idempotent, bit for bit"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bad = np.stack([np.full(space.point_shape, x) for x in (np.nan, np.inf, -np.inf)])
        if not_points is not None:
            bad = np.concatenate([bad, not_points])
        assert not space.contains(bad).any(), "what is no point must not be contained"
        same = np.array_equal(space.project(bad), bad, equal_nan=True)
        assert same, "project must let through what is no point"
        mixed = np.concatenate([bad, sample.p])
        assert space.contains(mixed).sum() == n, "malformed records must not change others"


def inverse(space: Space, sample: Sample, rtol: float) -> None:
    """exp and log, and their forms in coordinates."""
    p, q, z = sample.p, sample.q, sample.z
    close(space.exp(p, space.log(p, q)), q, rtol, "exp(p, log(p, q)) must be q")
    v = space.vector(p, z)
    close(space.log(p, space.exp(p, v)), v, rtol, "log(p, exp(p, v)) must be v")
    close(space.exp_coords(p, z), space.exp(p, v), rtol, "exp_coords must be exp of vector")
    close(
        space.log_coords(p, q), space.coords(p, space.log(p, q)), rtol, "log_coords must be coords"
    )
    close(space.exp(p, 0 * v), p, rtol, "exp(p, 0) must be p")


def norm_of_log(space: Space, sample: Sample, rtol: float) -> None:
    """|log_p q| = dist(p, q), and exp moves by the length of its argument."""
    p, q, z = sample.p, sample.q, sample.z
    close(space.norm(p, space.log(p, q)), space.dist(p, q), rtol, "the norm of log must be dist")
    length = np.linalg.norm(z, axis=1)
    close(space.dist(p, space.exp_coords(p, z)), length, rtol, "exp must move by the length")


def metric(space: Space, sample: Sample, rtol: float) -> None:
    """Symmetry, the triangle inequality, and distance 0 to itself, exactly."""
    p, q, r = sample.p, sample.q, sample.r
    assert not space.dist(p, p).any(), "dist(p, p) must be exactly 0"
    close(space.dist(p, q), space.dist(q, p), rtol, "dist must be symmetric")
    excess = space.dist(p, r) - space.dist(p, q) - space.dist(q, r)
    assert (excess <= rtol).all(), "dist must satisfy the triangle inequality"


def isometry(space: Space, sample: Sample, rtol: float) -> None:
    """coords and vector are inverse and turn ``inner`` into the dot product."""
    p, z, w = sample.p, sample.z, sample.w
    u, v = space.vector(p, z), space.vector(p, w)
    close(space.coords(p, u), z, rtol, "coords must invert vector")
    close(space.inner(p, u, v), (z * w).sum(axis=1), rtol, "the basis must be orthonormal")


def hessian(space: Space, sample: Sample, rtol: float) -> None:
    """Second differences of ½ dist² along geodesics through p."""
    p, q, z = sample.p, sample.q, sample.z
    step = 1e-3 * sample.reach
    unit = z / np.linalg.norm(z, axis=1, keepdims=True)
    sides = [space.dist(space.exp_coords(p, k * step * unit), q) ** 2 / 2 for k in range(-2, 3)]
    second = (16 * (sides[1] + sides[3]) - sides[0] - sides[4] - 30 * sides[2]) / (12 * step**2)
    full = space.hessian(p, q)
    form = np.einsum("ni,nij,nj->n", unit, full, unit)
    close(form, second, rtol, "the Hessian must be that of dist²/2")
    close(full, np.swapaxes(full, -1, -2), rtol, "the Hessian must be symmetric")


def volume(space: Space, sample: Sample, rtol: float) -> None:
    """The Jacobian determinant of exp_p by differences, in orthonormal bases at both ends."""
    step = 1e-3 * sample.reach
    for p, z in zip(sample.p[:6], sample.z[:6], strict=True):
        end = space.exp_coords(p, z)
        columns = []
        for axis in np.eye(space.dim):
            near = [
                space.log_coords(end, space.exp_coords(p, z + k * step * axis)) for k in (1, -1)
            ]
            far = [space.log_coords(end, space.exp_coords(p, z + k * step * axis)) for k in (2, -2)]
            columns.append((8 * (near[0] - near[1]) - (far[0] - far[1])) / (12 * step))
        expected = np.linalg.slogdet(np.stack(columns, axis=-1))[1]
        actual = space.log_volume_density(p, space.vector(p, z))
        close(actual, expected, rtol, "the volume density must be the Jacobian of exp")


def curvature(space: Space, sample: Sample) -> None:
    """Distances between the ends of two short geodesics give sectional curvatures in the range.

    d² = |a - b|² - K |a∧b|²/3 + O(ε⁶), averaged over ±, for a, b of length ε at one point.
    """
    if space.dim == 1:
        return
    low, high = space.curvature
    step = 0.05 * sample.reach
    p = sample.p
    a = step * sample.z / sample.reach
    along = np.einsum("ni,ni->n", sample.w, a)[:, None] / step**2
    b = sample.w - along * a
    b *= step / np.linalg.norm(b, axis=1, keepdims=True)
    seen = []
    for first, second in ((a, b), (a, -b)):
        square = space.dist(space.exp_coords(p, first), space.exp_coords(p, second)) ** 2
        seen.append(3 * (2 * step**2 - square) / step**4)
    section = (seen[0] + seen[1]) / 2
    slack = 0.02 * max(abs(low), abs(high)) + 1e-6 / sample.reach**2
    assert (section >= low - slack).all(), "sectional curvature below the stated range"
    assert (section <= high + slack).all(), "sectional curvature above the stated range"


def _same(a: Any, b: Any) -> bool:
    return np.array_equal(a, b, equal_nan=True)


def independence(space: Space, sample: Sample) -> None:
    """A batch with malformed neighbours gives, bit for bit, what single records give."""
    n = len(sample.p)
    dirty = sample.q.copy()
    dirty[0], dirty[1], dirty[2] = np.nan, np.inf, 0.0
    v = space.vector(sample.p, sample.z)
    order = np.random.default_rng(n).permutation(n)
    calls: list[tuple[str, Any, tuple[Array, ...]]] = [
        ("contains", space.contains, (dirty,)),
        ("project", space.project, (dirty,)),
        ("cut_locus", space.cut_locus, (sample.p, dirty)),
        ("dist", space.dist, (sample.p, dirty)),
        ("log_coords", space.log_coords, (sample.p, dirty)),
        ("log", space.log, (sample.p, sample.q)),
        ("exp", space.exp, (sample.p, v)),
        ("exp_coords", space.exp_coords, (sample.p, sample.z)),
        ("coords", space.coords, (sample.p, v)),
        ("vector", space.vector, (sample.p, sample.z)),
        ("inner", space.inner, (sample.p, v, v)),
        ("log_volume_density", space.log_volume_density, (sample.p, v)),
        ("hessian", space.hessian, (sample.p, sample.q)),
    ]
    with np.errstate(all="ignore"):
        for name, call, inputs in calls:
            full = call(*inputs)
            single = np.stack([call(*(x[i] for x in inputs)) for i in range(n)])
            assert _same(full, single), f"{name} of a batch differs from {name} of its records"
            moved = call(*(x[order] for x in inputs))
            assert _same(full[order], moved), f"{name} depends on the order of the records"
            strided = call(*(np.asfortranarray(x)[1::2] for x in inputs))
            assert _same(full[1::2], strided), f"{name} depends on the memory layout"
        frozen = np.broadcast_to(sample.q[3], sample.q.shape)
        base = np.broadcast_to(sample.p[3], sample.p.shape)
        wide = space.log_coords(base, frozen)
        thin = space.log_coords(sample.p[3], frozen)
        assert _same(wide, thin), "one base point must act like a batch of copies"


def ball_arithmetic(space: Space, sample: Sample, rtol: float) -> None:
    """``exp_arb`` encloses the exact point tightly and agrees with ``exp_coords``."""
    from flint import arb, ctx

    for p, z in zip(sample.p[:4], sample.z[:4], strict=True):
        with ctx.workprec(128):
            entries = space.exp_arb(p, [arb(float(t)) for t in z])
            middle = np.array([float(t.mid()) for t in entries])
            width = max(float(t.rad()) for t in entries)
            still = space.exp_arb(p, [arb(0, "1e-30") for _ in z])
        point = space.exp_coords(p, z)
        close(middle, point.ravel(), rtol, "exp_arb must agree with exp_coords")
        scale = max(1.0, float(np.abs(point).max()))
        assert width <= 2.0**-80 * scale, "exp_arb must be tight at 128 bits"
        ends = np.array([float(t.mid()) for t in still])
        close(ends, p.ravel(), rtol, "exp_arb at a ball around 0 must be p")
        assert all(t.is_finite() for t in still), "exp_arb must be finite around 0"


def rounding(space: Space, sample: Sample) -> None:
    """``log_error`` is positive, grows with the radius, and covers what a round trip shows."""
    p, z = sample.p, sample.z
    radius = 2 * sample.reach
    bound = space.log_error(space.origin, radius)
    assert 0 < bound < np.inf, "log_error must be positive and finite"
    assert bound <= space.log_error(space.origin, 1.1 * radius), "log_error must not fall"
    inside = space.dist(space.origin, space.exp_coords(p, z)) <= radius
    # exp's own rounding is of the same order; a bound too small by far would show.
    gap = np.abs(space.log_coords(p, space.exp_coords(p, z)) - z).max(axis=1)[inside]
    assert (gap <= 30 * bound).all(), "log_error is below the rounding that a round trip shows"
