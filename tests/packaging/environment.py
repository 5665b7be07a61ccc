"""A fresh environment, and the things that a newcomer does in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uv import find_uv_bin

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements.lock"
BALL = ("--space", "spd:3", "--eigenvalues", "0.1", "3")
MAKE_TENSORS = """
import numpy as np
rng = np.random.default_rng(1)
logs = rng.normal([0.5, -0.8, -1.0], 0.2, (500, 3))
np.save("tensors.npy", np.exp(logs)[..., None] * np.eye(3))
"""


@dataclass(frozen=True)
class Environment:
    """``home`` holds the environment, ``folder`` what it works on; nothing of the repository is on
    the path."""

    home: Path
    folder: Path

    @classmethod
    def make(cls, place: Path, *what: str) -> Environment:
        home, folder = place / "environment", place / "folder"
        folder.mkdir()
        _uv("venv", "--quiet", "--python", sys.executable, home)
        _uv("pip", "install", "--quiet", "--python", home, "--constraint", LOCK, *what)
        return cls(home, folder)

    def python(self, *words: Any) -> subprocess.CompletedProcess[str]:
        """Run its interpreter, away from the repository; warnings are errors."""
        variables = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL"))}
        return subprocess.run(
            [self.home / "bin" / "python", "-W", "error", *map(str, words)],
            cwd=self.folder,
            env=variables,
            text=True,
            timeout=300,
            capture_output=True,
        )

    def code(self, text: str) -> str:
        """What a program prints."""
        done = self.python("-c", text)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def geodp(self, *words: Any) -> subprocess.CompletedProcess[str]:
        return self.python("-m", "geodp", *words)

    def done(self, *words: Any) -> Any:
        """The JSON document of a command that ends well."""
        result = self.geodp(*words)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    def receipt(self) -> Path:
        """A newcomer's path: look, plan, release, verify."""
        self.code(MAKE_TENSORS)
        looked = self.done("inspect", "tensors.npy", *BALL)
        assert (looked["records"], looked["points"], looked["not_private"]) == (500, 500, True)
        planned = self.done("plan", *BALL, "--n", 500, "--gdp", 1)
        names = {one["mechanism"] for one in planned["mechanisms"]}
        assert {"wrapped-gaussian", "riemannian-laplace"} <= names
        released = self.done("release", "tensors.npy", *BALL, "--gdp", 1, "--unit", "person")
        path = self.folder / "receipt.json"
        path.write_text(json.dumps(released))
        checks = self.done("verify", path)["checks"]
        assert len(checks) >= 7
        assert all(one["passed"] for one in checks)
        return path


def _uv(*words: Any) -> None:
    done = subprocess.run([find_uv_bin(), *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
