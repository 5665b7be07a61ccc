"""What every experiment shares: its command line, its results on disk, the look of its figures."""

from __future__ import annotations

import argparse
import csv
import json
import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("geodp", "numpy", "scipy", "python-flint", "randomgen")

# Okabe and Ito: told apart by colour-blind readers and in grey
BLUE, ORANGE, GREEN, RED, PURPLE = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7"
INK, PALE = "#374151", "#e5e7eb"


@dataclass(frozen=True)
class Run:
    """One run of one script: how much of it, under which seed, and where its results go."""

    script: str
    share: float
    seed: int
    out: Path
    spaces: tuple[str, ...] = ()

    @classmethod
    def parse(cls, script: str, description: str, arguments: Sequence[str] | None = None) -> Run:
        parser = argparse.ArgumentParser(prog=script, description=description)
        parser.add_argument(
            "--share", type=float, default=1.0, help="part of the full run, such as 0.05"
        )
        parser.add_argument("--seed", type=int, default=1, help="seed of all random numbers")
        parser.add_argument("--out", type=Path, default=RESULTS, help="directory of the results")
        parser.add_argument(
            "--spaces", nargs="*", default=[], help="only these, such as sphere:2 (default: all)"
        )
        given = parser.parse_args(arguments)
        if not 0 < given.share <= 1:
            parser.error("--share lies between 0 and 1")
        given.out.mkdir(parents=True, exist_ok=True)
        return cls(script, given.share, given.seed, given.out, tuple(given.spaces))

    def wants(self, spec: str) -> bool:
        """Whether this run includes the space."""
        return not self.spaces or spec in self.spaces

    def count(self, full: int, least: int = 1) -> int:
        """This run's part of ``full`` repetitions."""
        return max(least, math.ceil(self.share * full))

    @property
    def provenance(self) -> dict[str, Any]:
        """What made a result: the command, the seed and the versions."""
        return {
            "command": " ".join(
                [f"python experiments/{self.script}.py --share {self.share:g} --seed {self.seed}"]
                + ["--spaces", *self.spaces] * bool(self.spaces)
            ),
            "seed": self.seed,
            "share": self.share,
            **versions(),
        }

    def table(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """``name.csv``, one line per row, floats to six digits."""
        with (self.out / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows({k: short(v) for k, v in row.items()} for row in rows)

    def document(self, name: str, facts: Mapping[str, Any]) -> None:
        """``name.json``: the facts under their provenance."""
        write_json(self.out / f"{name}.json", {**self.provenance, **facts})


def versions(packages: Iterable[str] = PACKAGES) -> dict[str, Any]:
    """Versions of Python, of the machine's architecture and of the packages that matter."""
    return {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "versions": {name: version(name) for name in packages},
    }


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def short(value: Any) -> Any:
    """Floats to six significant digits; anything else as it is."""
    return f"{value:.6g}" if isinstance(value, float) else value


def pyplot() -> Any:
    """matplotlib without a display, in one restrained style."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update(
        {
            "font.size": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.edgecolor": INK,
            "axes.labelcolor": INK,
            "xtick.color": INK,
            "ytick.color": INK,
            "text.color": INK,
            "axes.titlesize": 10,
            "legend.frameon": False,
            "savefig.dpi": 160,
            "svg.hashsalt": "geodp",
        }
    )
    return plt
