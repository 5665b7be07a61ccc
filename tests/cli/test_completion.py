"""What the tab key offers, asked for as the shells' scripts do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from geodp.cli import main
from geodp.errors import GeodpError
from geodp.spaces.parse import parse_space

GEODP = f"{sys.executable} -m geodp"


def offered(*words: str) -> list[tuple[str, str]]:
    """What is offered for the last word, with its kind."""
    shell = ShellComplete(main, {}, "geodp", "_GEODP_COMPLETE")
    return [(one.value, one.type) for one in shell.get_completions(list(words[:-1]), words[-1])]


def plain(*words: str) -> list[str]:
    return [value for value, kind in offered(*words) if kind == "plain"]


def test_commands_and_options() -> None:
    assert {"inspect", "plan", "release", "verify", "ledger"} <= set(plain(""))
    assert plain("rel") == ["release"]
    assert plain("ledger", "sh") == ["show"]
    assert "--mechanism" in plain("release", "--mech")
    assert plain("plan", "--statistic", "ext") == ["extrinsic-mean"]
    assert plain("plan", "--mechanism", "riemannian-g") == ["riemannian-gaussian"]
    assert plain("inspect", "--layout", "dip") == ["dip-azimuth-degrees", "dip-azimuth-radians"]


@pytest.mark.parametrize("command", ["inspect", "plan", "calibrate", "release", "infer", "audit"])
def test_spaces_are_offered_and_exist(command: str) -> None:
    specs = plain(command, "--space", "")
    assert {spec.partition(":")[0] for spec in specs} == {
        *("euclidean", "sphere", "hyperbolic", "shapes", "spd"),
    }
    for spec in specs:
        assert parse_space(spec).dim > 0
    assert plain(command, "--space", "spd:7:log") == ["spd:7:log-euclidean", "spd:7:log-cholesky"]
    with pytest.raises(GeodpError):
        parse_space("spd:7:log")


@pytest.mark.parametrize(
    "words",
    [
        *[(name, "x") for name in ("inspect", "convert", "release", "infer", "verify", "report")],
        *[("ledger", name, "x") for name in ("init", "show", "history", "export", "verify")],
        ("ledger", "move", "a.db", "x"),
        *[("release", option, "x") for option in ("--ledger", "--mask", "--out", "--value")],
        ("infer", "--by", "x"),
        ("convert", "--linear-map", "x"),
        ("report", "--out", "x"),
        ("serve", "--ledger", "x"),
        ("plan", "--center", "x"),
    ],
)
def test_files_where_files_are_named(words: tuple[str, ...]) -> None:
    assert offered(*words) == [("x", "file")]


def test_a_centre_is_the_origin_or_a_file() -> None:
    assert offered("plan", "--center", "or") == [("origin", "plain"), ("or", "file")]


def test_texts_are_left_alone() -> None:
    for option in ("--unit", "--dataset", "--gdp", "--frame"):
        assert offered("release", option, "x") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_scripts_ask_the_program(shell: str) -> None:
    environment = {**os.environ, "_GEODP_COMPLETE": f"{shell}_source"}
    done = subprocess.run(GEODP.split(), capture_output=True, text=True, env=environment)
    assert done.returncode == 0
    assert "_GEODP_COMPLETE" in done.stdout
    asked = {
        **environment,
        "_GEODP_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": "geodp plan --statistic tan",
        "COMP_CWORD": "tan" if shell == "fish" else "3",
    }
    done = subprocess.run(GEODP.split(), capture_output=True, text=True, env=asked)
    assert "tangent-mean" in done.stdout
    assert "frechet-mean" not in done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes(tmp_path: Path) -> None:
    program = tmp_path / "geodp"
    program.write_text(f'#!/bin/sh\nexec {GEODP} "$@"\n')
    program.chmod(0o755)
    script = (
        'eval "$(_GEODP_COMPLETE=bash_source geodp)"\n'
        "COMP_WORDS=(geodp calibrate --mechanism wrapped-g) COMP_CWORD=3\n"
        "_geodp_completion geodp wrapped-g --mechanism\n"
        'echo "${COMPREPLY[@]}"; complete -p geodp'
    )
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "--norc", "-c", script], capture_output=True, text=True, env=environment
    )
    first, second = done.stdout.splitlines()
    assert first == "wrapped-gaussian"
    assert "_geodp_completion" in second
