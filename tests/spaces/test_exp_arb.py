"""exp in ball arithmetic: agreement, tightness, enclosure, and balls around zero."""

import numpy as np
import pytest
from flint import arb, ctx

from geodp.spaces import parse_space

SPECS = [
    "euclidean:3",
    "sphere:1",
    "sphere:2",
    "sphere:4:0.25",
    "hyperbolic:1",
    "hyperbolic:3",
    "hyperbolic:2:-3.0",
    "spd:1",
    "spd:2",
    "spd:5",
    "spd:1:log-euclidean",
    "spd:3:log-euclidean",
    "spd:4:log-cholesky",
    "sphere:2+spd:2:log-cholesky+hyperbolic:2",
]


def draw(space, seed, size=0.8):
    rng = np.random.default_rng(seed)
    p = space.project(space.exp_coords(space.origin, rng.normal(size=(12, space.dim)) * 0.9))
    return p, size * rng.normal(size=(12, space.dim))


def at(prec, space, p, z):
    with ctx.workprec(prec):
        return space.exp_arb(p, [t if isinstance(t, arb) else arb(float(t)) for t in z])


@pytest.mark.parametrize("spec", SPECS)
def test_agrees_with_the_float_exponential(spec):
    space = parse_space(spec)
    p, z = draw(space, 0)
    for x, step in zip(p, z, strict=True):
        ball = at(128, space, x, step)
        point = space.exp_coords(x, step).ravel()
        assert len(ball) == point.size
        middle = np.array([float(t.mid()) for t in ball])
        assert np.abs(middle - point).max() <= 1e-12 * np.abs(point).max()
        assert max(float(t.rad()) for t in ball) <= 2.0**-80 * np.abs(point).max()


@pytest.mark.parametrize("spec", SPECS)
def test_balls_enclose_what_higher_precision_finds(spec):
    space = parse_space(spec)
    p, z = draw(space, 1)
    for x, step in zip(p[:5], z[:5], strict=True):
        fine = at(500, space, x, step)
        for prec in (53, 64, 200):
            coarse = at(prec, space, x, step)
            assert all(a.contains(b.mid()) for a, b in zip(coarse, fine, strict=True))
        assert max(float(t.rad()) for t in fine) < 1e-140


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("width", ["1e-40", "1e-10", "0.5", "3"])
def test_balls_of_coordinates_around_zero(spec, width):
    space = parse_space(spec)
    p, _ = draw(space, 2)
    step = [arb(0, width)] * space.dim
    ball = at(128, space, p[0], step)
    assert all(t.is_finite() for t in ball)
    rng = np.random.default_rng(3)
    for _ in range(10):
        inside = rng.uniform(-1, 1, size=space.dim) * float(width)
        exact = at(300, space, p[0], inside)
        assert all(a.contains(b.mid()) for a, b in zip(ball, exact, strict=True))
    if float(width) < 1e-9:
        assert max(float(t.rad()) for t in ball) < 1e3 * float(width) * max(1, np.abs(p[0]).max())


def test_symmetric_results_are_mirrored():
    for metric in ("affine-invariant", "log-euclidean", "log-cholesky"):
        space = parse_space(f"spd:3:{metric}")
        p, z = draw(space, 4)
        ball = at(90, space, p[0], z[0])
        for i in range(3):
            for j in range(3):
                assert ball[3 * i + j].mid() == ball[3 * j + i].mid()


@pytest.mark.parametrize("first", [1.0, -1.0, 0.0, -0.0, 1e-300, -1e-300])
def test_the_sphere_uses_the_same_reflection_on_both_sides(first):
    space = parse_space("sphere:2")
    p = np.array([first, 0.6, 0.8]) if abs(first) < 1 else np.array([first, 0.0, 0.0])
    z = np.array([0.3, -0.4])
    middle = np.array([float(t.mid()) for t in at(128, space, p, z)])
    assert np.abs(middle - space.exp_coords(p, z)).max() < 1e-15


def test_long_steps():
    space = parse_space("hyperbolic:2")
    x = space.exp_coords(space.origin, [3.0, 1.0])
    ball = at(200, space, x, [20.0, -9.0])
    point = space.exp_coords(x, [20.0, -9.0])
    assert all(abs(float(t.mid()) / v - 1) < 1e-12 for t, v in zip(ball, point, strict=True))
    # On the hyperboloid to 50 digits: -x0² + x1² + x2² = -1.
    with ctx.workprec(200):
        gap = ball[1] ** 2 + ball[2] ** 2 - ball[0] ** 2 + 1
        assert gap.contains(0)
        assert float(gap.rad()) < 1e-25
