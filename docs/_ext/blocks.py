"""Run the code blocks of a page, in their order, in a folder of their own.

=================  ==========================================================================
fence              what happens
=================  ==========================================================================
``python``         executed; the blocks of a page share one namespace. With ``>>>``: a doctest.
``sh``             run by ``bash -euo pipefail``, this environment's ``geodp`` first on PATH
``console``        ``$ geodp …`` lines, run in this process; ``# ends with N`` states the exit
                   code, the lines below must be among what it prints
``text``, others   shown. ``text same``: must be what the block before printed; ``...`` is
                   anything in a line, alone on a line any lines. ``text form``: the same with
                   every number replaced by ``#``. ``<!-- perhaps: LINE -->`` just before: a line
                   that noise adds now and then
``… norun``        not run; an HTML comment just before says why: ``<!-- not run: reason -->``
=================  ==========================================================================

``<!-- setup … -->`` holds Python that is run and not shown. ``<!-- file: NAME -->`` writes the
fence that follows it to that file.

    python docs/_ext/blocks.py docs/tutorials/*.md    # run, and refresh the committed figures
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CODE = ("python", "sh", "console")
# with the blanks around it: numpy's columns widen where a number is negative or long
NUMBER = re.compile(r"[ \t]*(?<![\w.:])[-+]?\d+(\.\d*)?(e[-+]?\d+)?(?![\w])[ \t]*")


class PageError(Exception):
    """A block of a page failed, or printed something else than the page shows."""


@dataclass(frozen=True)
class Block:
    """A fence or a hidden comment: its language, its flags, its text and where it begins."""

    language: str
    flags: tuple[str, ...]
    text: str
    page: Path
    line: int  # of the text's first line, counted from one
    comment: str = ""  # the HTML comment just before

    @property
    def place(self) -> str:
        """Page and line, as compilers print them."""
        return f"{self.page.name}:{self.line}"

    @property
    def runs(self) -> bool:
        """Whether the block is code that is run."""
        return self.language in CODE and "norun" not in self.flags

    def told(self, key: str) -> str:
        """What the comment just before says under ``key:``, or nothing."""
        found = re.fullmatch(rf"{key}:\s*(.+?)\s*", self.comment, re.DOTALL)
        return found[1] if found else ""


def blocks_of(page: Path) -> list[Block]:
    """The fences and hidden set-up blocks of a page, in their order."""
    lines = page.read_text(encoding="utf-8").split("\n")
    found: list[Block] = []
    comment, at = "", 0
    while at < len(lines):
        if fence := re.match(r"( *)(`{3,}|~{3,}|:{3,})(.*)", lines[at]):
            indent, ticks, info = fence.groups()
            end = next((i for i in range(at + 1, len(lines)) if lines[i].strip() == ticks), at)
            if end == at:
                raise PageError(f"{page.name}:{at + 1}: This block does not end")
            text = "".join(x.removeprefix(indent) + "\n" for x in lines[at + 1 : end])
            language, _, flags = info.strip().partition(" ")
            found.append(Block(language, tuple(flags.split()), text, page, at + 2, comment))
            comment, at = "", end + 1
        elif lines[at].startswith("<!--"):
            end = next(i for i in range(at, len(lines)) if "-->" in lines[i])
            whole = "\n".join(lines[at : end + 1]).strip()
            comment = whole.removeprefix("<!--").removesuffix("-->").strip()
            if comment.startswith("setup\n"):
                text = comment.removeprefix("setup\n")
                found.append(Block("python", ("hidden",), text, page, at + 2))
            at = end + 1
        else:
            comment = "" if lines[at].strip() else comment
            at += 1
    return found


def run(page: Path, folder: Path) -> None:
    """Run a page's blocks in ``folder``, where the tutorials' ``data`` lies for those that read it.

    Raises ``PageError`` with the page's line if a block fails or prints something else.
    """
    data = page.parent / "data"
    if data.is_dir():
        shutil.copytree(data, folder / "data")
    namespace: dict[str, Any] = {"__name__": "__page__"}
    printed = ""
    with contextlib.chdir(folder), _quiet():
        for block in blocks_of(page):
            if name := block.told("file"):
                Path(name).write_text(block.text, encoding="utf-8")
            if block.runs:
                printed = _run(block, namespace)
            elif block.language in CODE and not block.told("not run"):
                raise PageError(f"{block.place}: No reason is given why this is not run")
            elif block.language == "text" and {"same", "form"} & {*block.flags}:
                _compare(block, printed)


def _run(block: Block, namespace: dict[str, Any]) -> str:
    """What the block printed."""
    if block.language == "sh":
        return _shell(block)
    if block.language == "console":
        return _console(block)
    if block.text.lstrip().startswith(">>>"):
        return _doctest(block, namespace)
    return _python(block, namespace)


def _python(block: Block, namespace: dict[str, Any]) -> str:
    out = io.StringIO()
    text = "\n" * (block.line - 1) + block.text  # so that a traceback shows the page's lines
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(text, str(block.page), "exec", dont_inherit=True), namespace)
        except Exception as error:
            raise PageError(f"{block.place}: {type(error).__name__}: {error}") from error
    return out.getvalue()


def _doctest(block: Block, namespace: dict[str, Any]) -> str:
    name = block.page.name
    test = doctest.DocTestParser().get_doctest(block.text, {}, name, name, block.line - 1)
    test.globs = namespace
    out = io.StringIO()
    if doctest.DocTestRunner().run(test, out=out.write, clear_globs=False).failed:
        raise PageError(f"{block.place}: {out.getvalue()}")
    return ""


def _shell(block: Block) -> str:
    here = str(Path(sys.executable).parent)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.text],
        env=os.environ | {"PATH": here + os.pathsep + os.environ["PATH"], "MPLBACKEND": "agg"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise PageError(f"{block.place}: Ended with {done.returncode}.\n{done.stdout}")
    return done.stdout


def _console(block: Block) -> str:
    """Many commands in one process: starting Python for each would take most of the time."""
    from click.testing import CliRunner

    from geodp.cli import main

    printed = ""
    text = block.text.replace("\\\n", " ")  # a command on several lines
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, shown = part.partition("\n")
        words, _, ending = line.partition("    # ends with ")
        program, *rest = shlex.split(words)
        if program != "geodp":
            raise PageError(f"{block.place}: Only geodp runs here, not {program}")
        result = CliRunner().invoke(main, rest)
        if result.exit_code != int(ending or 0):
            raise PageError(f"{block.place}: {line}\n{result.output}")
        if missing := [x for x in shown.splitlines() if x not in result.output]:
            raise PageError(f"{block.place}: {line}\n{result.output}\nlacks {missing}")
        printed += result.output
    return printed


def _compare(block: Block, printed: str) -> None:
    want, got = block.text, printed
    if "form" in block.flags:
        want, got = NUMBER.sub("#", want), NUMBER.sub("#", got)
    rare = block.told("perhaps")
    lines = [" ".join(x.split()) for x in got.splitlines() if x.strip() not in ("", rare)]
    if not re.fullmatch(_pattern(want), "".join(x + "\n" for x in lines)):
        raise PageError(f"{block.place}: The page shows\n{want}and this was printed:\n{got}")


def _pattern(shown: str) -> str:
    """Blanks count as one, empty lines as none; a line of three dots is any lines, or none."""
    lines = [" ".join(x.split()) for x in shown.splitlines() if x.strip()]
    some = (".*".join(map(re.escape, x.split("..."))) + "\n" for x in lines)
    return "".join(r"(?:.*\n)*" if x == ".*\n" else x for x in some)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """No screen; what a page sets in numpy and matplotlib ends with it."""
    import matplotlib as mpl
    import numpy as np

    mpl.use("agg")
    with np.printoptions(), mpl.rc_context():
        try:
            yield
        finally:
            import matplotlib.pyplot as plt

            plt.close("all")


def outcome(folder: Path) -> Path:
    """The figure that a tutorial left; its receipt must pass ``geodp verify``."""
    import geodp as gd
    from geodp.io import read_receipt

    figures = [x for x in (folder / "figure.png", folder / "figure.svg") if x.exists()]
    if len(figures) != 1:
        raise PageError("A tutorial leaves figure.png or figure.svg")
    failed = [x for x in gd.verify(read_receipt(folder / "receipt.json")) if not x.passed]
    if failed:
        raise PageError(f"The receipt fails: {failed}")
    return figures[0]


def pictures(page: Path) -> dict[str, str]:
    """The pictures that a tutorial shows, and what it calls them in the folder where it is run.

    ``figures/shapes.png`` is the page's ``figure.png``, ``figures/shapes-wing.svg`` its
    ``wing.svg``.
    """
    shown = re.findall(r"\]\(figures/([^)]+)\)", page.read_text(encoding="utf-8"))
    own = {name: Path(name).stem.removeprefix(page.stem).removeprefix("-") for name in shown}
    return {name: (own[name] or "figure") + Path(name).suffix for name in shown}


def main(pages: list[str]) -> None:
    """Run tutorials and keep their pictures beside them."""
    for page in map(Path, pages):
        with tempfile.TemporaryDirectory() as folder:
            run(page.resolve(), Path(folder))
            outcome(Path(folder))
            (page.parent / "figures").mkdir(exist_ok=True)
            for kept, made in pictures(page).items():
                shutil.copyfile(Path(folder) / made, page.parent / "figures" / kept)
                print(f"{page}: {kept}")


if __name__ == "__main__":
    main(sys.argv[1:])
