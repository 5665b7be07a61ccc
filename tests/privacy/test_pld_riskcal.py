"""Operational risk of compositions against riskcal 1.5.1 (values by gen_riskcal.py).

Advantage is δ(0); the least false-negative rate at a false-positive rate α is the supremum over ε
of 1 − δ(ε) − e^ε α. Ours rest on upper bounds of δ: never less risk, and hardly more.
"""

import math

import numpy as np
import pytest

from geodp.privacy.compose import compose
from geodp.privacy.gaussian import GaussianProfile
from geodp.privacy.pld_profile import PLDProfile
from geodp.privacy.profile import Profile

RISKS = {
    "100 gaussian": (
        0.3829249781233822,
        [0.907637803294148, 0.6108563912374017, 0.1586553037797952],
    ),
    "100 laplace": (
        0.37748863392016846,
        [0.9106057547613075, 0.6169403080757622, 0.1624521579779641],
    ),
    "mixture": (0.41514949543374646, [0.8914169430988901, 0.5749494503075246, 0.13728669421663742]),
}


def laplace(epsilon: float) -> float:
    return max(0.0, -math.expm1((epsilon - 0.1) / 2)) * (1 + 1e-15)


LAPLACE = Profile.from_delta(laplace, pure=0.1)
WHOLE = {
    "100 gaussian": lambda: PLDProfile.composed([(GaussianProfile.of("0.1"), 100)], 64),
    "100 laplace": lambda: compose([LAPLACE] * 100),
    "mixture": lambda: compose([GaussianProfile.of("0.5")] * 4 + [LAPLACE] * 20),
}


@pytest.mark.parametrize("case", RISKS)
def test_risks(case: str) -> None:
    whole, (advantage, betas) = WHOLE[case](), RISKS[case]
    assert advantage * (1 - 1e-6) <= whole.delta(0) <= advantage * (1 + 2e-3)
    losses = np.linspace(-4, 6, 501)
    deltas = np.array([whole.delta(float(x)) for x in losses])
    for alpha, beta in zip((0.01, 0.1, 0.5), betas, strict=True):
        least = float((1 - deltas - np.exp(losses) * alpha).max())
        assert beta * (1 - 3e-3) <= least <= beta * (1 + 1e-6)
