"""Toy spaces, a recording stream, and a second implementation of the draw in mpmath."""

import numpy as np
from flint import arb
from mpmath import mp, mpf

from geodp.random import GeneratorBits


class Flat:
    """R^dim, as far as rounding is concerned."""

    def __init__(self, dim):
        self.dim, self.point_shape = dim, (dim,)

    def exp_arb(self, p, z):
        return [arb(float(a)) + b for a, b in zip(p, z, strict=True)]


class Round:
    """The unit sphere S^2; the footpoint's direction is what counts, its float norm is not."""

    dim, point_shape = 2, (3,)

    def exp_arb(self, p, z):
        x, y, w = (arb(float(a)) for a in p)
        norm = (x * x + y * y + w * w).sqrt()
        x, y, w = x / norm, y / norm, w / norm
        v = [z[0] * (1 - x * x / (1 + w)) - z[1] * x * y / (1 + w)]  # rotate the pole's frame to p
        v += [z[1] * (1 - y * y / (1 + w)) - z[0] * x * y / (1 + w), -x * z[0] - y * z[1]]
        t = (z[0] * z[0] + z[1] * z[1]).sqrt()
        sine, cosine = t.sin_cos()
        return [cosine * a + sine / t * b for a, b in zip((x, y, w), v, strict=True)]

    @staticmethod
    def exp_mp(p, z):
        """The same point by mpmath (another formula: Rodrigues' rotation of the pole)."""
        p = [mpf(float(a)) for a in p]
        norm = mp.sqrt(sum(a * a for a in p))
        p = [a / norm for a in p]
        t = mp.sqrt(z[0] ** 2 + z[1] ** 2)
        u = [z[0] / t * mp.sin(t), z[1] / t * mp.sin(t), mp.cos(t)]
        side = mp.sqrt(p[0] ** 2 + p[1] ** 2)
        axis = [-p[1] / side, p[0] / side, mpf(0)]
        cross = [axis[1] * u[2], -axis[0] * u[2], axis[0] * u[1] - axis[1] * u[0]]
        dot = axis[0] * u[0] + axis[1] * u[1]
        return [u[i] * p[2] + cross[i] * side + axis[i] * dot * (1 - p[2]) for i in range(3)]


class Tape:
    """Seeded bits that remember what was asked and answered."""

    private = False

    def __init__(self, seed):
        self._bits = GeneratorBits(np.random.default_rng(seed))
        self.log = []

    def bits(self, count):
        answer = self._bits.bits(count)
        self.log.append((count, answer))
        return answer


def mp_draw(log, dim, shape, power, rate):
    """X from the recorded bits, by the documented order: a sign, then uniforms of 192 bits.

    The uniforms are grown together by 192, 384, ... bits, in order of birth. Call inside
    ``mp.workprec``.
    """
    number, rounds = _growth_rounds(log[1:])
    reals = []
    for i in range(number):
        digits, known = 0, 0
        for j in range(rounds):
            count, answer = log[1 + j * number + i]
            digits, known = digits << count | answer, known + count
        reals.append((2 * mpf(digits) + 1) / mpf(2) ** (known + 1))
    uniform = iter(reals)

    def normals():
        r, a = next(uniform), next(uniform)
        return mp.sqrt(-2 * mp.log(r)) * mp.expjpi(2 * a)

    direction = []
    if dim > 1:
        for _ in range((dim + 1) // 2):
            n = normals()
            direction += [n.real, n.imag]
        direction = direction[:dim]
        length = mp.sqrt(sum(n * n for n in direction))
    else:
        direction, length = [mpf(1 - 2 * log[0][1])], 1
    order = (mpf(shape) + 1) / mpf(power)
    boost = next(uniform) ** (1 / order) if order < 1 else mpf(1)
    d = order - mpf(1) / 3 + (order < 1)
    while True:
        x, u = normals().real, next(uniform)
        v = (1 + x / mp.sqrt(9 * d)) ** 3
        if v > 0 and mp.log(u) < x * x / 2 + d - d * v + d * mp.log(v):
            break
    radius = (d * v * boost / mpf(rate)) ** (1 / mpf(power))
    return [radius * n / length for n in direction]


def _growth_rounds(log):
    """How many uniforms there are, and of how many rounds of bits each."""
    sizes = [count for count, _ in log]
    assert max(sizes) > 192, "grow the reals beyond 384 bits first"
    number = sizes.count(max(sizes))
    return number, len(sizes) // number
