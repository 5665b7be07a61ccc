"""A mechanism of one's own: whole steps of a public grid, with exactly drawn geometric noise."""

import math
from fractions import Fraction

import numpy as np

import geodp as gd
from geodp.mechanisms.base import Calibration, Mechanism, Stage
from geodp.privacy.pure import PureProfile
from geodp.random import bit_stream
from geodp.testing import check_mechanism

UNIT = 2**32


class GridLaplace(Mechanism):
    """On the line: round to steps of one sensitivity, add K with P[K = k] ∝ q^|k|.

    Neighbours are at most one step apart after rounding, so the loss is at most −log q =: t. The
    chance q is a 32-bit fraction, rounded up: then t ≤ ε, and draws of K are exact.
    """

    name = "grid-laplace"

    def why_not(self, space, guarantee, ball):
        if space.spec != "euclidean:1":
            return "GridLaplace works on the line."
        return None if guarantee.notion == "pure" else "GridLaplace promises pure epsilon only."

    def calibrate(self, space, sensitivity, guarantee, ball):
        if reason := self.why_not(space, guarantee, ball):
            raise gd.GuaranteeError(reason)
        return GridCalibration(space, guarantee, float(sensitivity))

    def stages(self, guarantee):
        return (Stage(self, guarantee),)

    def at(self, point):
        return self

    def offset(self, ball):
        return 0.0


class GridCalibration(Calibration):
    def __init__(self, space, guarantee, step):
        self.space, self.guarantee, self.step = space, guarantee, step
        self.chance = math.ceil(UNIT * math.exp(-guarantee.epsilon)) + 1  # q in units of 2⁻³²
        self.profile = PureProfile(guarantee.epsilon)
        self.scale = step / float(guarantee.epsilon)

    def draw(self, value, stream):
        def geometric():
            count = 0
            while stream.bits(32) < self.chance:
                count += 1
            return count

        steps = Fraction(float(value[0])) / Fraction(self.step)
        index = math.floor(steps + Fraction(1, 2))  # round() takes halves to even: two steps apart
        return np.array([(index + geometric() - geometric()) * self.step])

    def sample(self, value, size=None, rng=None):
        stream = bit_stream(rng)
        draws = np.array([self.draw(value, stream) for _ in range(size or 1)])
        return draws[0] if size is None else draws

    def mean_squared_error(self):
        q = self.chance / UNIT
        return self.step**2 * 2 * q / (1 - q) ** 2

    def expected_distance(self, at=None):
        q = self.chance / UNIT
        return self.step * 2 * q / (1 - q * q)

    def distances(self, values, rng):
        return np.abs(self.sample(np.zeros(1), len(values), rng))[:, 0]

    def distance_bound(self, distance):
        return (self.expected_distance() + self.step / 2) * (1 + 1e-12)

    def facts(self):
        return {"name": "grid-laplace", "scale": self.scale, "guarantee": self.guarantee.to_json()}


def main():
    check_mechanism(GridLaplace(), gd.Euclidean(1))  # rejects a scale that is 30 % off, and more
    cal = gd.calibrate(GridLaplace(), gd.Euclidean(1), 0.5, gd.PureDP(1))
    once = cal.sample(np.array([3.2]))  # exact: the release path
    twelve = gd.compose([cal.profile] * 12)  # charged, composed and planned like any other
    return once, twelve.epsilon(1e-6)


if __name__ == "__main__":
    print(main())
