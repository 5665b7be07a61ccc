"""A space of one's own: positive numbers, with the distance |log p − log q|."""

import numpy as np

import geodp as gd
from geodp.testing import check_space


class Positive(gd.Space):
    spec, dim, point_shape, origin = "positive", 1, (1,), np.ones(1)
    curvature, ricci_lower, injectivity_radius = (0.0, 0.0), 0.0, np.inf
    is_homogeneous = is_two_point_homogeneous = True

    def contains(self, x):  # one bool per record, never an error
        x = np.asarray(x, float)
        return np.asarray(np.isfinite(x).all(-1) & (x[..., 0] > 0))

    def project(self, x):
        return np.array(x, float)

    def exp(self, p, v):
        return p * np.exp(np.divide(v, p))

    def log(self, p, q):
        return p * np.log(np.divide(q, p))

    def dist(self, p, q):
        return np.abs(np.log(np.divide(q, p)))[..., 0]

    def inner(self, p, u, v):
        return (np.multiply(u, v) / np.square(p))[..., 0]

    def coords(self, p, v):  # in an orthonormal basis
        return np.divide(v, p)

    def vector(self, p, z):
        return np.multiply(p, z)

    def log_volume_density(self, p, v):
        return 0 * np.multiply(p, v)[..., 0]

    def hessian(self, p, q):
        return np.ones((*np.multiply(p, q).shape[:-1], 1, 1))

    def log_error(self, center, radius):  # a proven bound on the rounding of log
        return 8e-16 * (1 + radius)

    def exp_arb(self, p, z):  # for exactly rounded releases
        return [z[0].exp() * float(p[0])]


def main():
    space = Positive()
    check_space(space)  # the laws every release relies on
    ball = gd.Ball(space, np.array([2.0]), 1.0)
    records = np.exp(np.linspace(0.2, 1.2, 50))[:, None]
    release = gd.release(records, gd.FrechetMean(ball), gd.GaussianDP(1), "wrapped-gaussian")
    return release.value


if __name__ == "__main__":
    print(main())
