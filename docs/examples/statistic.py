"""A statistic of one's own: a mean of clipped tangent coordinates, on flat spaces."""

import numpy as np

import geodp as gd


class TrimmedChartMean:
    """The mean of the tangent coordinates at the ball's centre, each clipped to ±``bound``.

    Replacing one of n records moves every coordinate of the mean by at most 2·bound/n, so the
    mean by 2·bound·√dim/n in the tangent space. On a Hadamard space exp expands, so this is proven
    for *flat* spaces alone, where exp is an isometry; others are refused.
    """

    name = "trimmed chart mean"

    def __init__(self, ball, bound):
        if not ball.space.is_flat:
            raise ValueError("the bound is proven on flat spaces only")
        self.ball, self.space, self.bound = ball, ball.space, bound

    @property
    def error_bound(self):  # a public bound on everything that floats do: far above n·2⁻⁵³
        return 1e-9 * self.bound * (1 + self.space.dim)

    def sensitivity(self, n):
        return np.nextafter(2 * self.bound * np.sqrt(self.space.dim) / n * (1 + 1e-12), np.inf)

    def evaluate(self, records):
        space, center = self.space, self.ball.center
        points = self.ball.clip(records)  # malformed records become the centre, silently
        total = np.zeros(space.dim)
        for chunk in points.chunks():
            z = space.log_coords(center, chunk)
            total += np.clip(z, -self.bound, self.bound).sum(axis=0)
        mean = total / len(points)
        return gd.Certified(space.exp_coords(center, mean), self.error_bound)


def main():
    space = gd.SPD(2, "log-euclidean")
    statistic = TrimmedChartMean(gd.Ball(space, np.eye(2), 2.0), bound=0.5)
    assert isinstance(statistic, gd.Statistic)
    records = np.stack([np.diag([1.0 + i / 100, 1.2]) for i in range(100)])
    release = gd.release(records, statistic, gd.GaussianDP(1), "wrapped-gaussian")
    return release.value


if __name__ == "__main__":
    print(main())
