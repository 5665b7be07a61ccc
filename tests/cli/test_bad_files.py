"""Every reader on files that are cut off, named wrongly, or claim too much: one sentence, exit code
2, nothing spent, and no memory taken."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("nibabel", reason="needs the extra imaging")
pytest.importorskip("pyarrow", reason="needs the extra parquet")
sys.path.insert(0, str(Path(__file__).parent))

import bad_files

import geodp as gd
from geodp.io import read_medmnist


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("bad")
    bad_files.make(made)
    return made


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
def test_every_command_on_every_bad_file(folder: Path) -> None:
    words = [sys.executable, bad_files.__file__]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    *lines, spent = map(json.loads, done.stdout.splitlines())
    assert len(lines) > 300
    for command, code, out, said in lines:
        about = (*command, said)
        assert (code, out) == (2, ""), about
        assert said.count("\n") == 1, about
        assert said.startswith("Error: "), about
        assert said[7].isupper() or said.startswith("Error: '"), about
        assert said.endswith((".\n", "?\n")), about
        assert "not enough memory for this" not in said, about  # it was allocated, and failed
    assert spent == "0"


@pytest.mark.parametrize("name", ["claims-images.npz", "no-images.npz", "bomb.npz", "cut.npz"])
def test_images(folder: Path, name: str) -> None:
    with pytest.raises(gd.InputError, match=r"^The file .*\.$"):
        read_medmnist(folder / name, "train")
