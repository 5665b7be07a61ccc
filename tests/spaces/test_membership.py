"""contains, project and Validated: what is a point, and nothing ever raises or warns."""

import numpy as np
import pytest

import geodp as gd
from geodp.spaces import SPD, Hyperbolic, Sphere, parse_space
from geodp.spaces.validated import Validated

METRICS = ["affine-invariant", "log-euclidean", "log-cholesky"]
NOT_SPD = {
    "indefinite": [[1.0, 2.0], [2.0, 1.0]],
    "negative": [[-1.0, 0.0], [0.0, -1.0]],
    "singular": [[1.0, 1.0], [1.0, 1.0]],
    "singular, three by rounding": [[0.1, 0.3], [0.3, 0.9]],
    "zero": [[0.0, 0.0], [0.0, 0.0]],
    "skew": [[1.0, 0.5], [-0.5, 1.0]],
    "not symmetric": [[1.0, 0.5], [0.5001, 1.0]],
    "nan": [[np.nan, 0.0], [0.0, 1.0]],
    "nan below": [[1.0, 0.0], [np.nan, 1.0]],
    "inf": [[np.inf, 0.0], [0.0, 1.0]],
    "huge indefinite": [[1e300, 1e308], [1e308, 1e300]],
    "tiny indefinite": [[1e-300, 2e-300], [2e-300, 1e-300]],
    "subnormal": [[1e-312, 0.0], [0.0, 1e-312]],
    "next to overflow": [[1e308, 0.0], [0.0, 1.0]],
    "zero diagonal": [[0.0, 1e-20], [1e-20, 1.0]],
}


@pytest.mark.parametrize("metric", METRICS)
def test_what_is_no_positive_definite_matrix(metric):
    space = SPD(2, metric)
    batch = np.array(list(NOT_SPD.values()))
    assert dict(zip(NOT_SPD, space.contains(batch), strict=True)) == dict.fromkeys(NOT_SPD, False)
    assert np.array_equal(space.project(batch), batch, equal_nan=True)
    # Never a finite answer by clipping eigenvalues.
    indefinite = batch[[0, 1]]
    assert not np.isfinite(space.dist(np.eye(2), indefinite)).any()
    assert not np.isfinite(space.log_coords(np.eye(2), indefinite)).any(axis=-1).all()
    assert not np.isfinite(space.log_coords(indefinite, np.eye(2))).any(axis=-1).all()


@pytest.mark.parametrize("metric", METRICS)
def test_what_is_a_positive_definite_matrix(metric):
    space = SPD(2, metric)
    good = [
        np.eye(2),
        1e-150 * np.eye(2),
        1e150 * np.eye(2),
        np.diag([1e-8, 1e8]),
        np.array([[1.0, 0.5], [0.5 + 1e-8, 1.0]]),
        np.array([[1.0, 1 - 1e-12], [1 - 1e-12, 1.0]]),
        np.array([[1e-12, 0.5e-6], [0.5e-6, 1.0]]),
    ]
    batch = np.array(good)
    assert space.contains(batch).all()
    once = space.project(batch)
    assert np.array_equal(once, np.swapaxes(once, 1, 2))
    assert np.array_equal(space.project(once), once)


def test_rank_deficient_covariances_are_no_points():
    rng = np.random.default_rng(0)
    short = np.cov(rng.normal(size=(4, 3)))  # four channels, three samples
    x = rng.normal(size=(8, 500))
    referenced = np.cov(x - x.mean(axis=0))  # average reference: one eigenvalue is zero
    for scale in (1.0, 1e-12):
        assert not SPD(4).contains(scale * short)
        assert not SPD(8).contains(scale * referenced)
    assert SPD(8).contains(referenced + 1e-6 * np.trace(referenced) / 8 * np.eye(8))


def test_what_is_no_point_of_a_sphere_or_hyperboloid():
    batch = np.array([[0, 0, 0], [2.0, 0, 0], [1 + 1e-5, 0, 0], [1e300, 1e300, 0], [1e-320, 0, 0]])
    assert not Sphere(2).contains(batch).any()
    assert Sphere(2).contains([[1 + 1e-7, 0, 0], [0, 0, -1.0]]).all()
    x = np.array([np.cosh(1.0), np.sinh(1.0), 0.0])
    bad = np.stack([-x, x * [-1, 1, 1], x * [1 + 1e-5, 1, 1], 0 * x, x * [0, 1, 1], x + np.inf])
    assert not Hyperbolic(2).contains(bad).any()
    assert Hyperbolic(2).contains(x * [1 + 1e-7, 1, 1])
    assert Hyperbolic(2).project(x * [1 + 1e-7, 1, 1])[0] == pytest.approx(np.cosh(1.0), rel=1e-15)
    assert not Sphere(2, 0.25).contains([1.0, 0, 0])
    assert Sphere(2, 0.25).contains([2.0, 0, 0])


@pytest.mark.parametrize(
    "spec",
    ["sphere:2", "sphere:40", "hyperbolic:3:-2.0", "spd:3", "spd:2:log-cholesky", "sphere:3+spd:2"],
)
def test_project_is_idempotent_bit_for_bit(spec):
    space = parse_space(spec)
    rng = np.random.default_rng(1)
    x = space.exp_coords(space.origin, rng.normal(size=(300, space.dim)))
    x = x * (1 + 1e-8 * rng.normal(size=x.shape))
    once = space.project(x)
    assert space.contains(once).all()
    assert np.array_equal(space.project(once), once)


