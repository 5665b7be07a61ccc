"""Every leaf of a receipt edited: found by verify, or one of those taken on the receipt's word."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geodp as gd

MEAN = gd.FrechetMean(gd.Ball(gd.Sphere(2), np.array([0.0, 0.0, 1.0]), 0.6))
NORTH = np.broadcast_to([0.0, 0.0, 1.0], (30, 3))
DECLARED = {
    "request.statistic": "a stranger's statistic, on its author's word",
    "request.domain.center": "a public choice, from which the rest must follow",
    "request.domain.physical_unit": "declared",
    "request.domain.component_order": "declared",
    "request.domain.frame": "declared",
    "request.unit": "a public choice",
    "outcome.value": "drawn",
    "outcome.replaced.share": "drawn",
    "outcome.stages.0.footpoint": "a public choice",
    "outcome.released_at": "the program's clock",
    "outcome.versions": "the program's word",
}
Path_ = tuple[str | int, ...]


def leaves(document: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    parts: Any = ()
    if isinstance(document, dict):
        parts = document.items()
    elif isinstance(document, list):
        parts = enumerate(document)
    else:
        yield path, document
    for name, part in parts:
        yield from leaves(part, (*path, name))


def edits(leaf: Any) -> list[Any]:
    if leaf is None:
        return ["x", 0.5, {}]
    if isinstance(leaf, bool):
        return [not leaf, int(leaf)]
    if isinstance(leaf, str):
        return [leaf + "x", leaf + " ", "", None, 3]
    return [leaf * 0.99 - 1e-3, -leaf - 1, leaf + 1, str(leaf), None]


def edited(document: dict[str, Any], path: Path_, leaf: Any) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    part: Any = changed
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = leaf
    return changed


def passes(document: dict[str, Any]) -> bool:
    try:
        release = gd.Release.from_json(json.loads(json.dumps(document)))
    except gd.GeodpError:
        return False
    return all(check.passed for check in gd.verify(release))


def survivors(document: dict[str, Any]) -> set[str]:
    assert passes(document)
    return {
        ".".join(map(str, path))
        for path, leaf in leaves(document)
        if any(passes(edited(document, path, other)) for other in edits(leaf))
    }


def declared(name: str) -> bool:
    return any(name == one or name.startswith(one + ".") for one in DECLARED)


@pytest.mark.parametrize(
    ("promise", "mechanism"),
    [(gd.GaussianDP(1), gd.Wrapped(gd.Gaussian())), (gd.PureDP(1), gd.RiemannianLaplace())],
    ids=["wrapped", "riemannian"],
)
def test_an_unsigned_receipt(promise: gd.PureDP, mechanism: gd.RiemannianLaplace) -> None:
    out = gd.release(NORTH, MEAN, promise, mechanism).to_json()
    found = survivors(out)
    assert {name for name in found if not declared(name)} == set()
    assert "outcome.value.0" not in survivors_of_types(out)


def survivors_of_types(document: dict[str, Any]) -> set[str]:
    """Numbers written as texts, which is no way that geodp writes them."""
    return {
        ".".join(map(str, path))
        for path, leaf in leaves(document)
        if isinstance(leaf, float) and passes(edited(document, path, str(leaf)))
    }


def test_a_signed_receipt_has_no_leaf_that_can_be_changed(tmp_path: Path) -> None:
    ledger = gd.Ledger.create(tmp_path / "b.db", gd.GaussianDP(2), unit="person")
    noise = gd.Wrapped(gd.Gaussian())
    out = gd.release(NORTH, MEAN, gd.GaussianDP(1), noise, ledger=ledger, dataset="s")
    document = out.to_json()
    assert survivors(document) == set()
    for name in ("value", "public_key"):  # base64 has one way to write a text
        text = document["signature"][name]
        for other in (text + "!", "\n" + text, text + "====", text[:-2] + "~" + text[-2:]):
            assert not passes(edited(document, ("signature", name), other))


def test_a_field_too_many_is_found() -> None:
    document = gd.release(NORTH, MEAN, gd.GaussianDP(1), gd.Wrapped(gd.Gaussian())).to_json()
    for path in ((), ("request",), ("outcome",), ("outcome", "sensitivity")):
        assert not passes(edited(document, (*path, "certified"), True))


def test_a_ball_too_wide_for_a_mean_does_not_make_it_a_strangers() -> None:
    """Beyond pi/2 there is no sensitivity: a tiny one must not be taken on anybody's word."""
    document = gd.release(NORTH, MEAN, gd.PureDP(1), gd.RiemannianLaplace(), replaced=0).to_json()
    document = edited(document, ("request", "domain", "radius"), 1.6)
    checks = gd.verify(gd.Release.from_json(document))
    assert "sensitivity" in {check.name for check in checks if not check.passed}


def test_noise_on_another_space_is_found() -> None:
    variance = gd.FrechetVariance(MEAN.ball)
    document = gd.release(NORTH, variance, gd.PureDP(1)).to_json()
    assert passes(document)
    for other in ("euclidean:1x", "euclidean:2", "", None, 3):
        assert not passes(edited(document, ("outcome", "stages", 0, "space"), other))
    drawn = document["outcome"]["stages"][0]["drawn"][0]
    assert not passes(edited(document, ("outcome", "stages", 0, "drawn", 0), str(drawn)))
