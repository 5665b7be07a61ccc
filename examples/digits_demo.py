"""Private mean shapes of handwritten digits, one release per digit and metric.

Each 8 x 8 image of scikit-learn's digits becomes one 5 x 5 covariance matrix: how intensity and
edges vary together over its pixels. Their Fréchet mean per digit is released at mu = 1 under two
metrics. Run it with ``make demo``; it writes receipts, pictures and one report page.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import geodp as gd

# --- public facts: nothing here was looked up in the images -------------------------------------
GREY = 16.0  # pixels are whole numbers from 0 to 16
FEATURES = ("intensity", "|Ix|", "|Iy|", "|Ixx|", "|Iyy|")
# Two of the sixteen grey levels, as a variance: differences below that are drawn over. Without a
# ridge a blank margin makes a matrix singular; a larger ridge makes ball and noise smaller, and
# the digits more alike.
RIDGE = (2 / GREY) ** 2
# Every feature is scaled to [0, 1], and a variable in [0, 1] has a variance of at most 1/4
# (Popoviciu). The largest eigenvalue of a covariance is at most its trace, so at most 5/4.
LARGEST = len(FEATURES) / 4
METRICS = ("log-euclidean", "affine-invariant")
GUARANTEE = gd.GaussianDP(1)
MECHANISM = gd.Wrapped(gd.Gaussian())


def descriptors(images: NDArray[Any]) -> NDArray[np.float64]:
    """Covariances ``(n, 5, 5)`` of the features over the pixels of images ``(n, 8, 8)``.

    The border is continued outwards. First differences over two pixels and halved second ones
    both lie in [-1, 1] once the intensity lies in [0, 1].
    """
    image = np.asarray(images, dtype=np.float64) / GREY
    wide = np.pad(image, ((0, 0), (1, 1), (1, 1)), mode="edge")
    left, right = wide[:, 1:-1, :-2], wide[:, 1:-1, 2:]
    above, below = wide[:, :-2, 1:-1], wide[:, 2:, 1:-1]
    features = np.stack(
        [
            image,
            np.abs(right - left),
            np.abs(below - above),
            np.abs(right - 2 * image + left) / 2,
            np.abs(below - 2 * image + above) / 2,
        ],
        axis=-1,
    ).reshape(len(image), -1, len(FEATURES))
    spread = features - features.mean(axis=1, keepdims=True)
    covariance = spread.transpose(0, 2, 1) @ spread / spread.shape[1]  # 1/N: the bound needs it
    return np.asarray(covariance + RIDGE * np.eye(len(FEATURES)))


def public_ball(metric: str) -> gd.Ball:
    """The ball that holds every possible descriptor, from the range of pixels alone."""
    space = gd.SPD(len(FEATURES), metric)
    return gd.Ball.from_eigenvalues(
        space,
        RIDGE,
        LARGEST + RIDGE,
        physical_unit="scaled feature²",
        component_order=", ".join(FEATURES),
    )


@dataclass(frozen=True)
class Row:
    """One line of the table. ``off`` is computed from the non-private mean: never publish it."""

    digit: int
    metric: str
    release: gd.Release
    off: float

    @property
    def name(self) -> str:
        return f"digit-{self.digit}-{self.metric}"


def rows(images: NDArray[Any], labels: NDArray[Any], digits: Sequence[int]) -> Iterator[Row]:
    """Release after release: every digit under every metric."""
    means = {metric: gd.FrechetMean(public_ball(metric)) for metric in METRICS}
    for digit in digits:
        records = descriptors(images[labels == digit])
        for metric, mean in means.items():
            out = gd.release(records, mean, GUARANTEE, MECHANISM, unit="image")
            secret = mean.evaluate(mean.ball.clip(records)).value
            off = float(out.space.dist(secret, out.value))
            yield Row(digit, metric, out, off)


def total(found: Sequence[Row]) -> float:
    """The mu of everything released.

    An image is in one class, and labels and class sizes are public: classes compose in parallel
    (the largest counts). Both metrics use the same images: those compose one after the other.
    """
    spent = []
    for digit in {row.digit for row in found}:
        profiles = [
            gd.calibrate(
                MECHANISM, row.release.space, row.release.sensitivity.total, row.release.guarantee
            ).profile
            for row in found
            if row.digit == digit
        ]
        spent.append(gd.compose(profiles).mu())
    return max(spent)


def show(found: Sequence[Row]) -> None:
    """The table, on stdout."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Fréchet means of digit descriptors, 1-Gaussian DP each", box=None)
    for head in ("digit", "n", "metric", "scale", "expected\ndistance"):
        table.add_column(head, justify="left" if head == "metric" else "right")
    table.add_column("this distance\n[bold]not private[/bold]", justify="right", style="dim")
    for row in found:
        out = row.release
        table.add_row(
            str(row.digit),
            str(out.n),
            row.metric,
            f"{out.scale:.4f}",
            f"{out.expected_distance:.3f}",
            f"{row.off:.3f}",
        )
    console = Console(highlight=False)
    console.print(table)
    console.print(
        "The last column is the distance to the non-private mean: for the demonstration only, not "
        "private, and in no file written here."
    )


def write(found: Sequence[Row], out: Path) -> None:
    """Receipts, pictures and the report page."""
    from matplotlib.figure import Figure

    from geodp.plots import plot
    from geodp.plots.plot import figure_size
    from geodp.report import report

    for folder in ("receipts", "pictures"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    for row in found:
        row.release.save(out / "receipts" / f"{row.name}.json")
        figure = Figure(figsize=figure_size(row.release.space), layout="constrained")
        ax = plot(row.release, ax=figure.subplots())
        ax.set_title(f"digit {row.digit}: {ax.get_title(loc='left')}", loc="left", fontsize=10)
        figure.savefig(out / "pictures" / f"{row.name}.png", dpi=110)
    titles = [f"digit {row.digit}" for row in found]
    report([row.release for row in found], out / "report.html", titles=titles)


def load() -> tuple[NDArray[Any], NDArray[Any]]:
    """The images and labels; ``InputError`` names the extra that is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise gd.InputError("The demo draws pictures: pip install 'geodp[plot]'.") from error
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise gd.InputError("The demo's images need: pip install 'geodp[data]'.") from error
    data = load_digits()
    return data.images, data.target


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; returns the exit code."""
    parser = argparse.ArgumentParser(description="Private mean shapes of handwritten digits.")
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder to write to")
    parser.add_argument(
        "--digits",
        type=int,
        nargs="+",
        default=list(range(10)),
        choices=range(10),
        metavar="DIGIT",
        help="digits to release (all ten)",
    )
    chosen = parser.parse_args(arguments)
    try:
        images, labels = load()
        ball = public_ball(METRICS[0])
        print(
            f"Public facts: eigenvalues from {RIDGE:.4g} to {LARGEST + RIDGE:.4g}, so a ball of "
            f"radius {ball.radius:.3f}.\n"
        )
        found = list(rows(images, labels, sorted(set(chosen.digits))))
        show(found)
        print(
            f"\nTotal spent on any one image: {total(found):.6g}-Gaussian DP.\nDigits compose in "
            "parallel (public labels and class sizes, each image in one class);\nthe two metrics "
            "use the same images and add up as √(1² + 1²)."
        )
        write(found, chosen.out)
    except gd.GeodpError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"\nWritten: {chosen.out}/report.html, {chosen.out}/receipts, {chosen.out}/pictures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
