"""The public names are frozen: changing this list is a decision, not an accident."""

from __future__ import annotations

import subprocess
import sys

import geodp as gd

NAMES = [
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


def test_the_public_names_are_these() -> None:
    assert sorted(gd.__all__) == sorted(NAMES)
    assert all(hasattr(gd, name) for name in NAMES)


def test_every_public_name_is_documented() -> None:
    assert [name for name in NAMES if not (getattr(gd, name).__doc__ or "").strip()] == []


def test_importing_loads_numpy_and_nothing_else() -> None:
    """Every other package is imported where it is used, and so is the database of the ledger."""
    code = "import sys, numpy; old = set(sys.modules); import geodp; print(*set(sys.modules) - old)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in out.stdout.split()}
    assert loaded - sys.stdlib_module_names - {"numpy"} == {"geodp"}
    assert loaded & {"sqlite3", "multiprocessing", "asyncio", "ssl", "http", "xml"} == set()


def test_the_edges_are_imported_when_they_are_named() -> None:
    code = (
        "import sys, geodp as gd\n"
        "assert not any(name.startswith('geodp.io') for name in sys.modules)\n"
        "assert gd.io.read_records and gd.testing.check_space and gd.report.html\n"
        "assert 'geodp.io' in sys.modules\n"
        "assert not hasattr(gd, 'readers')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
