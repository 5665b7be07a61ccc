"""One exception tree.

Every message is a sentence: what was asked, what holds, what to do next. No message carries a
record's value, index or count.
"""

# ruff: noqa: E501 (the examples quote messages whole)
from __future__ import annotations


class GeodpError(Exception):
    """Base of every error that geodp raises on purpose."""


class InputError(GeodpError, ValueError):
    """An argument, option or file is not what the call needs (command line: exit code 2)."""


class SpaceError(InputError):
    """A point, a tangent vector or a space is not what the geometry needs."""


class CutLocusError(SpaceError):
    """The logarithm of a point on the cut locus of the base point was asked for."""


class ConditionError(InputError):
    """A theorem's condition (radius, curvature, dimension, number of records) does not hold."""


class GuaranteeError(InputError):
    """A guarantee that is ill-formed, or that the chosen law cannot give."""


class MismatchError(InputError):
    """Two parts of a release disagree: space, unit, neighbour relation or domain."""


class NotYetError(InputError):
    """A public name whose part of geodp is not built yet; the message says which part."""


class LedgerError(GeodpError):
    """A ledger that cannot be found, read, written or trusted; nothing was released."""


class LedgerRefusal(GeodpError):
    """The ledger does not pay for this release (command line: exit code 3).

    >>> import geodp as gd
    >>> try:
    ...     gd.PureDP(-1)
    ... except gd.GeodpError as error:
    ...     print(error)
    The number epsilon must be greater than zero.


    >>> import geodp as gd
    >>> gd.Ball.from_eigenvalues(gd.SPD(2), 3, 1)
    Traceback (most recent call last):
        ...
    geodp.errors.InputError: The least eigenvalue must lie below the greatest.


    >>> import geodp as gd
    >>> gd.PlanarShapes(1)
    Traceback (most recent call last):
        ...
    geodp.errors.SpaceError: Planar shapes need at least three landmarks: two of them have one shape only.


    >>> import geodp as gd
    >>> sphere = gd.Sphere(1)
    >>> sphere.log([0.0, 1.0], [0.0, -1.0])
    Traceback (most recent call last):
        ...
    geodp.errors.CutLocusError: The logarithm of antipodal points is not defined; Sphere.cut_locus tells beforehand which pairs are too near to it.


    >>> import geodp as gd
    >>> gd.Ball(gd.Euclidean(1), [0.0], 1e300)
    Traceback (most recent call last):
        ...
    geodp.errors.ConditionError: The radius must lie between 1e-100 and 1e+100, where floats hold squared distances. Use another unit of length.


    >>> import geodp as gd
    >>> gd.RenyiDP(1, 1)
    Traceback (most recent call last):
        ...
    geodp.errors.GuaranteeError: The order alpha of Rényi DP must be greater than one.


    >>> import tempfile, geodp as gd
    >>> place = tempfile.mkdtemp() + "/budget.db"
    >>> ledger = gd.Ledger.create(place, gd.GaussianDP(1), unit="person")
    >>> ledger.spend(gd.GaussianDP(0.5), dataset="d", note="A count.", unit="scan")
    Traceback (most recent call last):
        ...
    geodp.errors.MismatchError: The ledger protects one person and the spend is stated for one scan: state what it promises to one person, or use a ledger of that unit.


    >>> import geodp as gd
    >>> ball = gd.Ball(gd.Power(gd.Euclidean(1), 3), [[0.0]] * 3, 1.0)
    >>> gd.infer([[[0.0]] * 3] * 50, ball, gd.GaussianDP(1))
    Traceback (most recent call last):
        ...
    geodp.errors.NotYetError: There is no region for all places of a map together. Infer in each of the V places by itself, to mu/sqrt(V) of Gaussian DP, or a V-th of zCDP or of a pure epsilon: together they keep the whole promise, and with Gaussian noise cost the same. The page 'Persons, maps, and data past one machine' shows how.


    >>> import geodp as gd
    >>> gd.Ledger("mysql://host/base")
    Traceback (most recent call last):
        ...
    geodp.errors.LedgerError: A ledger lives in an SQLite file or in PostgreSQL (postgresql://…).


    >>> import tempfile, geodp as gd
    >>> place = tempfile.mkdtemp() + "/budget.db"
    >>> ledger = gd.Ledger.create(place, gd.GaussianDP(1), unit="person")
    >>> ledger.spend(gd.GaussianDP(2), dataset="study", note="A count.")
    Traceback (most recent call last):
        ...
    geodp.errors.LedgerRefusal: The ledger refuses: asked mu^2 = 4, spent 0 of 1, left 1, that is 3 too much. GaussianDP(mu=1) would still fit.
    """
