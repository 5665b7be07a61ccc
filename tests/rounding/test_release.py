"""Rounded release: right, replayable, and the same bits whatever the value."""

import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from mpmath import mp, mpf
from rounding_helpers import Flat, Round, Tape, mp_draw

from geodp.errors import GeodpError
from geodp.noise import Gaussian, L2Laplace, SphericalGamma
from geodp.random import GeneratorBits, SecureBits
from geodp.rounding import round_point, round_release
from geodp.rounding.precision import working_precision
from geodp.rounding.reals import Reals

NOISES = [Gaussian(), L2Laplace(), SphericalGamma(-0.5, 3.0), SphericalGamma(2.5, 0.75)]
POLE = np.array([0.36, -0.48, 0.8])


def bits(seed):
    return GeneratorBits(np.random.default_rng(seed))


def nearest(x):
    """An mpf as the nearest float64, through Python's exact fractions."""
    sign, man, exp, _ = x._mpf_
    return float(Fraction((-1) ** sign * int(man)) * Fraction(2) ** exp)


@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize("dim", [1, 2, 3, 6])
def test_same_bits_in_mpmath(noise, dim):
    law = noise.law(dim)
    z = np.linspace(-0.4, 1.1, dim)
    for seed in range(25):
        tape = Tape(seed)
        got = round_release(Flat(dim), np.full(dim, 3.0), z, law, 0.37, tape)
        again = Tape(seed)
        law.exact(again).balls(512)  # the same draw, grown to 768 bits
        assert again.log[: len(tape.log)] == tape.log
        with mp.workprec(400):
            x = mp_draw(again.log, dim, law.shape, law.power, law.rate)
            want = [nearest(3 + mpf(a) + mpf(0.37) * b) for a, b in zip(z, x, strict=True)]
        assert got.tolist() == want


def test_same_bits_on_the_sphere_in_mpmath():
    law, z = Gaussian().law(2), np.array([0.2, -0.3])
    for seed in range(50):
        got = round_release(Round(), POLE, z, law, 0.5, bits(seed))
        tape = Tape(seed)
        law.exact(tape).balls(512)
        with mp.workprec(400):
            x = mp_draw(tape.log, 2, law.shape, law.power, law.rate)
            y = Round.exp_mp(POLE, [mpf(a) + mpf(0.5) * b for a, b in zip(z, x, strict=True)])
            assert got.tolist() == [nearest(c) for c in y]


@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize("start", [4, 16, 48, 300, 2000])
def test_result_does_not_depend_on_the_first_precision(noise, start):
    law, z = noise.law(2), np.array([0.1, 0.2])
    for seed in range(20):
        a = round_release(Round(), POLE, z, law, 0.3, bits(seed))
        b = round_release(Round(), POLE, z, law, 0.3, bits(seed), start=start)
        assert a.tolist() == b.tolist()


@pytest.mark.parametrize("exponent", [-60, -200, -700, -1000])
def test_a_tie_broken_by_tiny_noise(exponent):
    # 1 + 2**-53 is half-way between two floats, so the noise's sign alone decides
    law, seen = Gaussian().law(1), set()
    for seed in range(12):
        x = float(law.exact(bits(seed)).balls(128)[0])
        got = round_release(Flat(1), [1.0], [2.0**-53], law, 2.0**exponent, bits(seed))
        assert got[0] == (1.0 if x < 0 else 1 + 2.0**-52)
        seen.add(got[0])
    assert len(seen) == 2


def test_saturates_and_reaches_subnormals():
    law = L2Laplace().law(1)
    big = {round_release(Flat(1), [0.0], [0.0], law, 1e308, bits(s))[0] for s in range(200)}
    assert np.finfo(float).max in big
    assert -np.finfo(float).max in big
    assert np.all(np.isfinite(list(big)))
    small = [round_release(Flat(1), [0.0], [0.0], law, 2e-323, bits(s))[0] for s in range(50)]
    assert {abs(y) for y in small} > {0.0, 5e-324, 1e-323}


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_bits_drawn_do_not_depend_on_the_value(noise):
    for dim in (1, 2, 5):
        law = noise.law(dim)
        for seed in range(40):
            logs = []
            for value in (np.zeros(dim), np.full(dim, 1e-9), np.linspace(-3, 1e3, dim)):
                tape = Tape(seed)
                round_release(Flat(dim), np.ones(dim), value, law, 0.01, tape)
                logs.append(tape.log)
            assert logs[0] == logs[1] == logs[2]
            assert {count for count, _ in logs[0]} == {1, 192}  # and nothing was refined


