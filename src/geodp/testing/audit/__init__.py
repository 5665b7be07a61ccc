"""Attacks on a mechanism or on a whole release, with exact confidence.

``audit`` for a mechanism, ``audit_release`` for a program from raw records to a receipt; ``twins``
and ``twin_releases`` hold planted bugs that both must catch.
"""

from geodp.testing.audit.laws import StatedLaw, stated_law
from geodp.testing.audit.pipeline import audit_release
from geodp.testing.audit.report import Finding, Report
from geodp.testing.audit.run import audit

__all__ = ["Finding", "Report", "StatedLaw", "audit", "audit_release", "stated_law"]
