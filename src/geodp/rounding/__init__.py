"""Exactly rounded release: real-valued draws known to as many bits as rounding needs."""

from geodp.rounding.release import round_point, round_release
from geodp.rounding.sampler import SphericalDraw

__all__ = ["SphericalDraw", "round_point", "round_release"]
