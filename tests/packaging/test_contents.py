"""What wheel and sdist hold: the project's own files, whole, and nothing else."""

from __future__ import annotations

import tarfile
import tomllib
import zipfile
from pathlib import Path

from environment import ROOT
from packaging.metadata import Metadata

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MOST = 1_000_000  # bytes of either file


def wheel_names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        return set(archive.namelist())


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path, tracked: set[str]) -> None:
    names = wheel_names(wheel)
    package = {name.removeprefix("src/") for name in tracked if name.startswith("src/geodp/")}
    assert {name for name in names if ".dist-info/" not in name} == package
    assert {
        *("geodp/py.typed", "geodp/ledger/schema_v1.json", "geodp/report/style.css"),
        *("geodp/web/templates/base.html", "geodp/web/static/htmx.min.js"),
        *("geodp/web/static/htmx.LICENSE.txt", "geodp/web/static/page.css"),
    } <= package
    info = {name.split(".dist-info/")[1] for name in names if ".dist-info/" in name}
    assert info == {
        *("METADATA", "RECORD", "WHEEL", "entry_points.txt", "top_level.txt"),
        *("licenses/LICENSE", "licenses/src/geodp/web/static/htmx.LICENSE.txt"),
    }


def test_the_sdist_holds_the_sources_and_nothing_else(sdist: Path, tracked: set[str]) -> None:
    with tarfile.open(sdist) as archive:
        files = [member for member in archive if not member.isdir()]
    assert all(member.isreg() for member in files)
    roots = {member.name.partition("/")[0] for member in files}
    names = {member.name.partition("/")[2] for member in files}
    assert roots == {f"geodp-{PROJECT['version']}"}
    made = {name for name in names if name.startswith("src/geodp.egg-info/")}
    assert names - made == tracked | {"PKG-INFO", "setup.cfg"}


def test_both_are_small(wheel: Path, sdist: Path) -> None:
    sizes = {path.name: path.stat().st_size for path in (wheel, sdist)}
    print(sizes)
    assert max(sizes.values()) < MOST
    assert min(sizes.values()) > MOST // 10


def test_the_metadata_are_whole(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        said = Metadata.from_email(archive.read(name), validate=True)
        (tags,) = (name for name in archive.namelist() if name.endswith("/WHEEL"))
        assert b"Tag: py3-none-any" in archive.read(tags)
        (points,) = (name for name in archive.namelist() if name.endswith("/entry_points.txt"))
        assert b"geodp = geodp.cli:main" in archive.read(points)
    assert (said.name, str(said.version)) == ("geodp", PROJECT["version"])
    assert str(said.requires_python) == PROJECT["requires-python"]
    assert said.license_expression == PROJECT["license"]
    assert said.summary == PROJECT["description"]
    assert said.description_content_type == "text/markdown"
    assert said.description == (ROOT / "README.md").read_text(encoding="utf-8")
    assert set(said.provides_extra or ()) == set(PROJECT["optional-dependencies"])
    plain = {str(one.name) for one in said.requires_dist or () if one.marker is None}
    assert len(plain) == len(PROJECT["dependencies"])


def test_a_build_of_the_sdist_gives_the_same_wheel(wheel: Path, sdist: Path) -> None:
    """The wheel was built from it; every file of the package is in both, byte for byte."""
    with zipfile.ZipFile(wheel) as built, tarfile.open(sdist) as sources:
        for name in built.namelist():
            if ".dist-info/" not in name:
                member = sources.extractfile(f"geodp-{PROJECT['version']}/src/{name}")
                assert member is not None
                assert member.read() == built.read(name)
