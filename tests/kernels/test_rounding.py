"""What a kernel computes is within ``log_error`` of the exact logarithm, on extreme records too."""

import itertools

import numpy as np
import pytest

from geodp.spaces import parse_space

SPD = [
    *(f"spd:{m}" for m in (1, 2, 3, 4, 5, 6)),
    "spd:9",
    "spd:2:log-euclidean",
    "spd:3:log-euclidean",
    "spd:5:log-euclidean",
    *(f"spd:{m}:log-cholesky" for m in (1, 2, 3, 6)),
]
PRODUCT = "spd:2+sphere:2+spd:2:log-cholesky+euclidean:1"


def unit(space, rng):
    z = rng.normal(size=space.dim)
    return z / np.linalg.norm(z)


def clustered(space, rng, radius):
    """Log-coordinates of matrices whose eigenvalues nearly agree, in pairs or all of them."""
    size = space.point_shape[0]
    q = np.linalg.qr(rng.normal(size=(size, size)))[0]
    for gap in (0.0, 1e-16, 1e-13, 1e-10, 1e-7, 1e-3):
        levels = rng.choice([-1.0, 1.0], size) * radius / np.sqrt(size)
        levels += gap * rng.normal(size=size)
        for frame in (q, np.eye(size), _tilt(size, 1e-9)):
            log = (frame * levels) @ frame.T
            rows, columns = np.tril_indices(size)
            z = log[rows, columns] * np.where(rows == columns, 1, np.sqrt(2))
            yield z * min(1.0, radius / np.linalg.norm(z))


def _tilt(size, angle):
    frame = np.eye(size)
    if size > 1:
        frame[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return frame


def records(space, center, radius, rng):
    for z in (
        clustered(space, rng, radius) if len(space.point_shape) == 2 and "spd" in space.spec else ()
    ):
        yield space.exp_coords(center, z)
    for _ in range(6):  # anywhere, at the edge, and next to the centre
        yield space.exp_coords(center, radius * rng.random() * unit(space, rng))
        yield space.exp_coords(center, radius * unit(space, rng))
        yield space.exp_coords(center, radius * 10 ** rng.uniform(-14, -1) * unit(space, rng))


@pytest.mark.parametrize(
    ("spec", "radius"),
    [
        *itertools.product(SPD, (0.1, 1.0, 3.0, 6.0)),
        *itertools.product(("euclidean:1", "euclidean:7", PRODUCT), (1e-6, 0.7)),
        *itertools.product(("sphere:1", "sphere:2", "sphere:6:0.25"), (1e-6, 0.3, 1.5)),
        *itertools.product(
            ("hyperbolic:1", "hyperbolic:3:-2.0", "hyperbolic:6"), (1e-6, 0.3, 3.0, 6.0)
        ),
        *itertools.product(("shapes:3", "shapes:4", "shapes:9"), (1e-9, 0.1, 0.6, 0.78)),
    ],
)
def test_the_error_stays_below_the_bound(error_of, compiled_log, spec, radius):
    space = parse_space(spec)
    rng = np.random.default_rng(3)
    center = space.exp_coords(space.origin, 1.5 * unit(space, rng))
    bound = space.log_error(center, radius * (1 + 1e-9))
    seen = [space.project(x) for x in records(space, center, radius, rng)]
    seen = [x for x in seen if space.contains(x)][:: 1 if space.dim < 12 else 3]
    z = compiled_log(space, center, seen, 4 * radius)
    assert sum(one is not None for one in z) > len(seen) / 2
    for p in (center, space.exp_coords(center, radius * unit(space, rng))):
        for x, z in zip(seen, compiled_log(space, p, seen, 4 * radius), strict=True):
            if z is None:  # left to numpy, whose error tests/spaces measures
                continue
            assert error_of(space, p, x, z) <= bound


@pytest.mark.parametrize(
    "spec", [*SPD, "sphere:2", "hyperbolic:3", "shapes:9", "euclidean:5", PRODUCT]
)
def test_next_to_nothing_is_left_to_numpy(compiled_log, spec):
    space = parse_space(spec)
    rng = np.random.default_rng(4)
    z = rng.normal(size=(20_000 if space.dim < 10 else 2000, space.dim))
    z *= rng.random((len(z), 1)) / np.linalg.norm(z, axis=1, keepdims=True)
    z *= 0.7 if spec.startswith("shapes") else 1.2 if "cholesky" in spec else 2.5
    x = space.exp_coords(space.origin, z)
    total, left = space.fused_sum(space.kernel().at(space.origin), x, 8.0, 8.0)
    assert left.mean() <= 1e-3
    direct = space.log_coords(space.origin, x[~left])
    np.testing.assert_allclose(total.mean_log, direct.mean(axis=0), atol=1e-12)
    assert total.mean_square == pytest.approx(float((direct**2).sum(axis=1).mean()))


@pytest.mark.parametrize("spec", ["spd:2", "spd:3", "spd:3:log-euclidean", "spd:3:log-cholesky"])
def test_hill_climbing_finds_nothing_beyond_the_bound(error_of, compiled_log, spec):
    space, radius = parse_space(spec), 2.0
    rng = np.random.default_rng(5)
    center = space.exp_coords(space.origin, 0.5 * unit(space, rng))
    bound = space.log_error(center, radius * (1 + 1e-9))

    def error(z, w):
        p, x = (space.project(space.exp_coords(center, one)) for one in (z, w))
        (found,) = compiled_log(space, p, [x], 4 * radius)
        return 0.0 if found is None else float(error_of(space, p, x, found))

    best = [radius * unit(space, rng) for _ in range(2)]
    most = error(*best)
    for step in range(40):
        tried = [z + 0.5 ** (1 + step % 6) * rng.normal(size=space.dim) for z in best]
        tried = [z * min(1.0, radius / np.linalg.norm(z)) for z in tried]
        found = error(*tried)
        if found > most:
            best, most = tried, found
    assert 0 < most <= bound