def test_fresh_bits_every_time():
    law, stream = Gaussian().law(2), SecureBits()
    a, b = (round_release(Round(), POLE, [0.0, 0.0], law, 1.0, stream) for _ in range(2))
    assert not np.any(a == b)


def test_exact_entries_need_no_refinement():
    class Half(Flat):
        def exp_arb(self, p, z):
            return [arb(1) / 2, *z]

    half = Half(1)
    half.point_shape = (1, 2)
    tape = Tape(1)
    got = round_release(half, [[0.5, 0.0]], [0.0], Gaussian().law(1), 1.0, tape)
    assert got.shape == (1, 2)
    assert got[0, 0] == 0.5
    assert max(count for count, _ in tape.log) == 192


def test_balls_that_do_not_shrink_are_an_error():
    with pytest.raises(GeodpError, match="exp_arb"):
        round_point(Flat(1), np.zeros(1), lambda precision: [arb(1, 1)])


def test_global_precision_is_restored():
    before = ctx.prec
    round_release(Round(), POLE, [0.0, 0.0], Gaussian().law(2), 1.0, bits(1))
    assert ctx.prec == before
    with pytest.raises(ZeroDivisionError):
        fail_inside()
    assert ctx.prec == before


def fail_inside():
    with working_precision(300):
        assert ctx.prec == 300
        raise ZeroDivisionError


def test_threads_do_not_disturb_each_other():
    law, before, interval = Gaussian().law(2), ctx.prec, sys.getswitchinterval()

    def job(seed):
        start = (20, 128, 700)[seed % 3]
        return round_release(Round(), POLE, [0.1, 0.2], law, 0.3, bits(seed), start).tolist()

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(job, range(300)))
    finally:
        sys.setswitchinterval(interval)
    assert ctx.prec == before
    assert together == [job(seed) for seed in range(300)]


@pytest.mark.parametrize("which", range(6))
@pytest.mark.parametrize("digit", [0, 1])
def test_extreme_bits_are_refined(which, digit):
    """A uniform whose first 192 bits are all equal: 0 or 1 is in its ball until it grows."""

    class Extreme(Tape):
        def bits(self, count):
            answer = super().bits(count)
            if len(self.log) - 2 != which:
                return answer
            self.log[-1] = (count, digit * (2**count - 1))
            return self.log[-1][1]

    for noise in (Gaussian(), SphericalGamma(-0.5, 3.0)):
        law, args = noise.law(2), (Flat(2), np.zeros(2), np.full(2, 0.25))
        got = round_release(*args, law, 1.0, Extreme(4))
        assert np.all(np.isfinite(got))
        assert got.tolist() == round_release(*args, law, 1.0, Extreme(4), start=1000).tolist()


def test_uniform_reals_only_ever_gain_bits():
    tape = Tape(3)
    reals = Reals(tape)
    u, v = reals.uniform(), reals.uniform()
    first = u.digits(192)
    assert u.digits(50) == first >> 142
    assert u.digits(1000) >> (1000 - 192) == first
    with ctx.workprec(900):
        exact = Fraction(2 * u.digits(1500) + 1, 2**1501)
        for precision in (1, 20, 128, 300, 700):
            lower, upper = u.ball(precision).lower(), u.ball(precision).upper()
            low, high = (
                Fraction(int(m)) * Fraction(2) ** int(e)
                for m, e in (lower.man_exp(), upper.man_exp())
            )
            assert low < exact < high
            assert high - low < Fraction(1, 2 ** (precision + 60))
    # growing in one step or in many gives the same reals
    other = Reals(Tape(3))
    w, x = other.uniform(), other.uniform()
    for n in (200, 400, 800, 1500):
        x.digits(n)
    assert (w.digits(1500), x.digits(1500)) == (u.digits(1500), v.digits(1500))
