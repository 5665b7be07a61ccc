"""Where records live: one file per space and metric."""

from geodp.spaces.base import Space
from geodp.spaces.charts import Chart, LogCholesky, LogEuclidean
from geodp.spaces.euclidean import Euclidean
from geodp.spaces.hyperbolic import Hyperbolic
from geodp.spaces.lattice import LogSum
from geodp.spaces.parse import SPD, parse_space
from geodp.spaces.planar_shapes import PlanarShapes
from geodp.spaces.power import Power
from geodp.spaces.product import Product
from geodp.spaces.pullback import Pullback
from geodp.spaces.spd import AffineInvariant
from geodp.spaces.sphere import Sphere

__all__ = [
    "SPD",
    "AffineInvariant",
    "Chart",
    "Euclidean",
    "Hyperbolic",
    "LogCholesky",
    "LogEuclidean",
    "LogSum",
    "PlanarShapes",
    "Power",
    "Product",
    "Pullback",
    "Space",
    "Sphere",
    "parse_space",
]
