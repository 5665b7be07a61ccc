"""Every record of a batch is treated as if it were alone, bit for bit, whatever its neighbours."""

import numpy as np
import pytest

from geodp.spaces import parse_space

SPECS = [
    "euclidean:9",
    "sphere:1",
    "sphere:2",
    "sphere:11",
    "shapes:3",
    "shapes:9",
    "hyperbolic:1",
    "hyperbolic:3:-2.0",
    "hyperbolic:10",
    "spd:1",
    "spd:2",
    "spd:3",
    "spd:5",
    "spd:8",
    "spd:1:log-euclidean",
    "spd:3:log-euclidean",
    "spd:4:log-cholesky",
    "sphere:2+spd:2+hyperbolic:2",
]
N = 41


def inputs(space):
    """Points, tangent coordinates, and goals among which many are malformed."""
    rng = np.random.default_rng(0)
    p = space.exp_coords(space.origin, 0.6 * rng.normal(size=(N, space.dim)))
    q = space.exp_coords(space.origin, 0.6 * rng.normal(size=(N, space.dim)))
    for i, value in enumerate([np.nan, np.inf, -np.inf, 0.0, 1e300, 1e-320]):
        q[i] = value
    q[6], q[7] = -2 * q[6], rng.normal(size=space.point_shape)
    q[8], q[9] = p[8], p[9] * (1 + 1e-9)
    return p, q, rng.normal(size=(N, space.dim))


def calls(space):
    p, q, z = inputs(space)
    v = space.vector(p, z)
    yield "contains", space.contains, (q,)
    yield "project", space.project, (q,)
    yield "cut_locus", space.cut_locus, (p, q)
    yield "dist", space.dist, (p, q)
    yield "log_coords", space.log_coords, (p, q)
    yield "log_coords, malformed base", space.log_coords, (q, p)
    yield "log", space.log, (p, q)
    yield "exp", space.exp, (p, v)
    yield "exp_coords", space.exp_coords, (p, z)
    yield "coords", space.coords, (p, v)
    yield "vector", space.vector, (p, z)
    yield "inner", space.inner, (p, v, v)
    yield "log_volume_density", space.log_volume_density, (p, v)
    yield "hessian", space.hessian, (p, q)


@pytest.mark.parametrize("spec", SPECS)
def test_a_batch_is_its_records(spec):
    order = np.random.default_rng(1).permutation(N)
    for name, call, args in calls(parse_space(spec)):
        full = call(*args)
        views = {
            "single": np.stack([call(*(a[i] for a in args)) for i in range(N)]),
            "batch of one": np.concatenate([call(*(a[i : i + 1] for a in args)) for i in range(N)]),
            "back from a permutation": call(*(a[order] for a in args))[np.argsort(order)],
            "Fortran order": call(*(np.asfortranarray(a) for a in args)),
            "two batch axes": call(*(a[:40].reshape(4, 10, *a.shape[1:]) for a in args)),
        }
        for view, value in views.items():
            flat = value.reshape(-1, *full.shape[1:])
            assert np.array_equal(flat, full[: len(flat)], equal_nan=True), (name, view)
        for cut in (slice(1, None), slice(2, 30), slice(3, 40, 2), slice(None, None, -1)):
            part = call(*(a[cut] for a in args))
            assert np.array_equal(part, full[cut], equal_nan=True), (name, cut)


@pytest.mark.parametrize("spec", SPECS)
def test_one_base_point_is_a_batch_of_copies_and_inputs_stay_untouched(spec):
    space = parse_space(spec)
    p, q, z = inputs(space)
    base = np.broadcast_to(p[11], p.shape)  # read-only, stride 0
    assert not base.flags.writeable
    copies = np.stack([p[11]] * N)
    kept = q.copy()
    q.flags.writeable = False
    for call, other in ((space.log_coords, q), (space.dist, q), (space.exp_coords, z)):
        one = call(p[11], other)
        assert np.array_equal(one, call(base, other), equal_nan=True)
        assert np.array_equal(one, call(copies, other), equal_nan=True)
    assert np.array_equal(q, kept, equal_nan=True)
    many = space.dist(p, p[11])
    assert np.array_equal(many, space.dist(p, copies))


def test_a_matrix_on_which_lapack_gives_up_does_not_stop_the_batch(monkeypatch):
    space = parse_space("spd:3")
    _, q, _ = inputs(space)
    q = q[10:]
    expected = space.log_coords(space.origin, q)
    honest = np.linalg.eigh
    target = {}

    def stubborn(a):
        if not target:
            target["matrix"] = a[7].copy()
        if any(np.array_equal(x, target["matrix"]) for x in a.reshape(-1, 3, 3)):
            raise np.linalg.LinAlgError("Eigenvalues did not converge")
        return honest(a)

    monkeypatch.setattr(np.linalg, "eigh", stubborn)
    found = space.log_coords(space.origin, q)
    assert np.isnan(found[7]).all()
    keep = np.arange(len(q)) != 7
    assert np.array_equal(found[keep], expected[keep])


@pytest.mark.parametrize("spec", ["sphere:2", "spd:3", "hyperbolic:2", "spd:2:log-euclidean"])
def test_batches_broadcast_and_may_be_empty(spec):
    space = parse_space(spec)
    p, q, _ = inputs(space)
    table = space.dist(p[10:14, None], q[None, 20:25])
    assert table.shape == (4, 5)
    assert table[2, 3] == space.dist(p[12], q[23])
    empty = np.empty((0, *space.point_shape))
    assert space.log_coords(space.origin, empty).shape == (0, space.dim)
    assert space.dist(space.origin, empty).shape == (0,)
    assert space.contains(empty).shape == (0,)
    assert space.project(empty).shape == empty.shape


@pytest.mark.parametrize("spec", SPECS)
def test_log_sum_does_not_depend_on_chunks_or_order(spec):
    space = parse_space(spec)
    _, _, z = inputs(space)
    x = space.exp_coords(space.origin, 0.1 * z)
    whole = space.log_sum(space.origin, x, 4.0)
    parts = space.log_sum(space.origin, x[30:], 4.0).merge(space.log_sum(space.origin, x[:30], 4.0))
    assert np.array_equal(whole.coords, parts.coords)
    assert np.array_equal(whole.mean_log, parts.mean_log)
    assert np.allclose(whole.mean_log, 0.1 * z.mean(axis=0), atol=1e-12)
