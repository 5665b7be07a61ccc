"""The conformance suite of a mechanism: what the verbs and a ledger rely on, as executable laws."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product

import numpy as np

from geodp.errors import GeodpError
from geodp.mechanisms.base import Calibration, Mechanism
from geodp.privacy.compose import compose
from geodp.privacy.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from geodp.privacy.profile import Profile
from geodp.privacy.promised import promised
from geodp.spaces.base import Array, Space
from geodp.statistics.domain import Ball

GUARANTEES: tuple[Guarantee, ...] = (
    PureDP(1),
    PureDP(2),
    ApproxDP(1, 1e-5),
    GaussianDP("0.5"),
    GaussianDP(1),
    RenyiDP(2, "0.5"),
    ZCDP("0.1"),
)
_LOSSES = (-4.0, -2.0, -1.0, -0.5, -0.1, 0.0, 0.1, 0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 4.0, 8.0)
_SLACK = 1e-3  # relative: bounds are certified, not exact
_DRAWS, _SQUARE_OFF = 20_000, 0.15  # a scale 30 % off moves the mean square by half or more
_MEAN_OFF = 0.22  # of exact draws against float draws


def check_mechanism(
    mechanism: Mechanism,
    space: Space,
    ball: Ball | None = None,
    *,
    sensitivity: float = 0.01,
    guarantees: Sequence[Guarantee] = GUARANTEES,
    exact_draws: int = 600,
    seed: int = 0,
) -> None:
    """Run all laws on ``mechanism``; ``AssertionError`` naming the first law that fails.

    Each of ``guarantees`` is either refused by ``why_not``, with a reason, or kept; one at least
    must be kept. The value is the centre of the ``ball``, or the origin. Take a ``sensitivity`` so
    small that draws stay within the injectivity radius. Noise whose scale is 30 % off is rejected;
    with the default numbers of draws a true mechanism fails with probability below 1e-6.

    >>> import geodp as gd
    >>> from geodp.testing import check_mechanism
    >>> check_mechanism(gd.Wrapped(gd.L2Laplace()), gd.Euclidean(2))
    """
    setting = Setting(mechanism, space, ball)
    kept: list[Calibration] = []
    doubled: list[Calibration] = []
    for guarantee in guarantees:
        with _law("why_not", setting, guarantee):
            one = setting.calibrated(sensitivity, guarantee)
            two = setting.calibrated(2 * sensitivity, guarantee)
        kept += [] if one is None else [one]
        doubled += [] if two is None else [two]
    assert kept, f"{mechanism.name} keeps none of the guarantees on {space.spec}"
    rng = np.random.default_rng(seed)
    for cal in kept:
        with _law("profile", setting, cal.guarantee):
            profile(cal.profile)
        with _law("promise", setting, cal.guarantee):
            promise(cal)
        with _law("facts", setting, cal.guarantee):
            facts(cal)
        with _law("stages", setting, cal.guarantee):
            stages(setting, cal.guarantee)
        with _law("float draws", setting, cal.guarantee):
            float_draws(setting, cal, rng)
    for one, two in product(kept, doubled):
        if two.scale >= one.scale:
            with _law("group privacy", setting, two.guarantee):
                group_privacy(one.profile, two.profile)
    with _law("exact draws", setting, kept[0].guarantee):
        rounded_draws(setting, kept[0], exact_draws, rng)


@dataclass(frozen=True)
class Setting:
    """What is under test, and where."""

    mechanism: Mechanism
    space: Space
    ball: Ball | None

    @property
    def value(self) -> Array:
        return self.space.origin if self.ball is None else self.ball.center

    def calibrated(self, sensitivity: float, guarantee: Guarantee) -> Calibration | None:
        """The calibration, or None where ``why_not`` says why not and ``calibrate`` agrees."""
        reason = self.mechanism.why_not(self.space, guarantee, self.ball)
        try:
            cal = self.mechanism.calibrate(self.space, sensitivity, guarantee, self.ball)
        except GeodpError as error:
            if reason is None:
                raise AssertionError(f"why_not accepts what calibrate refuses: {error}") from None
            return None
        assert reason is None, f"why_not refuses what calibrate does: {reason}"
        assert cal.guarantee == guarantee, "a calibration must carry its guarantee"
        assert 0 < cal.scale < math.inf, "the scale must be positive and finite"
        return cal


@contextmanager
def _law(name: str, setting: Setting, guarantee: Guarantee) -> Iterator[None]:
    try:
        yield
    except AssertionError as error:
        where = f"{setting.mechanism.name} on {setting.space.spec} under {guarantee.label}"
        raise AssertionError(f"{where} breaks the law {name!r}: {error}") from None


def profile(bounds: Profile) -> None:
    """δ(ε) lies in [1 − e^ε, 1], falls, and is convex in e^ε."""
    points = [(loss, bounds.delta(loss)) for loss in _LOSSES]
    for loss, delta in points:
        assert delta <= 1, "delta must not exceed one"
        assert delta >= -math.expm1(loss) * (1 - 1e-12), "delta(epsilon) must be at least 1 − e^ε"
    for (_, before), (_, after) in pairwise(points):
        assert after <= before * (1 + _SLACK), "delta must not increase with epsilon"
    for (a, d_a), (b, d_b), (c, d_c) in zip(points, points[1:], points[2:], strict=False):
        share = math.expm1(b - c) / math.expm1(a - c)
        chord = share * d_a + (1 - share) * d_c
        assert d_b <= chord * (1 + _SLACK), "delta must be convex in e^epsilon"


def promise(cal: Calibration) -> None:
    """The profile's own bounds keep the guarantee that the scale was found for."""
    spent, allowed = _PROMISES[cal.guarantee.notion](cal.profile, cal.guarantee)
    assert spent <= allowed, "the profile must keep the guarantee"


