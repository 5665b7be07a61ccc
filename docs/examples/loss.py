"""A loss of one's own for the K-norm gradient: Huber's location on a Hadamard space."""

import numpy as np

import geodp as gd
from geodp.statistics import LossGradient


class HuberGradient(LossGradient):
    """Terms −log_x x_i, shortened to length ``k``; F = (1/n) Σ h(ρ), h quadratic up to k.

    Logarithms contract on Hadamard spaces and so does shortening: two terms are at most 2·min(k, r)
    apart. Kept in the ball, where the law exists whatever k is.
    """

    everywhere = False
    assumes = "records that all lie at one point"

    def __init__(self, ball, k):
        if not ball.space.is_hadamard:
            raise ValueError("the bound is proven on Hadamard spaces only")
        self.ball, self.k = ball, k

    @property
    def diameter(self):
        return 2 * min(self.k, self.ball.reach)

    @property
    def resolution(self):  # how far a term's whole range reaches: for speed alone
        return 2 * self.k

    def largest(self, reach):
        return self.k * (1 + 1e-9)

    def term_error(self, reach):  # shortening magnifies no error
        return self.ball.space.log_error(self.ball.center, reach) + 1e-15 * self.k

    def terms(self, x, chunk):  # each record by itself
        z = -self.ball.space.log_coords(x, chunk)
        size = np.linalg.norm(z, axis=1, keepdims=True)
        return z * np.minimum(1.0, self.k / np.maximum(size, 1e-300))

    def floor(self, records, value, error, distances):
        """Along a ray F is convex, and a record within k of where the ray is adds slope 1: slope
        ≥ −|∇F(value)| + (1/n) Σ min(t, k − ρ_i)₊. Zero everywhere would be right too, and slow."""
        start = self.norm(records, 2 * self.ball.reach)(value) + 2 * self.norm_error(3 * self.k)
        slope = np.zeros_like(distances)
        for chunk in records.chunks():
            rho = self.ball.space.dist(value, chunk)
            room = np.maximum(self.k * (1 - 1e-9) - rho, 0.0)
            slope += np.minimum(distances[:, None], room).sum(axis=1)
        return slope / len(records) - start

    def model(self, distances):
        return np.minimum(distances, self.k)


class HuberLocation:
    """``argmin_x (1/n) Σ h(dist(x, x_i))``, released by the K-norm gradient mechanism."""

    name = "Huber location"

    def __init__(self, ball, k):
        self.ball, self.space = ball, ball.space
        self.gradient = HuberGradient(ball, k)
        self.error_bound = 2 * ball.reach  # not certified: value and minimiser lie in the ball

    def sensitivity(self, n):  # of the location itself: none is proven, so others cannot serve
        raise gd.ConditionError("Release the Huber location by gd.KNormGradient().")

    def evaluate(self, records):
        clipped, x = self.ball.clip(records), self.ball.center
        for _ in range(50):
            terms = [self.gradient.terms(x, chunk).sum(axis=0) for chunk in clipped.chunks()]
            x = self.ball.project(self.space.exp_coords(x, -sum(terms) / len(clipped)))
        return gd.Certified(x, self.error_bound)


def main():
    space = gd.SPD(2)
    statistic = HuberLocation(gd.Ball(space, np.eye(2), 2.0), k=0.5)
    rng = np.random.default_rng(1)
    records = space.exp_coords(np.eye(2), 0.2 * rng.standard_normal((400, 3)))
    release = gd.release(records, statistic, gd.PureDP(1), gd.KNormGradient())
    assert all(check.passed for check in gd.verify(release))
    return release.value


if __name__ == "__main__":
    print(main())
