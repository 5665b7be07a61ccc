"""Public conformance suites for a new space or mechanism."""

from geodp.testing.mechanism_laws import check_mechanism
from geodp.testing.spaces import check_space, random_points

__all__ = ["check_mechanism", "check_space", "random_points"]
