"""Images of MedMNIST files, and their covariance descriptors."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from geodp.arguments import positive_real
from geodp.errors import InputError
from geodp.io.arrays import load_npz
from geodp.io.source import named, open_bytes
from geodp.spaces.base import Array

SPLITS = ("train", "val", "test")
_CHUNK = 256


@final
@dataclass(frozen=True, eq=False)
class LabelledImages:
    """``images`` ``(n, height, width)``, or ``(n, height, width, 3)`` in colour, of 8 bits, and
    ``labels`` ``(n, tasks)``."""

    images: Array = field(repr=False)
    labels: Array = field(repr=False)


def read_medmnist(path: str | os.PathLike[str], split: str) -> LabelledImages:
    """One split (``"train"``, ``"val"`` or ``"test"``) of a MedMNIST ``.npz`` file.

    Raises ``InputError`` for a damaged file, or one without
    ``<split>_images`` and ``<split>_labels``.
    """
    if split not in SPLITS:
        raise InputError(f"The split is one of {', '.join(SPLITS)}; not {split!r}.")
    name = named(path)
    found = []
    for part in ("images", "labels"):
        with open_bytes(path) as stream:
            found.append(np.asarray(load_npz(stream, name, f"{split}_{part}")))
    images, labels = found
    if images.dtype != np.uint8 or images.ndim not in (3, 4) or images.shape[3:] not in ((), (3,)):
        raise InputError(f"{name} holds no images of 8 bits, grey or of three colours.")
    if labels.ndim not in (1, 2) or len(labels) != len(images) or labels.dtype.kind not in "iu":
        raise InputError(f"{name} holds labels that are not one line of whole numbers an image.")
    return LabelledImages(images, labels.reshape(len(labels), -1))


def covariance_descriptors(images: ArrayLike, ridge: float) -> Array:
    """Covariance of five features over the pixels of each image, plus ``ridge`` times the identity.

    Features: intensity, absolute first and second central differences along both axes (O. Tuzel, F.
    Porikli and P. Meer, Region Covariance, ECCV 2006), on the pixels at least two from the edge.
    ``images`` has shape ``(n, height, width)``, intensities of 8 bits or in [0, 1]; colours
    ``(n, height, width, 3)`` are averaged. The result is ``(n, 5, 5)``, its eigenvalues between
    ``ridge`` and ``ridge + 1/2``: intensity lies in [0, 1] and each difference in [0, 1/2], so that
    the variances are at most 1/4 and four times 1/16. The limits are public, the ridge must be.

    Examples
    --------
    >>> import numpy as np
    >>> covariance_descriptors(np.zeros((1, 28, 28)), 1e-3)[0].diagonal().tolist()
    [0.001, 0.001, 0.001, 0.001, 0.001]
    """
    shade = positive_real(ridge, "The ridge")
    x = np.asarray(images)
    if (
        x.ndim not in (3, 4)
        or min(x.shape[1:3]) < 6
        or not (x.dtype.kind == "f" or x.dtype == np.uint8)
    ):
        raise InputError(
            "Images are an array (n, height, width) of at least 6 x 6 pixels, of 8 bits or floats."
        )
    unit = 255.0 if x.dtype == np.uint8 else 1.0
    out = np.empty((len(x), 5, 5))
    with np.errstate(all="ignore"):
        for start in range(0, len(x), _CHUNK):
            chunk = np.array(x[start : start + _CHUNK], dtype=np.float64) / unit
            features = _features(chunk if x.ndim == 3 else chunk.mean(axis=3))
            features -= features.mean(axis=2, keepdims=True)
            covariance = features @ features.swapaxes(1, 2) / features.shape[2]
            out[start : start + len(chunk)] = covariance + shade * np.eye(5)
    return out


def _features(images: Array) -> Array:
    """``(n, 5, pixels)``."""
    middle = slice(2, -2)
    first = [np.gradient(images, axis=axis) for axis in (1, 2)]
    second = [np.gradient(one, axis=axis) for one, axis in zip(first, (1, 2), strict=True)]
    parts = [images, *map(np.abs, first), *map(np.abs, second)]
    stacked = np.stack([part[:, middle, middle] for part in parts], axis=1)
    return stacked.reshape(len(images), 5, -1)
