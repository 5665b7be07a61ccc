"""Covariance descriptors of images by class: private regions against the non-private ones.

The digits of scikit-learn (the descriptors of ``examples/digits_demo.py``), or any MedMNIST-format
file: ``--npz FILE`` with arrays ``train_images`` and ``train_labels``. Each class is a public
group. The releases are private; the comparison with the non-private regions is not.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from recording import BLUE, PALE, Run, pyplot

import geodp as gd
from geodp.errors import InputError
from geodp.inference import difference
from geodp.inference.collect import without_noise
from geodp.inference.estimate import Estimate
from geodp.inference.region import ConfidenceRegion

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
import digits_demo

MUS = (0.1, 1.0, 2.0)
# public: how far a descriptor is taken to lie from its class mean, for the covariance alone
SPREAD = 2.5


def load(npz: str | None) -> tuple[Any, Any]:
    """Grey images ``(n, h, w)`` scaled to 0 … 16 as in the demo, and labels ``(n,)``."""
    if npz is None:
        from sklearn.datasets import load_digits

        digits = load_digits()
        return digits.images, digits.target
    with np.load(npz) as file:
        missing = {"train_images", "train_labels"} - set(file.files)
        if missing:
            raise InputError(f"A MedMNIST-format file holds {', '.join(sorted(missing))} too.")
        images, labels = file["train_images"], file["train_labels"]
    if images.ndim != 3 or images.dtype != np.uint8:
        raise InputError("train_images are grey images of unsigned bytes, shape (n, h, w).")
    return images * (digits_demo.GREY / 255), labels.reshape(len(images))


def radius(region: ConfidenceRegion) -> float:
    """The radius of a ball of the region's volume, in the tangent space."""
    log_det = np.linalg.slogdet(region.covariance)[1]
    return math.sqrt(region.quantile) * math.exp(log_det / 2 / region.space.dim)


def rows_of(images: Any, labels: Any, mus: Sequence[float]) -> tuple[list[Any], list[Any]]:
    """One row per class and μ, and how many pairs of classes each μ tells apart."""
    ball = digits_demo.public_ball("log-euclidean")
    records = digits_demo.descriptors(images)
    plain = {
        str(label): Estimate(without_noise(ball, records[labels == label])).region
        for label in np.unique(labels)
    }
    rows, pairs = [], []
    for mu in (*mus, math.inf):
        regions = plain
        if not math.isinf(mu):
            groups = gd.infer(
                records,
                ball,
                gd.GaussianDP(mu),
                spread=SPREAD,
                by=labels,
                by_name="class",
                by_public=True,
                unit="image",
            )
            regions = {label: one.region for label, one in groups.inferences.items()}
        for label, region in regions.items():
            rows.append(
                {
                    "class": label,
                    "n": int((labels == int(label)).sum()),
                    "mu": mu,
                    "radius": radius(region),
                    "ratio": radius(region) / radius(plain[label]),
                    "noise_share": region.noise_share,
                }
            )
        apart = [difference(regions[a], regions[b]).told_apart for a, b in combinations(regions, 2)]
        pairs.append({"mu": mu, "pairs": len(apart), "told_apart": sum(apart)})
    return rows, pairs


def picture(run: Run, rows: list[Any]) -> None:
    plt = pyplot()
    figure, ax = plt.subplots(figsize=(5, 3.4))
    mus = list(dict.fromkeys(row["mu"] for row in rows))
    for label in dict.fromkeys(row["class"] for row in rows):
        mine = [row["ratio"] for row in rows if row["class"] == label]
        ax.plot(range(len(mus)), mine, "o-", color=BLUE, alpha=0.5, lw=0.8, ms=3)
    ax.axhline(1, color=PALE)
    ax.set_xticks(range(len(mus)), [f"{mu:g}".replace("inf", "∞") for mu in mus])
    ax.set_yscale("log")
    ax.set_xlabel("μ")
    ax.set_ylabel("radius of the region over the non-private")
    figure.tight_layout()
    figure.savefig(run.out / "covariance_descriptors.png")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--npz")
    given, rest = parser.parse_known_args(arguments)
    run = Run.parse("covariance_descriptors", __doc__.splitlines()[0], rest)
    images, labels = load(given.npz)
    rows, pairs = rows_of(images, labels, MUS)
    run.table("covariance_descriptors", rows)
    run.document("covariance_descriptors", {"pairs": [p | {"mu": str(p["mu"])} for p in pairs]})
    for pair in pairs:
        print(pair, file=sys.stderr)
    picture(run, rows)


if __name__ == "__main__":
    main()