_PROMISES: dict[str, Callable[..., tuple[Fraction, Fraction]]] = {
    "pure": lambda p, g: (p.pure_upper(), g.epsilon),
    "approx": lambda p, g: (p.delta_upper(g.epsilon), g.delta),
    "gdp": lambda p, g: (p.mu_squared_upper(), g.mu**2),
    "renyi": lambda p, g: (p.renyi_upper(g.alpha), g.epsilon),
    "zcdp": lambda p, g: (p.rho_upper(), g.rho),
}


def group_privacy(one: Profile, two: Profile) -> None:
    """δ₂(2ε) ≤ (1 + e^ε) δ₁(ε) for twice the sensitivity and no less noise."""
    for loss in (x for x in _LOSSES if 0 <= x <= 4):
        limit = (1 + math.exp(loss)) * one.delta(loss)
        assert two.delta(2 * loss) <= limit * (1 + _SLACK), "two steps must cost at most two"


def facts(cal: Calibration) -> None:
    """What a receipt says survives JSON, and names the guarantee and the scale."""
    said = cal.facts()
    assert json.loads(json.dumps(said, allow_nan=False)) == said, "facts must survive JSON"
    assert said["scale"] == cal.scale, "facts must state the scale"
    assert Guarantee.from_json(said["guarantee"]) == cal.guarantee  # type: ignore[arg-type]


def stages(setting: Setting, guarantee: Guarantee) -> None:
    """The draws together cost at most the guarantee, and each is one draw."""
    parts = setting.mechanism.stages(guarantee)
    assert parts, "a mechanism makes at least one draw"
    for part in parts:
        assert len(part.mechanism.stages(part.guarantee)) == 1, "a stage must be one draw"
    if len(parts) > 1:
        whole = compose([promised(part.guarantee) for part in parts])
        spent, allowed = _PROMISES[guarantee.notion](whole, guarantee)
        assert spent <= allowed, "the stages must cost at most the guarantee"


def float_draws(setting: Setting, cal: Calibration, rng: np.random.Generator) -> None:
    """Draws around the footpoint have the stated mean square, and the right shape."""
    draws = cal.sample(setting.value, _DRAWS, rng)
    _are_points(setting.space, draws, _DRAWS)
    square = float((setting.space.dist(setting.value, draws) ** 2).mean())
    ratio = square / cal.mean_squared_error()
    assert abs(ratio - 1) <= _SQUARE_OFF, f"the mean square of draws is {ratio:.3f} of the stated"
    one = cal.sample(setting.value, None, rng)
    assert one.shape == setting.space.point_shape, "size=None must give one point"


def rounded_draws(setting: Setting, cal: Calibration, count: int, rng: np.random.Generator) -> None:
    """The release path gives points that vary, as far away as the float draws."""
    space, value = setting.space, setting.value
    draws = cal.sample(value, count)
    _are_points(space, draws, count)
    assert (draws != draws[0]).any(), "draws must vary"
    expected = float(space.dist(value, cal.sample(value, _DRAWS, rng)).mean())
    ratio = float(space.dist(value, draws).mean()) / expected
    assert abs(ratio - 1) <= _MEAN_OFF, f"exact draws lie {ratio:.3f} times as far as float draws"
    assert cal.distance_bound(0.0) >= expected * (1 - 0.05), "the bound on the distance is broken"


def _are_points(space: Space, draws: Array, count: int) -> None:
    assert draws.shape == (count, *space.point_shape), "draws must be a batch of points"
    assert np.isfinite(draws).all(), "draws must be finite"
    assert space.contains(draws).all(), "draws must be points of the space"
