"""The conformance suite of a space: what every release relies on, as executable laws."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from geodp.spaces.base import Array, Space

_REACH = 0.8  # of the distance within which all laws are tried, in units of the curvature radius


def reach(space: Space) -> float:
    """A distance within which pairs of points meet no cut locus and no overflow."""
    low, high = space.curvature
    bend = 1.0 / math.sqrt(max(abs(low), abs(high), 1e-12))
    return _REACH * min(bend, space.injectivity_radius / 4, 1.0)


def random_points(
    space: Space, n: int, radius: float, rng: np.random.Generator, center: Array | None = None
) -> Array:
    """``n`` points within ``radius`` of ``center`` (the origin if None), ``(n, *point_shape)``.

    Directions are uniform in the orthonormal basis and distances uniform in [0, radius]. Fast
    floats for tests; not private noise.

    >>> import geodp as gd, numpy as np
    >>> from geodp.testing import random_points
    >>> random_points(gd.Sphere(2), 5, 1.0, np.random.default_rng(0)).shape
    (5, 3)
    """
    z = rng.normal(size=(n, space.dim))
    z *= (radius * rng.random(n) / np.linalg.norm(z, axis=1))[:, None]
    return space.project(space.exp_coords(space.origin if center is None else center, z))


def check_space(
    space: Space,
    seed: int = 0,
    *,
    n: int = 24,
    rtol: float = 1e-9,
    difference_rtol: float = 1e-5,
    not_points: Array | None = None,
) -> None:
    """Run all laws on ``space``; ``AssertionError`` naming the first law that fails.

    ``n`` random points and tangent vectors per law; ``rtol`` for exact identities,
    ``difference_rtol`` for what is compared with finite differences. ``not_points``: a batch that
    ``contains`` must refuse, besides NaN and infinity.

    >>> import geodp as gd
    >>> from geodp.testing import check_space
    >>> check_space(gd.Hyperbolic(2))
    """
    from geodp.testing import space_laws

    sample = space_laws.Sample.draw(space, n, reach(space), np.random.default_rng(seed))
    laws: list[tuple[str, Callable[[], None]]] = [
        ("constants", lambda: space_laws.constants(space)),
        ("identity", lambda: identity(space)),
        ("membership", lambda: space_laws.membership(space, sample, not_points)),
        ("exp and log are inverse", lambda: space_laws.inverse(space, sample, rtol)),
        ("norm of log is dist", lambda: space_laws.norm_of_log(space, sample, rtol)),
        ("dist is a metric", lambda: space_laws.metric(space, sample, rtol)),
        ("coords are orthonormal", lambda: space_laws.isometry(space, sample, rtol)),
        ("hessian", lambda: space_laws.hessian(space, sample, difference_rtol)),
        ("volume density", lambda: space_laws.volume(space, sample, difference_rtol)),
        ("curvature", lambda: space_laws.curvature(space, sample)),
        ("records are independent", lambda: space_laws.independence(space, sample)),
        ("ball arithmetic", lambda: space_laws.ball_arithmetic(space, sample, rtol)),
        ("log_error", lambda: space_laws.rounding(space, sample)),
    ]
    for name, law in laws:
        try:
            law()
        except AssertionError as error:
            raise AssertionError(f"{space.spec} breaks the law {name!r}: {error}") from None
        except Warning as warning:
            raise AssertionError(
                f"{space.spec} breaks the law {name!r}: it warns of a record ({warning}); let what "
                "is no point pass in silence, under numpy.errstate"
            ) from None


def identity(space: Space) -> None:
    """Pickling keeps the space; ``spec`` decides equality and hash."""
    copy = pickle.loads(pickle.dumps(space))
    assert copy == space, "a pickled copy must be equal"
    assert hash(copy) == hash(space), "equal spaces must have equal hashes"
    assert isinstance(space.spec, str), "spec must be a string"
    assert space.spec, "spec must not be empty"


def close(actual: NDArray[np.float64], expected: NDArray[np.float64], tol: float, why: str) -> None:
    """Equal within ``tol`` of the larger of 1 and the expected size."""
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    gap = float(np.abs(np.asarray(actual) - expected).max(initial=0.0))
    assert gap <= tol * scale, f"{why} (off by {gap:.2g}, allowed {tol * scale:.2g})"
