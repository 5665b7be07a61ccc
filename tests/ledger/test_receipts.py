"""Signed receipts: every change of any field is found; what they say of the guarantee is true."""

from __future__ import annotations

import base64
import contextlib
import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from scipy.stats import norm

import geodp as gd

SCHEMA = json.loads(files("geodp.ledger").joinpath("schema_v1.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
MEAN = gd.FrechetMean(gd.Ball(gd.SPD(2), np.eye(2), 1.0, physical_unit="mm²/s"))
RECORDS = np.broadcast_to(np.eye(2), (30, 2, 2))


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> tuple[gd.Release, gd.Ledger]:
    place = tmp_path_factory.mktemp("ledger") / "budget.db"
    ledger = gd.Ledger.create(place, gd.GaussianDP(2), unit="person")
    two = gd.Wrapped(gd.Gaussian(), gd.PrivateFootpoint("0.5"))
    out = gd.release(
        RECORDS, MEAN, gd.GaussianDP(1), two, ledger=ledger, dataset="étude", group="site=A"
    )
    return out, ledger


def failures(document: dict[str, Any]) -> list[str]:
    return [check.name for check in gd.verify(gd.Release.from_json(document)) if not check.passed]


def test_a_signed_receipt_verifies_wherever_it_is_read(
    signed: tuple[gd.Release, gd.Ledger], tmp_path: Path
) -> None:
    out, ledger = signed
    out.save(tmp_path / "receipt.json")
    read = gd.Release.load(tmp_path / "receipt.json")
    assert read.to_json() == out.to_json()
    assert [check.passed for check in gd.verify(read)] == [True] * 8
    VALIDATOR.validate(json.loads((tmp_path / "receipt.json").read_text()))
    document = out.to_json()
    assert document["signature"]["public_key"] == ledger.public_key
    mark = document["outcome"]["ledger"]
    entry = ledger.history()[mark["entry"] - 1]
    assert (entry["number"], entry["hash"]) == (mark["entry"], mark["hash"])
    assert (mark["id"], mark["dataset"], mark["group"]) == (ledger.id, "étude", "site=A")
    assert (mark["notion"], mark["price"]) == ("gdp", "1")


def test_the_signature_is_checked_by_another_program(signed: tuple[gd.Release, gd.Ledger]) -> None:
    """As the documentation says: sorted keys, no spaces, UTF-8, without the signature."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    document = json.loads(json.dumps(signed[0].to_json()))
    signature = document.pop("signature")
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(signature["public_key"]))
    key.verify(base64.b64decode(signature["value"]), text.encode())


def leaves(document: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in items:
        if isinstance(value, (dict, list)):
            yield from leaves(value, (*at, key))
        else:
            yield (*at, key)


def changed(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return not value if isinstance(value, bool) else "x"
    if isinstance(value, str):
        return value[:-1] + ("2" if value[-1] != "2" else "3")
    return value + 1


def test_every_change_is_found(tmp_path: Path) -> None:
    ledger = gd.Ledger.create(tmp_path / "budget.db", gd.GaussianDP(2), unit="person")
    paid = {"ledger": ledger, "dataset": "étude", "group": "site=A"}
    out = gd.release(RECORDS, MEAN, gd.GaussianDP(1), "wrapped-gaussian", **paid)
    whole = json.loads(json.dumps(out.to_json()))
    count = 0
    for path in leaves(whole):
        spoilt = copy.deepcopy(whole)
        part = spoilt
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = changed(part[path[-1]])
        with contextlib.suppress(gd.InputError):  # no receipt any more
            assert failures(spoilt), path
        count += 1
    assert count > 40


def test_a_receipt_signed_by_someone_else_names_their_key(
    signed: tuple[gd.Release, gd.Ledger], tmp_path: Path
) -> None:
    out = signed[0]
    other = gd.Ledger.create(tmp_path / "b.db", gd.GaussianDP(1), unit="person")
    forged = replace(out, seal=None)
    forged = replace(forged, seal=other.keys.seal(forged.signed_text()))
    detail = gd.verify(forged)[-1].detail
    assert forged.seal is not None
    assert forged.seal.fingerprint in detail
    assert out.seal is not None
    assert out.seal.fingerprint not in detail


def test_a_release_changed_in_memory_is_found(signed: tuple[gd.Release, gd.Ledger]) -> None:
    moved = replace(signed[0], value=signed[0].value * 2)
    assert "signature" in [check.name for check in gd.verify(moved) if not check.passed]
    unsigned = replace(signed[0], seal=None)
    assert "signature" in [check.name for check in gd.verify(unsigned) if not check.passed]


@pytest.mark.parametrize(
    "signature", [3, "x", {}, {"algorithm": "rsa", "public_key": "", "value": ""}]
)
def test_an_ill_formed_signature_is_refused(
    signed: tuple[gd.Release, gd.Ledger], signature: Any
) -> None:
    with pytest.raises(gd.InputError, match="signature"):
        gd.Release.from_json(signed[0].to_json() | {"signature": signature})


def test_a_signature_has_no_field_too_many(signed: tuple[gd.Release, gd.Ledger]) -> None:
    document = signed[0].to_json()
    document["signature"] |= {"note": "All is well."}
    with pytest.raises(gd.InputError, match="ill-formed"):
        gd.Release.from_json(document)


def test_receipts_of_before_are_read() -> None:
    document = gd.release(RECORDS, MEAN, gd.GaussianDP(1), "wrapped-gaussian").to_json()
    del document["signature"], document["outcome"]["strength"], document["outcome"]["ledger"]
    assert failures(document) == []


def strength(guarantee: Any, mechanism: Any = "best", **how: Any) -> Any:
    found = gd.release(RECORDS, MEAN, guarantee, mechanism, **how).strength
    assert found is not None
    return found


def test_gaussian_dp_in_other_words() -> None:
    """Closed forms: the test of N(0, 1) against N(1, 1), and epsilon at 1e-6 by its delta."""
    found = strength(gd.GaussianDP(1), gd.Wrapped(gd.Gaussian()))
    assert found.mu == 1.0
    assert found.detects_at_1_percent == pytest.approx(norm.cdf(1 + norm.ppf(0.01)), abs=2e-6)
    assert found.detects_at_10_percent == pytest.approx(norm.cdf(1 + norm.ppf(0.1)), abs=2e-6)
    e = found.epsilon
    assert found.delta == 1e-6
    delta = norm.cdf(0.5 - e) - np.exp(e) * norm.cdf(-0.5 - e)
    assert delta == pytest.approx(1e-6, rel=1e-6)


def test_pure_dp_in_other_words() -> None:
    found = strength(gd.PureDP(0.5))
    assert (found.epsilon, found.delta) == (0.5, 0.0)
    assert found.detects_at_1_percent <= 0.01 * np.exp(0.5) + 2e-6
    assert found.mu <= 2 * norm.ppf(np.exp(0.5) / (1 + np.exp(0.5))) * (1 + 1e-9)


def test_approximate_dp_by_a_gaussian_knows_its_mu() -> None:
    found = strength(gd.ApproxDP(1, 1e-5), gd.Wrapped(gd.Gaussian()), replaced=0)
    assert (found.epsilon, found.delta) == (1.0, 1e-5)
    assert found.mu == pytest.approx(1 / 3.7307, rel=1e-3)
    assert found.detects_at_1_percent <= norm.cdf(found.mu + norm.ppf(0.01)) + 2e-6


@pytest.mark.parametrize("guarantee", [gd.ZCDP(0.1), gd.RenyiDP(3, 0.2)], ids=repr)
def test_others_state_epsilon_at_a_millionth(guarantee: Any) -> None:
    found = strength(guarantee, gd.Wrapped(gd.Gaussian()))
    assert found.delta == 1e-6
    assert 0 < found.epsilon < 50
    assert 0.01 < found.detects_at_1_percent < found.detects_at_10_percent <= 1


def test_words_and_rows_round_attack_power_alike() -> None:
    """Phi(1 + Phi^-1(0.01)) = 0.0924, up to a tenth of a per cent."""
    one = gd.GivenValue(gd.Euclidean(1), [0.0], 1.0)
    out = gd.release(None, one, gd.GaussianDP(1), gd.Wrapped(gd.Gaussian()))
    assert "more than 9.3 %" in out.guarantee.text
    assert "on 1 % detects at most 9.3 %, on 10 % at most 39 %" in repr(out)


def test_a_registry_entry_has_what_registries_ask_for(tmp_path: Path) -> None:
    ball = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.4)
    north = np.tile([0.0, 0.0, 1.0], (50, 1))
    ledger = gd.Ledger.create(tmp_path / "b.db", gd.GaussianDP(2), unit="patient")
    out = gd.release(north, gd.FrechetMean(ball), gd.GaussianDP(1), ledger=ledger, dataset="heads")
    entry = out.registry_entry()
    assert entry["privacy unit"] == "patient"
    assert entry["privacy parameters"] == {"notion": "gdp", "mu": "1"}
    assert entry["accounting"] == f"ledger {out.ledger.id}, entry {out.ledger.entry}"
    assert entry["clipping"] == "ball of radius 0.4"
    assert entry["as (epsilon, delta)"] == pytest.approx([4.8866, 1e-6], rel=1e-4)
    assert entry["randomness"] == "private"
    json.dumps(entry)
