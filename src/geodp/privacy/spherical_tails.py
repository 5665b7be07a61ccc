"""Analytic bounds on the tail of a spherical law's privacy loss, and on what is integrated there.

Without a pole and for power p > 1, L ≤ (r+s)^p − r^p ≤ p s (r+s)^{p−1}, so P[L > ε] ≤ Q(z(ε)) with
z(ε) = ((ε/ps)^{1/(p−1)} − s)^p and Q the upper tail of Gamma(order). With a pole k,
L ≤ k log(1 + s/r) + (r+s)^p − r^p. Proofs: docs/proofs/profiles.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, final

from geodp.privacy.balls import ball

if TYPE_CHECKING:
    from flint import arb

    from geodp.privacy.spherical_shift import Shift


@final
class Tail:
    """The numbers of a shift as balls at the working precision."""

    def __init__(self, shift: Shift) -> None:
        self.shift = shift
        self.power, self.order = ball(shift.power), ball(shift.order)
        self.pole, self.shape_1 = ball(shift.pole), ball(shift.shape + 1)
        self.s = ball(shift.ratio) * ball(shift.rate) ** (1 / self.power)

    def radius(self, epsilon: arb) -> arb:
        """u = (ε/ps)^{1/(p−1)}: the loss stays below ε for r + s ≤ u (power > 1)."""
        return (epsilon / (self.power * self.s)) ** (1 / (self.power - 1))

    def exponent(self, epsilon: arb) -> tuple[arb, arb]:
        """z(ε) and z'(ε) (power > 1); z' increases, and z'/ε does for power ≤ 2."""
        u = self.radius(epsilon)
        slope = u * (1 - self.s / u) ** (self.power - 1) / ((self.power - 1) * self.s)
        return (u - self.s) ** self.power, slope

    def gaussian_covers(self, square: Fraction, start: Fraction) -> bool:
        """Whether δ(ε) ≤ δ_μ(ε) is proved for every ε ≥ ``start`` (no pole, 1 < power < 2).

        With h = μ, x = (ε + h − μ²/2)/μ ≥ 1: δ_μ(ε) ≥ (1 − e^{−h}) e^{−x²/2}/(2x√(2π)), and
        Q(z) ≤ z^{a−1} e^{−z}/(Γ(a)(1 − (a−1)₊/z)). The log-ratio f of the two bounds is ≥ 0 at
        ``start``, and f'/ε ≥ 0 beyond since z'/ε grows and what is subtracted from it does not.
        """
        from flint import arb

        epsilon, mu = ball(start), ball(square).sqrt()
        if not self.radius(epsilon) > self.s:
            return False
        z, slope = self.exponent(epsilon)
        x = (epsilon + mu - mu * mu / 2) / mu
        excess = (self.order - 1).max(arb(0))
        if not (z > excess and z > 1 and x >= 1):
            return False
        value = (
            z
            - (self.order - 1) * z.log()
            + self.order.lgamma()
            + (1 - excess / z).log()
            - x * x / 2
            - (2 * x * (2 * arb.pi()).sqrt()).log()
            + (-(-mu).expm1()).log()
        )
        rise = slope / epsilon * (1 - excess / z)
        fall = (x / (mu * epsilon)).max(1 / (mu * mu)) + 1 / (x * mu * epsilon)
        return bool(value >= 0) and bool(rise >= fall)

    def renyi_rest(self, start: Fraction, alpha: arb) -> arb | None:
        """At least ∫ (e^{(α−1)ε} + e^{−αε}) δ(ε) dε over ε ≥ ``start``; None where unproved."""
        if self.shift.pole == 0:
            return self._no_pole_rest(ball(start), alpha, alpha)
        return self._pole_rest(ball(start), alpha)

    def _no_pole_rest(self, epsilon: arb, alpha: arb, least: arb) -> arb | None:
        """Q(z) falls at least as e^{−αε} once z' times its hazard rate, which grows, is α."""
        from flint import arb

        if not self.radius(epsilon) > self.s:
            return None
        z, slope = self.exponent(epsilon)
        tail = z.gamma_upper(self.order, 1)
        hazard = arb(1)
        if not self.order <= 1:
            hazard = ((self.order - 1) * z.log() - z - self.order.lgamma()).exp() / tail
        if not slope * hazard >= least:
            return None
        return 2 * ((alpha - 1) * epsilon).exp() * tail

    def _pole_rest(self, epsilon: arb, alpha: arb) -> arb | None:
        """Small radii, where the pole makes the loss large, and large ones for power > 1."""
        near = self.s / 8
        offset = self.s**self.power
        rest = None
        if not self.power <= 1:
            offset = (near + self.s) ** self.power - near**self.power
            shifted = epsilon - self.pole * (1 + self.s / near).log()
            if not shifted > 0:
                return None
            rest = self._no_pole_rest(shifted, alpha, alpha)
            if rest is None:
                return None
            rest *= ((alpha - 1) * (epsilon - shifted)).exp()
        rate = self.shape_1 / self.pole  # of P[r small enough] in ε
        margin = rate - (alpha - 1)
        if not (epsilon > offset and margin > 0):
            return None
        shrink = 1 - (-(epsilon - offset) / self.pole).exp()
        mass = (self.s / shrink) ** self.shape_1 / (self.order + 1).gamma()
        value = 2 * mass * ((alpha - 1) * epsilon - rate * (epsilon - offset)).exp() / margin
        return value if rest is None else value + rest
