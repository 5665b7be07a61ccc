"""Receipts that this session has seen, by the hash of their text."""

from __future__ import annotations

import base64
import json
import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from typing import final

import geodp as gd
from geodp.errors import GeodpError, InputError
from geodp.ledger.canonical import canonical, sha256
from geodp.report.inference import region_svg
from geodp.report.picture import picture_uri
from geodp.web.tasks import Outcome

_KEPT = 100
_LONGEST = 20_000_000


@final
@dataclass(frozen=True, eq=False)
class Kept:
    """A receipt with its name here; ``made`` tells those released in this session."""

    name: str
    release: gd.Release
    made: bool

    @cached_property
    def picture(self) -> bytes | None:
        """The released value as SVG; None where it cannot be drawn, or by nothing installed."""
        try:
            uri = picture_uri(self.release)
        except GeodpError:
            return None
        return None if uri is None else base64.b64decode(uri.partition(",")[2])


@final
@dataclass(frozen=True, eq=False)
class Inferred:
    """An inference of this session, with its name here and that of each of its receipts."""

    name: str
    found: gd.Inference
    receipts: tuple[tuple[str, str], ...]

    @cached_property
    def picture(self) -> bytes | None:
        """The confidence region as SVG; None where nothing installed can draw it."""
        return region_svg(self.found)


@final
class Receipts:
    """The latest receipts; safe between threads."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, Kept] = OrderedDict()
        self._inferred: OrderedDict[str, Inferred] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, release: gd.Release, *, made: bool) -> Kept:
        """Hold a receipt; the same one keeps its name."""
        name = sha256(canonical(release.to_json()))[:32]
        with self._lock:
            before = self._held.pop(name, None)
            kept = Kept(name, release, made)
            if before is not None and before.made >= made:
                kept = before
            self._held[name] = kept
            while len(self._held) > _KEPT:
                self._held.popitem(last=False)
        return kept

    def place_of(self, outcome: Outcome) -> str:
        """Keep what was released in this session; the address of its page."""
        if isinstance(outcome, gd.Inference):
            return f"/inference/{self._infer(outcome).name}"
        return f"/receipt/{self.keep(outcome, made=True).name}"

    def _infer(self, found: gd.Inference) -> Inferred:
        names = {part: self.keep(one, made=True).name for part, one in found.releases.items()}
        name = sha256(canonical(names))[:32]
        with self._lock:
            kept = self._inferred.setdefault(name, Inferred(name, found, tuple(names.items())))
            while len(self._inferred) > _KEPT:
                self._inferred.popitem(last=False)
        return kept

    def inferred(self, name: str) -> Inferred | None:
        """The inference of that name."""
        with self._lock:
            return self._inferred.get(name)

    def inferences(self) -> list[Inferred]:
        """Those of this session, the latest first."""
        with self._lock:
            return list(reversed(self._inferred.values()))

    def get(self, name: str) -> Kept | None:
        """The receipt of that name."""
        with self._lock:
            return self._held.get(name)

    def made(self) -> list[Kept]:
        """Those released in this session, the latest first."""
        with self._lock:
            return [kept for kept in reversed(self._held.values()) if kept.made]


def read(text: bytes) -> gd.Release:
    """A receipt from what was sent; ``InputError`` with a sentence where it is none."""
    if not text.strip():
        raise InputError("Send a receipt, the JSON document that a release gave.")
    if len(text) > _LONGEST:
        raise InputError("This is too long for a receipt.")
    try:
        document = json.loads(text.decode("utf-8"))
        json.dumps(document, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise InputError("This is no JSON document.") from error
    try:
        release = gd.Release.from_json(document)
        canonical(release.to_json())
    except GeodpError:
        raise
    except (ValueError, TypeError, OverflowError, RecursionError, LookupError) as error:
        raise InputError("The receipt has a field of the wrong kind.") from error
    return release