@pytest.mark.parametrize(
    "spec", ["sphere:2", "hyperbolic:3", "spd:3", "spd:2:log-euclidean", "sphere:3+spd:2"]
)
def test_single_precision_records_are_upcast_once(spec):
    space = parse_space(spec)
    z = np.random.default_rng(2).normal(size=(20, space.dim))
    x = space.exp_coords(space.origin, z).astype(np.float32)
    wide = x.astype(np.float64)
    assert space.contains(x).all()
    assert space.project(x).dtype == np.float64
    assert np.array_equal(space.project(x), space.project(wide))
    assert np.array_equal(space.log_coords(space.origin, x), space.log_coords(space.origin, wide))
    assert space.dist(space.origin, x).dtype == np.float64


def test_the_circle_works():
    space = Sphere(1)
    angles = np.linspace(-3, 3, 25)
    x = space.exp_coords(space.origin, angles[:, None])
    assert np.allclose(x, np.stack([np.cos(angles), np.sin(angles)], axis=1), atol=1e-15)
    assert np.allclose(space.dist(space.origin, x), np.abs(angles), atol=1e-15)
    assert not space.log_volume_density(space.origin, space.log(space.origin, x)).any()


# --- Validated ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda s: s.dist([1, 0], [0, 1, 0]), "shape"),
        (lambda s: s.dist([1, 0, 0], [0.7, 7.25, 0]), "no point"),
        (lambda s: s.dist([1, 0, 0], [np.nan, 1, 0]), "finite"),
        (lambda s: s.dist([[1, 0, 0], [1]], [0, 1, 0]), "ragged"),
        (lambda s: s.dist(["a", "b", "c"], [0, 1, 0]), "real numbers"),
        (lambda s: s.dist([1j, 0, 0], [0, 1, 0]), "real numbers"),
        (lambda s: s.exp([1, 0, 0], [0.5, 0, 0]), "tangent"),
        (lambda s: s.exp([1, 0, 0], [0, np.inf, 0]), "finite"),
        (lambda s: s.vector([1, 0, 0], [0, 1, 0]), "shape"),
        (lambda s: s.exp_coords([1, 0, 0], [0, np.nan]), "finite"),
        (lambda s: s.dist(np.tile([1, 0, 0], (2, 1)), np.tile([1, 0, 0], (3, 1))), "batch"),
        (lambda s: s.log_error([1, 0, 0], -1.0), "radius"),
    ],
)
def test_validated_refuses_with_a_sentence_that_shows_no_value(call, match):
    with pytest.raises(gd.SpaceError, match=match) as caught:
        call(Validated(Sphere(2)))
    message = str(caught.value)
    assert message.endswith(".")
    assert "7.25" not in message
    assert "nan" not in message


def test_validated_accepts_what_is_right():
    space = Validated(SPD(2))
    v = np.array([[1.0, 2.0], [2.0, -1.0]])
    assert np.array_equal(space.exp(np.eye(2), v), SPD(2).exp(np.eye(2), v))
    assert space.norm(np.eye(2), v) == pytest.approx(np.sqrt(10))
    with pytest.raises(gd.SpaceError, match="tangent"):
        space.exp(np.eye(2), [[1.0, 2.0], [0.0, 1.0]])
    with pytest.raises(gd.SpaceError):
        Validated("sphere:2")


@pytest.mark.parametrize(("size", "samples"), [(4, 3), (8, 7), (16, 15)])
def test_rank_deficient_covariances_are_no_points_whatever_their_scaling(
    size: int, samples: int
) -> None:
    """From too few samples, or average-referenced: rounding must not save them."""
    rng = np.random.default_rng(21)
    scale = np.exp(2 * rng.standard_normal((2000, size, 1)))
    few = rng.standard_normal((2000, size, samples)) * scale
    referenced = rng.standard_normal((2000, size, 4 * size))
    referenced -= referenced.mean(axis=1, keepdims=True)
    full = rng.standard_normal((2000, size, 4 * size)) * scale**5
    for data, points in ((few, False), (referenced, False), (full, True)):
        x = data @ data.swapaxes(1, 2)
        x = (x + x.swapaxes(1, 2)) / 2
        for metric in ("affine-invariant", "log-euclidean", "log-cholesky"):
            assert (SPD(size, metric).contains(x) == points).all()


@pytest.mark.parametrize(
    "spec",
    [
        *("euclidean:1", "euclidean:3", "sphere:1", "sphere:2", "sphere:3:0.5", "hyperbolic:2"),
        *(f"spd:{size}:{metric}" for size in (1, 2, 3) for metric in METRICS),
        *("shapes:3", "shapes:5", "sphere:2+euclidean:1", "spd:2+hyperbolic:2"),
    ],
)
def test_another_trailing_shape_holds_no_point(spec):
    space = parse_space(spec)
    shape = space.point_shape
    assert space.contains(space.origin).shape == ()
    assert space.contains(np.broadcast_to(space.origin, (4, *shape))).all()
    rank = len(shape)
    others = [(*shape[:-1], shape[-1] + 1), (*shape[:-1], 0), shape[1:], (7,), (5, 6), ()]
    for tail in (tail for tail in others if tail[-rank:] != shape):
        for batch in ((), (4,), (2, 4)):
            whole = (*batch, *tail)
            if whole[-rank:] == shape:
                continue
            found = space.contains(np.ones(whole) / np.sqrt(max(1, np.prod(tail))))
            assert found.dtype == bool
            assert found.shape == whole[: max(len(whole) - rank, 0)]
            assert not found.any()
