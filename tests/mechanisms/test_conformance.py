"""The shipped suite on the shipped mechanisms, and on broken ones that it must reject."""

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import pytest

import geodp as gd
from geodp.mechanisms.base import Mechanism
from geodp.privacy.gaussian import GaussianProfile
from geodp.testing import check_mechanism
from geodp.testing.mechanism_laws import group_privacy, profile


@pytest.mark.parametrize("noise", [gd.Gaussian(), gd.L2Laplace()], ids=lambda n: n.name)
@pytest.mark.parametrize(
    "space", [gd.Euclidean(1), gd.SPD(2), gd.Hyperbolic(3)], ids=lambda s: s.spec
)
def test_wrapped_noise_obeys_all_laws(noise: gd.Gaussian, space: gd.SPD) -> None:
    check_mechanism(gd.Wrapped(noise), space, seed=1)


def test_on_a_ball_of_the_sphere() -> None:
    space = gd.Sphere(2)
    check_mechanism(gd.Wrapped(gd.Gaussian()), space, gd.Ball(space, space.origin, 0.5), seed=2)


class Broken(Mechanism):
    """Wrapped Gaussian noise, its calibration replaced by a spoilt one."""

    def __init__(self, **spoil: object) -> None:
        self.inner, self.spoil = gd.Wrapped(gd.Gaussian()), spoil

    @property
    def name(self) -> str:
        return "broken"

    def why_not(self, *args: object) -> str | None:
        return self.spoil.get("reason") or self.inner.why_not(*args)  # type: ignore[return-value]

    def calibrate(self, *args: object) -> object:
        return Spoilt(self.inner.calibrate(*args), self.spoil)

    def stages(self, guarantee: gd.GaussianDP) -> tuple[object, ...]:
        stage = self.inner.stages(guarantee)
        return stage * int(self.spoil.get("stages", 1))

    def at(self, point: np.ndarray) -> object:
        return self

    def offset(self, ball: gd.Ball) -> float:
        return 0.0


class Spoilt:
    """A calibration that answers from ``spoil`` where it can."""

    def __init__(self, inner: object, spoil: dict[str, object]) -> None:
        self.inner, self.spoil = inner, spoil

    def __getattr__(self, name: str) -> object:
        return self.spoil.get(name, getattr(self.inner, name))

    def sample(self, value: object, size: int | None = None, rng: object = None) -> np.ndarray:
        factor = self.spoil.get("exact" if rng is None else "float", 1)
        return dataclasses.replace(self.inner, scale=self.inner.scale * factor).sample(
            value, size, rng
        )


@pytest.mark.parametrize(
    ("spoil", "law"),
    [
        ({"float": 0.7}, "float draws"),
        ({"float": 1.3}, "float draws"),
        ({"exact": 0.7}, "exact draws"),
        ({"exact": 1.3}, "exact draws"),
        ({"profile": GaussianProfile.of(3)}, "promise"),
        ({"facts": lambda: {"scale": 1.0}}, "facts"),
        ({"facts": lambda: {"scale": np.float64("nan")}}, "facts"),
        ({"distance_bound": lambda distance: 1e-9}, "exact draws"),
        ({"reason": "no"}, "why_not"),
        ({"stages": 2}, "stages"),
        ({"scale": 0.0}, "why_not"),
    ],
)
def test_a_broken_mechanism_is_rejected(spoil: dict[str, object], law: str) -> None:
    with pytest.raises((AssertionError, ValueError), match=f"{law}|JSON"):
        check_mechanism(Broken(**spoil), gd.Euclidean(2), guarantees=[gd.GaussianDP("0.5")])


class Given:
    """δ(ε) as told, without the checks of a profile."""

    def __init__(self, delta: Callable[[float], float]) -> None:
        self.delta = delta


@pytest.mark.parametrize(
    "delta",
    [
        lambda e: 1 - 1 / (1 + math.exp(e)),  # rises
        lambda e: 0.1,  # below 1 − e^ε
        lambda e: 1.0 if e < 1.2 else 0.0,  # not convex
        lambda e: 1.01,
    ],
)
def test_a_profile_that_is_no_profile_is_rejected(delta: Callable[[float], float]) -> None:
    with pytest.raises(AssertionError, match="delta"):
        profile(Given(delta))  # type: ignore[arg-type]


def test_two_steps_cost_at_most_two() -> None:
    one = GaussianProfile.of("0.1")
    group_privacy(one, GaussianProfile.of("0.2"))
    with pytest.raises(AssertionError, match="two steps"):
        group_privacy(one, GaussianProfile.of("0.26"))
