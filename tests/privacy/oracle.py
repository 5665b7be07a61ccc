"""The same numbers by mpmath at 50 digits and more, from the textbook formulas."""

from fractions import Fraction

import mpmath as mp


def number(x: Fraction) -> mp.mpf:
    return mp.mpf(x.numerator) / x.denominator


def tail(x: mp.mpf) -> mp.mpf:
    return mp.erfc(x / mp.sqrt(2)) / 2


def gaussian_delta(mu: Fraction, epsilon: Fraction) -> mp.mpf:
    with mp.workdps(450):  # δ down to 1e-300 as a difference of larger terms
        m, e = number(mu), number(epsilon)
        return tail(e / m - m / 2) - mp.exp(e) * tail(e / m + m / 2)


def gaussian_delta_of_square(square: Fraction, epsilon: Fraction) -> mp.mpf:
    with mp.workdps(450):
        m, e = mp.sqrt(number(square)), number(epsilon)
        return tail(e / m - m / 2) - mp.exp(e) * tail(e / m + m / 2)


def response_delta(epsilon0: Fraction, epsilon: Fraction) -> mp.mpf:
    """Σ (p − e^ε q)₊ over the two outcomes."""
    with mp.workdps(350):
        p = 1 / (1 + mp.exp(-number(epsilon0)))
        e = mp.exp(number(epsilon))
        return max(p - e * (1 - p), 0) + max((1 - p) - e * p, 0)


def response_renyi(epsilon0: Fraction, order: Fraction) -> mp.mpf:
    with mp.workdps(60):
        a, e = number(order), number(epsilon0)
        p, q = 1 / (1 + mp.exp(-e)), 1 / (1 + mp.exp(e))
        return mp.log(p**a * q ** (1 - a) + q**a * p ** (1 - a)) / (a - 1)


def response_mu(epsilon0: Fraction) -> mp.mpf:
    with mp.workdps(60):
        wanted = 1 / (1 + mp.exp(number(epsilon0)))
        start = mp.sqrt(2 * number(epsilon0)) if epsilon0 > 4 else number(epsilon0)
        return mp.findroot(lambda m: mp.log(tail(m / 2)) - mp.log(wanted), start)


def renyi_delta(order: mp.mpf, divergence: mp.mpf, epsilon: mp.mpf) -> mp.mpf:
    """sup over losses z of (1 − e^{ε−z})₊ e^{−(α−1)z}, times e^{(α−1)ε̄}: the conversion's proof."""
    a = order
    z = epsilon + mp.log(a / (a - 1))
    return (1 - mp.exp(epsilon - z)) * mp.exp((a - 1) * (divergence - z))


def tight_above(bound: float, truth: mp.mpf, relative: float = 1e-9) -> bool:
    """Never below the truth, and at most ``relative`` above it."""
    with mp.workdps(50):
        return bool(truth <= mp.mpf(bound) <= truth * (1 + mp.mpf(relative)) + mp.mpf(5e-324))
