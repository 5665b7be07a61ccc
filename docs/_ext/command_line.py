"""The command-line page is each command's own ``--help``."""

from __future__ import annotations

import click
from sphinx.application import Sphinx

from geodp.cli import main

MARKER = "COMMAND-HELP"
WIDTH = 88


def _help(command: click.Command, parent: click.Context | None, name: str) -> str:
    context = click.Context(command, info_name=name, parent=parent, terminal_width=WIDTH)
    return f"```text\n{command.get_help(context)}\n```\n"


def _listing() -> str:
    root = click.Context(main, info_name="geodp")
    parts = [_help(main, None, "geodp")]
    for name, command in main.commands.items():
        parts.append(f"## geodp {name}\n\n{_help(command, root, name)}")
        if isinstance(command, click.Group):
            above = click.Context(command, info_name=name, parent=root)
            parts += [_help(below, above, part) for part, below in command.commands.items()]
    return "\n".join(parts)


def _insert(app: Sphinx, docname: str, source: list[str]) -> None:
    if MARKER in source[0]:
        source[0] = source[0].replace(MARKER, _listing())


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", _insert)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
