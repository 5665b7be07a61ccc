"""What a shell offers at the tab key, where an option's type does not say it by itself.

Click asks for it when the variable ``_GEODP_COMPLETE`` is set, as the shells' scripts do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import final

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType

_SPACES = {
    "euclidean:3": "vectors of three numbers",
    "sphere:2": "directions",
    "hyperbolic:2": "points of the hyperbolic plane",
    "shapes:5": "shapes of five landmarks in the plane",
    "spd:3": "3 x 3 covariance matrices and tensors",
    "spd:3:log-euclidean": "the same in a flat metric",
    "spd:3:log-cholesky": "the same in another flat metric",
    "spd:3^1000": "maps of 1000 such matrices",
    "sphere:2+euclidean:1": "directions, each with a number",
}
_METRICS = ("affine-invariant", "log-euclidean", "log-cholesky")


def _files(incomplete: str) -> Iterator[CompletionItem]:
    yield CompletionItem(incomplete, type="file")


def _spaces(incomplete: str) -> Iterator[CompletionItem]:
    known = dict(_SPACES)
    if matrices := re.match(r"spd:[0-9]+(?=:)", incomplete):
        known |= {f"{matrices[0]}:{metric}": "" for metric in _METRICS}
    for spec, what in known.items():
        if spec.startswith(incomplete):
            yield CompletionItem(spec, help=what or None)


def _points(incomplete: str) -> Iterator[CompletionItem]:
    if "origin".startswith(incomplete):
        yield CompletionItem("origin", help="the space's own centre")
    yield from _files(incomplete)


_OFFERS: Mapping[str, Callable[[str], Iterator[CompletionItem]]] = {
    **dict.fromkeys(("FILE", "PATH", "PAGE", "RECEIPT", "LEDGER", "L", "NEW"), _files),
    "S": _spaces,
    "P": _points,
}
"""By a word of the option's or argument's place holder."""


@final
class _Offered(StringParamType):
    """Text as it was typed, with an offer."""

    def __init__(self, offer: Callable[[str], Iterator[CompletionItem]]) -> None:
        self._offer = offer

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return list(self._offer(incomplete))


def offer(command: click.Command) -> None:
    """Give every text of the command, and of the commands below it, what its place holder calls
    for."""
    for below in getattr(command, "commands", {}).values():
        offer(below)
    for param in command.params:
        for word in re.findall("[A-Z]+", param.metavar or (param.name or "").upper()):
            if param.type is click.STRING and word in _OFFERS:
                param.type = _Offered(_OFFERS[word])
