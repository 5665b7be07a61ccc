"""Noise laws: densities, moments, float samplers and exact samplers."""

from geodp.noise.base import Noise
from geodp.noise.spherical import SphericalLaw
from geodp.noise.strategies import Gaussian, L2Laplace, SphericalGamma

__all__ = ["Gaussian", "L2Laplace", "Noise", "SphericalGamma", "SphericalLaw"]
