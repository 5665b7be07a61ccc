"""verify finds every tampering with the public numbers of a receipt."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import geodp as gd


@pytest.fixture(scope="module")
def receipt() -> dict[str, Any]:
    ball = gd.Ball(gd.SPD(2), np.eye(2), 1.0)
    x = np.broadcast_to(np.eye(2), (30, 2, 2))
    two_step = gd.Wrapped(gd.Gaussian(), gd.PrivateFootpoint("0.5"))
    return gd.release(x, gd.FrechetMean(ball), gd.GaussianDP(1), two_step).to_json()


def tampered(receipt: dict[str, Any], change: Callable[[dict[str, Any]], object]) -> list[str]:
    document = copy.deepcopy(receipt)
    change(document)
    return [check.name for check in gd.verify(gd.Release.from_json(document)) if not check.passed]


def test_an_honest_receipt_passes(receipt: dict[str, Any]) -> None:
    assert tampered(receipt, lambda d: None) == []


@pytest.mark.parametrize(
    ("change", "caught"),
    [
        (lambda d: d["outcome"].update(private=False), "noise"),
        (lambda d: d["outcome"].update(value=[[1, 2], [2, 1]]), "value"),
        (lambda d: d["outcome"].update(value=[1, 2]), "value"),
        (lambda d: d["request"].update(neighbours="add or remove one record"), "neighbours"),
        (lambda d: d["request"].update(n=300), "words"),
        (lambda d: d["request"].update(n=None), "sensitivity"),
        (lambda d: d["request"].update(domain=None), "sensitivity"),
        (lambda d: d["request"].update(mechanism="wrapped-l2-laplace"), "scale"),
        (lambda d: d["outcome"].update(expected_distance=1e-9), "words"),
        (lambda d: d["outcome"].update(guarantee_in_words="perfectly private"), "words"),
        (lambda d: d["outcome"].update(notes=[]), "words"),
        (lambda d: d["outcome"]["sensitivity"].update(total=1e-3), "words"),
        (lambda d: d["outcome"]["strength"].update(mu=1e-3), "scale"),
        (lambda d: d["outcome"]["strength"].update(epsilon=1e-3), "scale"),
        (lambda d: d["outcome"]["stages"][1].update(tangent_sensitivity=1e-9), "scale"),
        (lambda d: d["request"].update(n=3), "sensitivity"),
        (lambda d: d["request"]["domain"].update(radius=2.0), "sensitivity"),
        (lambda d: d["outcome"]["sensitivity"].update(statistic=0.01), "sensitivity"),
        (lambda d: d["outcome"]["sensitivity"].update(error_bound=0.0), "sensitivity"),
        (lambda d: d["outcome"]["stages"][0].update(scale=0.01), "scale"),
        (lambda d: d["outcome"]["stages"][1].update(scale=0.01), "scale"),
        (lambda d: d["outcome"]["stages"][1].update(name="magic"), "scale"),
        (lambda d: d["outcome"]["stages"][1].pop("footpoint"), "scale"),
        (lambda d: d["outcome"]["stages"][0].update(reached=1e-9), "scale"),
        (lambda d: d["outcome"]["stages"][1].update(drawn=[[1, 0], [0, 1]]), "scale"),
        (lambda d: d["outcome"]["replaced"]["stage"].update(count=3), "scale"),
        (lambda d: d["request"]["guarantee"].update(mu="0.9"), "guarantee"),
        (
            lambda d: d["outcome"]["stages"][0]["guarantee"].update(mu="0.8"),
            "guarantee",
        ),
    ],
)
def test_tampering_is_found(
    receipt: dict[str, Any], change: Callable[[dict[str, Any]], object], caught: str | None
) -> None:
    found = tampered(receipt, change)
    assert (found == []) if caught is None else (caught in found)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda d: d.update(schema="geodp/release/v9"), "schema"),
        (lambda d: d.pop("request"), "lacks"),
        (lambda d: d["request"].pop("space"), "'space'"),
        (lambda d: d["request"].update(space="torus:2"), "torus"),
        (lambda d: d["request"]["guarantee"].update(mu="nan"), "mu"),
        (lambda d: d["outcome"].update(value="x"), "wrong type"),
        (lambda d: d["outcome"].update(stages=3), "wrong type"),
        (lambda d: d["outcome"].update(stages=[]), "no stage"),
        (lambda d: d["request"].update(unit=3), "wrong type"),
        (lambda d: d["request"].update(n=-5), "at least two"),
        (lambda d: d["request"].update(n=30.9), "at least two"),
        (lambda d: d["request"].update(n="30"), "at least two"),
        (lambda d: d["outcome"].update(expected_distance=float("nan")), "finite"),
    ],
)
def test_a_broken_receipt_is_refused_in_a_sentence(
    receipt: dict[str, Any], change: Callable[[dict[str, Any]], object], match: str
) -> None:
    document = copy.deepcopy(receipt)
    change(document)
    with pytest.raises(gd.InputError, match=match):
        gd.Release.from_json(document)


def test_verify_takes_a_release_only() -> None:
    with pytest.raises(gd.InputError, match=r"Release\.load"):
        gd.verify({"schema": "x"})  # type: ignore[arg-type]


def test_a_release_without_noise_fails(receipt: dict[str, Any]) -> None:
    bare = dataclasses.replace(gd.Release.from_json(receipt), stages=())
    failed = {check.name for check in gd.verify(bare) if not check.passed}
    assert "guarantee" in failed


@pytest.mark.parametrize("metric", ["affine-invariant", "log-euclidean", "log-cholesky"])
def test_an_honest_release_verifies_however_wide_its_noise(metric: str) -> None:
    space = gd.SPD(2, metric)
    mean = gd.FrechetMean(gd.Ball(space, np.eye(2), 1.0))
    for mu in ("0.05", "0.01", "0.001"):
        x = np.broadcast_to(np.eye(2), (5, 2, 2))
        out = gd.release(x, mean, gd.GaussianDP(mu), "wrapped-gaussian")
        again = gd.Release.from_json(json.loads(json.dumps(out.to_json())))
        assert [check for check in gd.verify(again) if not check.passed] == []
