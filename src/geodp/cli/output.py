"""JSON on stdout, prose and progress on stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import click

from geodp.errors import InputError


@final
@dataclass(frozen=True)
class Output:
    """Where a command speaks; ``quiet`` (``--json``) leaves stdout alone."""

    quiet: bool

    def prose(self, text: str) -> None:
        """Words for a person."""
        if not self.quiet:
            click.echo(text, err=True)

    def document(self, facts: dict[str, Any]) -> None:
        """The one JSON document of a command; where it shares a terminal with the words, a line
        lies between."""
        unicode = "utf" in (getattr(sys.stdout, "encoding", None) or "").lower()
        click.echo(json.dumps(_finite(facts), indent=2, ensure_ascii=not unicode, allow_nan=False))
        if not self.quiet and is_terminal(sys.stdout) and is_terminal(sys.stderr):
            click.echo(err=True)


def is_terminal(stream: Any) -> bool:
    return stream is not None and bool(stream.isatty())


def _finite(x: Any) -> Any:
    """JSON has no NaN and no infinity: they become null."""
    if isinstance(x, dict):
        return {key: _finite(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [_finite(value) for value in x]
    return None if isinstance(x, float) and x - x != 0 else x


def check_writable(path: str | None, *inputs: str | None) -> None:
    """Refuse a place that cannot be written, or that is an input, before anything is spent."""
    if path is None:
        return
    try:
        place = Path(path)
        if place.is_dir():
            raise InputError(f"--out {path!r} is a directory; name a file.")
        if not place.parent.is_dir():
            raise InputError(f"--out {path!r} lies in a directory that does not exist.")
        if any(name is not None and _is_same(place, Path(name)) for name in inputs):
            raise InputError(f"--out {path!r} is an input of this command; name another file.")
        target = place if place.exists() else place.parent
        if not os.access(target, os.W_OK):
            raise InputError(f"--out {path!r} may not be written: permission denied.")
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"--out {path!r} is no place for a file.") from error


def _is_same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


class Progress:
    """Shown on stderr if that is a terminal: that something runs, but not how far it is.

    How many passes over the records a mean takes depends on them.
    """

    def __init__(self, quiet: bool) -> None:
        self._shown = not quiet and is_terminal(sys.stderr)

    @contextmanager
    def running(self, what: str) -> Iterator[None]:
        """Show a spinner while the block runs."""
        if not self._shown:
            yield
            return
        from rich.console import Console

        with Console(stderr=True).status(what):
            yield
