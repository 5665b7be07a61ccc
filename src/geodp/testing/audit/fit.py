"""Goodness of fit: do draws follow the stated law? Sharper than any bound on privacy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from geodp.testing.audit.confidence import ALARM, Array
from geodp.testing.audit.laws import StatedLaw
from geodp.testing.audit.report import Finding

_TOTAL = 1e-2  # how far from one a stated density may integrate, numerically
_TINY = 1e-300


def law_test(law: StatedLaw, samples: Sequence[tuple[Array, Array]], which: str) -> Finding:
    """Draws against the law's radius and direction; ``samples``: values and draws around each.

    Radius: Kolmogorov and Smirnov's distance, and the sums of ``-log u`` and ``-log(1 - u)`` of the
    levels u, which are Gamma(n) under the law and react to a scale that is 10 % off. Direction: its
    component along the second axis, whose square is a Beta variable.
    """
    parts, lost = [], 0.0
    for value, draws in samples:
        keep = ~law.space.cut_locus(value if law.base is None else law.base, draws)
        parts.append(law.noise(value, draws[keep]))
        lost = max(lost, law.folded(value) + 1 - float(keep.mean()))
    noise = np.concatenate(parts)
    length = np.linalg.norm(noise, axis=-1)
    levels = law.radius.cdf(length)
    figures: dict[str, object] = {
        "draws": len(length),
        "radius": _p_value(levels, lost),
        "scale": _sum_p_value(levels, lost),
        "direction": _p_value(_direction_levels(noise, length), lost),
    }
    worst = min(float(figures[name]) for name in ("radius", "scale", "direction"))  # type: ignore[arg-type]
    fits = worst > ALARM
    verdict = "fit" if fits else "do NOT fit"
    detail = (
        f"{len(length)} {which} draws {verdict} the stated law of radius and direction (least "
        f"p-value {worst:.2g}, limit {ALARM:g})."
    )
    return Finding.of(f"law of {which} draws", fits, detail, figures, comparisons=5)


def density_test(law: StatedLaw) -> Finding | None:
    """Whether the stated density integrates to one; None where it is stated up to a factor."""
    if law.at_center:
        return None
    total = law.radius.total
    return Finding.of(
        "stated density",
        abs(total - 1) <= _TOTAL,
        f"It integrates to {total:.5f} over the space.",
        {"integral": total},
    )


def _direction_levels(noise: Array, length: Array) -> Array:
    """Levels of one component of the direction; its sign and size are independent."""
    from scipy.special import betainc

    dim = noise.shape[-1]
    w = noise[:, min(1, dim - 1)] / np.maximum(length, _TINY)
    if dim == 1:  # a fair sign, spread evenly over its half by the other half's order
        spread = (np.arange(len(w)) + 0.5) / len(w)
        return np.asarray(np.where(w > 0, 0.5 + spread / 2, spread / 2))
    size = betainc(0.5, (dim - 1) / 2, np.minimum(w * w, 1.0))
    return np.asarray((1 + np.sign(w) * size) / 2)


def _p_value(levels: Array, slack: float) -> float:
    """That of the largest gap between empirical and stated distribution."""
    from scipy.stats import kstwo

    n = len(levels)
    ordered = np.sort(levels)
    steps = np.arange(1, n + 1) / n
    gap = float(max((steps - ordered).max(), (ordered - steps + 1 / n).max()))
    return float(kstwo.sf(max(gap - slack, _TINY), n))


def _sum_p_value(levels: Array, slack: float) -> float:
    """That of two sums that are Gamma(n) variables, the four tails together."""
    from scipy.stats import gamma

    if slack > 1e-9:  # a folded draw moves a sum by more than its share
        return 1.0
    n = len(levels)
    tails = []
    for u in (levels, 1 - levels):
        total = float(-np.log(np.maximum(u, 1e-12)).sum())
        tails += [float(gamma.cdf(total, n)), float(gamma.sf(total, n))]
    return min(1.0, 4 * min(tails))
