"""A space written by a user: positive numbers with the metric of their logarithms."""

import numpy as np
import pytest

from geodp.spaces import Space
from geodp.testing import check_space


class Positive(Space):
    """(0, ∞) with |v|_p = |v|/p, points of shape ``(..., 1)``."""

    spec = "positive"
    dim = 1
    point_shape = (1,)
    origin = np.ones(1)
    curvature = (0.0, 0.0)
    ricci_lower = 0.0
    injectivity_radius = np.inf
    is_homogeneous = True
    is_two_point_homogeneous = True

    def contains(self, x):
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

    def coords(self, p, v):
        return np.divide(v, p)

    def vector(self, p, z):
        return np.multiply(p, z)

    def log_volume_density(self, p, v):
        return 0 * np.multiply(p, v)[..., 0]

    def hessian(self, p, q):
        return np.ones((*np.multiply(p, q).shape[:-1], 1, 1))

    def log_error(self, center, radius):
        return 8e-16 * (1 + radius)

    def exp_arb(self, p, z):
        from flint import arb

        return [arb(float(p[0])) * z[0].exp()]


def test_a_third_party_space_runs_the_suite():
    check_space(Positive())


class Chatty(Positive):
    """Warns of records that are infinite."""

    def project(self, x):
        return np.where(np.isfinite(x), x, np.subtract(x, x) + x)


def test_a_space_that_warns_of_a_record_is_told_so():
    with pytest.raises(AssertionError, match=r"'membership': it warns of a record .*errstate"):
        check_space(Chatty())
