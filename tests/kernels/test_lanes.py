"""Vectors of lanes: arithmetic is the processor's, the logarithm is right to one unit."""

import math

import mpmath
import numpy as np

from geodp.kernels import loop
from geodp.kernels.functions import log
from geodp.kernels.lanes import WIDTH, absolute, root, signed, store, whole
from geodp.kernels.lanes import load as load_lanes
from geodp.kernels.loop import helper


@helper
def logs(x, out):
    for i in range(0, len(x), WIDTH):
        store(out, i, log(load_lanes(x, i)))


@helper
def mixed(x, out):
    a = load_lanes(x, 0)
    b = load_lanes(x, WIDTH)
    store(out, 0, (a + b) * 2.0 - 1.0 / b)
    store(out, WIDTH, signed(root(absolute(a)), b))
    store(out, 2 * WIDTH, whole(a * 10.0))


def test_the_logarithm_is_right_to_one_unit_in_the_last_place():
    rng = np.random.default_rng(1)
    near_one = 1 + rng.choice([-1, 1], 640) * 10.0 ** rng.uniform(-16, -0.31, 640)
    wide = 10.0 ** rng.uniform(-300, 300, 640)
    edges = np.nextafter(math.sqrt(0.5), [0, 1]).repeat(8)
    x = np.concatenate([near_one, wide, edges, 2.0 ** np.arange(-160, 160)])
    out = np.empty_like(x)
    logs(x, out)
    with mpmath.workdps(40):
        for value, ours in zip(x, out, strict=True):
            exact = mpmath.log(mpmath.mpf(float(value)))
            assert abs(mpmath.mpf(float(ours)) - exact) <= np.spacing(abs(float(exact)))


def test_arithmetic_is_that_of_numpy():
    rng = np.random.default_rng(2)
    x = rng.normal(size=2 * WIDTH)
    out = np.empty(3 * WIDTH)
    mixed(x, out)
    a, b = x[:WIDTH], x[WIDTH:]
    np.testing.assert_array_equal(out[:WIDTH], (a + b) * 2.0 - 1.0 / b)
    np.testing.assert_array_equal(out[WIDTH : 2 * WIDTH], np.copysign(np.sqrt(np.abs(a)), b))
    np.testing.assert_array_equal(out[2 * WIDTH :], np.rint(a * 10.0))


def test_without_a_place_for_its_cache_a_kernel_is_compiled_all_the_same(monkeypatch):
    plain = loop.numba.njit

    def refuses(*args, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return plain(*args, **options)

    monkeypatch.setattr(loop.numba, "njit", refuses)

    def nothing(x, count, base, unit, unit2, limit, acc, left, rows):
        acc[0] = count

    acc, marks, none = np.zeros(1), np.zeros(1, np.uint8), np.empty(0)
    loop.compiled(nothing)(np.zeros(1), 7, np.zeros(1), 1.0, 1.0, 1.0, acc, marks, none)
    assert acc[0] == 7
