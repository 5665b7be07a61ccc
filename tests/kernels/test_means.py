"""Certified means of many records: numpy's, on any number of threads, from any kind of array."""

import os
import subprocess
import sys

import numpy as np
import pytest

import geodp as gd
from geodp.errors import InputError
from geodp.kernels import MANY, threads
from geodp.spaces import parse_space
from geodp.statistics import domain
from geodp.testing import random_points

CASES = [("spd:3", 1.5), ("spd:2", 2.0), ("spd:5", 1.0), ("spd:3:log-euclidean", 2.0)]
CASES += [
    ("sphere:2", 1.2),
    ("hyperbolic:4", 2.0),
    ("shapes:5", 0.6),
    ("spd:3:log-cholesky", 1.0),
    ("euclidean:4", 1.0),
    ("sphere:2+spd:2+euclidean:1", 1.0),
]


def messy(space, radius, n=MANY + 37, seed=1):
    """Records of which some lie outside the ball, some are rough, and some are no points."""
    rng = np.random.default_rng(seed)
    x = random_points(space, n, 1.1 * radius, rng)
    x[5], x[500], x[-1] = np.nan, np.inf, -1.0
    x[::7] *= 1 + 1e-10 * rng.normal(size=x[::7].shape)
    return x


@pytest.fixture(params=CASES, ids=lambda case: case[0])
def case(request):
    spec, radius = request.param
    space = parse_space(spec)
    return gd.FrechetMean(gd.Ball(space, space.origin, radius)), messy(space, radius)


def test_the_mean_and_the_replaced_share_are_those_of_numpy(case, monkeypatch):
    mean, x = case
    compiled, clipped = mean.evaluate(x), mean.ball.clip(x)
    assert clipped.kernel is not None
    monkeypatch.setattr(domain, "MANY", 10**9)
    plain, reference = mean.evaluate(x), mean.ball.clip(x)
    assert reference.kernel is None
    assert compiled.error_bound == plain.error_bound
    assert mean.space.dist(compiled.value, plain.value) <= 2 * mean.error_bound
    assert clipped.replaced_share == reference.replaced_share
    np.testing.assert_allclose(clipped.center_log, reference.center_log, atol=1e-12)
    ours, theirs = (np.concatenate(list(c.chunks())) for c in (clipped, reference))
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    for size in (1, 100, MANY // 3):
        at = np.arange(0, len(x), max(1, len(x) // size))
        np.testing.assert_array_equal(clipped.subsample(size), ours[at])
        np.testing.assert_array_equal(reference.subsample(size), theirs[at])


def test_threads_change_no_bit(case, monkeypatch):
    mean, x = case
    monkeypatch.setattr(domain, "BLOCK_FLOATS", 2**12)
    values = []
    for count in ("1", "2", "5"):
        monkeypatch.setenv("GEODP_NUM_THREADS", count)
        values.append(mean.evaluate(x).value)
    np.testing.assert_array_equal(values[0], values[1])
    np.testing.assert_array_equal(values[0], values[2])


def test_the_kind_of_array_changes_no_bit(case, tmp_path):
    mean, x = case
    np.save(tmp_path / "x.npy", x)
    value = mean.evaluate(x).value
    for other in (
        np.load(tmp_path / "x.npy", mmap_mode="r"),
        np.asfortranarray(x),
        np.repeat(x, 2, axis=0)[::2],
        x.astype(">f8"),
    ):
        np.testing.assert_array_equal(mean.evaluate(other).value, value)


def test_records_far_outside_are_moved_to_the_edge(case):
    mean, _ = case
    x = random_points(mean.space, MANY, 4 * mean.ball.radius, np.random.default_rng(2))
    share = mean.ball.clip(x).replaced_share
    assert share > 0.5
    far = mean.space.dist(mean.ball.center, np.concatenate(list(mean.ball.clip(x).chunks())))
    assert far.max() <= mean.ball.reach


def test_neighbours_stay_within_the_sensitivity(case):
    mean, x = case
    y = x.copy()
    y[77] = mean.space.exp_coords(mean.ball.center, np.eye(mean.space.dim)[0] * mean.ball.radius)
    gap = mean.space.dist(mean.evaluate(x).value, mean.evaluate(y).value)
    assert 0 < gap <= mean.sensitivity(len(x)) + 2 * mean.error_bound


def test_tangent_means_take_the_same_passes(case, monkeypatch):
    mean, x = case
    tangent = gd.TangentMean(mean.ball)
    compiled = tangent.evaluate(x).value
    monkeypatch.setattr(domain, "MANY", 10**9)
    assert np.linalg.norm(tangent.evaluate(x).value - compiled) <= 2 * tangent.error_bound


class Lazy:
    """Records that come into being when rows are asked for."""

    def __init__(self, x):
        self._x, self.shape, self.dtype = x, x.shape, x.dtype

    def __len__(self):
        return len(self._x)

    def __getitem__(self, rows):
        return self._x[rows].copy()


def test_records_may_be_read_by_slices(case):
    mean, x = case
    np.testing.assert_array_equal(mean.evaluate(Lazy(x)).value, mean.evaluate(x).value)
    np.testing.assert_array_equal(mean.evaluate(Lazy(x[:99])).value, mean.evaluate(x[:99]).value)


def test_threads_follow_the_environment(monkeypatch):
    monkeypatch.delenv("GEODP_NUM_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert threads.thread_count() >= 1
    monkeypatch.setenv("OMP_NUM_THREADS", "3,1")
    assert threads.thread_count() == 3
    monkeypatch.setenv("GEODP_NUM_THREADS", "2")
    assert threads.thread_count() == 2
    monkeypatch.setenv("GEODP_NUM_THREADS", "two")
    with pytest.raises(InputError, match="integer"):
        threads.thread_count()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_may_fork_between_two_means(tmp_path):
    code = (
        "import os, sys, numpy as np, geodp as gd\n"
        "x = np.tile(np.diag([1.0, 2.0]), (20_000, 1, 1)); x[::2] *= 2\n"
        "mean = gd.FrechetMean(gd.Ball(gd.SPD(2), np.eye(2), 2.0))\n"
        "first = mean.evaluate(x).value\n"
        "child = os.fork()\n"
        "same = (mean.evaluate(x).value == first).all()\n"
        "if child == 0: os._exit(0 if same else 1)\n"
        "sys.exit(os.waitpid(child, 0)[1] or not same)\n"
    )
    env = {**os.environ, "GEODP_NUM_THREADS": "2", "PYTHONWARNINGS": "ignore"}
    subprocess.run([sys.executable, "-c", code], env=env, check=True, timeout=120)


def test_few_records_do_not_load_the_compiler():
    code = (
        "import sys, numpy as np, geodp as gd\n"
        "gd.FrechetMean(gd.Ball(gd.SPD(2), np.eye(2), 2.0)).evaluate([np.eye(2)] * 9)\n"
        "sys.exit('numba' in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
