"""What public registries of deployments ask of a release, from its receipt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from geodp.ledger.neighbours import replaced_thing

if TYPE_CHECKING:
    from geodp.ledger.receipt import Release


def registry_entry(release: Release) -> dict[str, Any]:
    """The facts of a release under the headings that registries of deployments share.

    Who publishes, why, and about whom is not on a receipt: add it yourself.

    >>> import numpy as np, geodp as gd
    >>> mean = gd.FrechetMean(gd.Ball(gd.Euclidean(1), [0.0], 1.0))
    >>> out = gd.release([[0.2], [0.4]], mean, gd.GaussianDP(1), unit="person")
    >>> entry = registry_entry(out)
    >>> entry["privacy unit"], entry["trust model"]
    ('person', 'central: a trusted curator holds the records')
    """
    document = release.to_json()
    strength = document["outcome"]["strength"] or {}
    paid = document["outcome"]["ledger"] or {}
    return {
        "data product": f"{release.statistic} on {release.space.spec}",
        f"{replaced_thing(release.statistic, release.unit)}s": release.n,
        "trust model": "central: a trusted curator holds the records",
        "privacy unit": release.unit,
        "neighbouring data sets": document["request"]["neighbours"],
        "privacy definition": release.promise,
        "privacy parameters": release.guarantee.to_json(),
        "as (epsilon, delta)": [strength.get("epsilon"), strength.get("delta")],
        "mechanism": release.mechanism,
        "sensitivity": release.sensitivity.total,
        "clipping": None if release.domain is None else f"ball of radius {release.domain.radius:g}",
        "accounting": f"ledger {paid['id']}, entry {paid['entry']}" if paid else "none",
        "randomness": "private" if release.private else "NOT PRIVATE: a seeded simulation",
        "implementation": f"geodp {document['outcome']['versions']['geodp']}",
        "released at": release.released_at,
    }
