"""One exception tree.

Every message is a sentence: what was asked, what holds, what to do next. No message carries a
record's value, index or count.
"""

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
    """The ledger does not pay for this release (command line: exit code 3)."""
