"""The page on installing says what pyproject.toml says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
PAGE = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")


def parts(requirement: str) -> tuple[str, str]:
    """The package and its lowest version."""
    found = re.fullmatch(r"([\w-]+)(?:\[[\w,]+\])?>=([\w.]+)", requirement)
    assert found is not None, requirement
    return found[1], found[2]


def test_every_extra_has_its_row() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]*)\|", PAGE, re.MULTILINE))
    assert rows.pop("all").strip() == ""
    assert EXTRAS.keys() - {"all"} == rows.keys()
    for extra, brings in rows.items():
        assert brings.strip().split(", ") == [parts(one)[0] for one in EXTRAS[extra]]


def test_all_holds_every_extra_but_accounting() -> None:
    (one,) = EXTRAS["all"]
    assert set(re.fullmatch(r"geodp\[([\w,]+)\]", one)[1].split(",")) == (
        EXTRAS.keys() - {"all", "accounting"}
    )


def test_the_lowest_versions_are_said() -> None:
    rows = dict(re.findall(r"^\| ([\w-]+) \| ([\d.]+) \|$", PAGE, re.MULTILINE))
    assert f">={rows.pop('Python')}" == PROJECT["requires-python"]
    asked = {}
    for one in PROJECT["dependencies"] + [x for e in EXTRAS if e != "all" for x in EXTRAS[e]]:
        name, version = parts(one)
        assert asked.setdefault(name, version) == version, "two lowest versions of one package"
    assert rows == asked
