"""Differentially private statistics of data on curved spaces.

A release is a statistic on a space, randomised by a mechanism, to a stated guarantee.
"""

from typing import TYPE_CHECKING, Any

from geodp.errors import (
    ConditionError,
    CutLocusError,
    GeodpError,
    GuaranteeError,
    InputError,
    LedgerError,
    LedgerRefusal,
    MismatchError,
    NotYetError,
    SpaceError,
)
from geodp.inference.result import Inference
from geodp.ledger.ledger import Ledger
from geodp.ledger.receipt import Release
from geodp.mechanisms import (
    KNormGradient,
    PrivateFootpoint,
    RiemannianGaussian,
    RiemannianLaplace,
    Wrapped,
)
from geodp.noise.strategies import Gaussian, L2Laplace, SphericalGamma
from geodp.privacy.compose import compose
from geodp.privacy.guarantees import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from geodp.privacy.profile import Profile
from geodp.spaces import (
    SPD,
    Euclidean,
    Hyperbolic,
    PlanarShapes,
    Power,
    Product,
    Space,
    Sphere,
    parse_space,
)
from geodp.statistics import (
    Ball,
    Certified,
    ExtrinsicMean,
    FrechetMean,
    FrechetMedian,
    FrechetVariance,
    GivenValue,
    ReplacedShare,
    Statistic,
    TangentMean,
)
from geodp.verbs.calibrate import calibrate
from geodp.verbs.infer import infer
from geodp.verbs.plan import plan
from geodp.verbs.release import release
from geodp.verbs.session import Session
from geodp.verbs.verify import verify

__all__ = [
    "ApproxDP",
    "Ball",
    "Certified",
    "ConditionError",
    "CutLocusError",
    "Euclidean",
    "ExtrinsicMean",
    "FrechetMean",
    "FrechetMedian",
    "FrechetVariance",
    "Gaussian",
    "GaussianDP",
    "GeodpError",
    "GivenValue",
    "GuaranteeError",
    "Hyperbolic",
    "Inference",
    "InputError",
    "KNormGradient",
    "L2Laplace",
    "Ledger",
    "LedgerError",
    "LedgerRefusal",
    "MismatchError",
    "NotYetError",
    "PlanarShapes",
    "Power",
    "PrivateFootpoint",
    "Product",
    "Profile",
    "PureDP",
    "Release",
    "RenyiDP",
    "ReplacedShare",
    "RiemannianGaussian",
    "RiemannianLaplace",
    "SPD",
    "Session",
    "Space",
    "SpaceError",
    "Sphere",
    "SphericalGamma",
    "Statistic",
    "TangentMean",
    "Wrapped",
    "ZCDP",
    "calibrate",
    "compose",
    "infer",
    "parse_space",
    "plan",
    "release",
    "verify",
]

if TYPE_CHECKING:  # the edges by name, for type checkers
    from geodp import io as io
    from geodp import outlines as outlines
    from geodp import report as report
    from geodp import sklearn as sklearn
    from geodp import testing as testing
else:

    def __getattr__(name: str) -> Any:
        """``geodp.io`` and the other edges, imported when first named: the core needs none."""
        if name not in ("io", "outlines", "report", "sklearn", "testing"):
            raise AttributeError(f"module 'geodp' has no attribute {name!r}")
        from importlib import import_module

        return import_module(f"geodp.{name}")
