"""How far a release is, on stderr: only on a terminal, or where it is asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from geodp.cli.output import is_terminal
from geodp.progress import Hook, Step

progress_option = click.option(
    "--progress", is_flag=True, help="Show progress on stderr, even where that is no terminal."
)


@contextmanager
def shown(quiet: bool, forced: bool) -> Iterator[Hook | None]:
    """A hook that draws a bar with an estimate of the time left, or None."""
    terminal = is_terminal(sys.stderr)
    if not forced and (quiet or not terminal):
        yield None
    elif terminal:
        with _bar() as hook:
            yield hook
    else:
        yield _Lines()


class _Lines:
    """A line for each stage and each tenth of it, for logs."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, step: Step) -> None:
        tenth = f" {10 * (10 * step.done // step.total)} %" if step.total else ""
        line = f"geodp: {step.stage}{tenth}"
        if line != self._last:
            click.echo(line, err=True)
        self._last = line


@contextmanager
def _bar() -> Iterator[Hook]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task, stage = bars.add_task("planning", total=None), ""

        def hook(step: Step) -> None:
            nonlocal stage
            if step.stage != stage:
                stage = step.stage
                bars.reset(task, description=stage, total=step.total or None)
            bars.update(task, completed=step.done)

        yield hook
