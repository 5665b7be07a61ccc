"""TPS files of landmarks (Rohlf's tpsDig): read as records, looked at, and written."""

from __future__ import annotations

import math
import os
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, final

import numpy as np
from numpy.typing import ArrayLike

from geodp.arguments import real_array
from geodp.errors import InputError
from geodp.io.memory import memory
from geodp.io.source import named, open_bytes, short_lines
from geodp.io.table import check_size, row
from geodp.spaces.base import Array

_CURVES = ("CURVES", "OUTLINES")


@final
@dataclass(frozen=True, eq=False)
class Specimen:
    """One specimen of a TPS file: ``landmarks`` ``(k, 2)``, those of LM and then those of curves,
    NaN where they cannot be read, and what the file says of it, None where it says nothing."""

    landmarks: Array
    id: str | None = None
    image: str | None = None
    scale: float | None = None


def read_tps(path: str | os.PathLike[str]) -> tuple[Specimen, ...]:
    """All specimens of a TPS file, for the curator's own eyes.

    Landmarks are multiplied by SCALE only if every specimen has one: else sizes would not compare.
    (``read_records`` needs no scale: shapes have no size.) Keys other than LM, CURVES, OUTLINES,
    POINTS, ID, IMAGE and SCALE are passed over.

    Raises
    ------
    InputError : the file cannot be opened, or does not start with ``LM=``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp(), "wings.tps")
    >>> _ = file.write_text("LM=2\\n0 0\\n1 2\\nID=a\\nSCALE=0.5\\n")
    >>> read_tps(file)[0].landmarks.tolist()
    [[0.0, 0.0], [0.5, 1.0]]
    """
    name = named(path)
    try:
        with open_bytes(path) as stream:
            found = [draft.specimen() for draft in _drafts(stream, math.inf)]
    except OSError as error:
        raise InputError(f"{name} cannot be read.") from error
    if not found:
        raise InputError(f"{name} holds no record.")
    scales = [one.scale for one in found if one.scale is not None]
    if len(scales) < len(found):
        return tuple(found)
    pairs = zip(found, scales, strict=True)
    return tuple(replace(one, landmarks=one.landmarks * scale) for one, scale in pairs)


def write_tps(
    path: str | os.PathLike[str], landmarks: ArrayLike, ids: Sequence[str] | None = None
) -> None:
    """Write landmarks ``(k, 2)`` or ``(n, k, 2)`` as a TPS file, every float to its last digit.

    ``ids`` names the specimens; they are numbered otherwise. A released shape has no scale, so no
    SCALE is written.

    Raises
    ------
    InputError : another kind of array, as many names as there are specimens are not given, a name
        of several lines, or a path that cannot be written.
    """
    x = real_array(landmarks, "The landmarks")
    x = x[None] if x.ndim == 2 else x
    if x.ndim != 3 or x.shape[2] != 2:
        raise InputError("Landmarks are an array (k, 2), or (n, k, 2) of several specimens.")
    names = [str(i) for i in range(1, len(x) + 1)] if ids is None else list(ids)
    if len(names) != len(x):
        raise InputError("Give one name for each specimen, or none.")
    if any(len(name.splitlines()) > 1 for name in names):
        raise InputError("A specimen's name is one line.")
    blocks = []
    for one, name in zip(x, names, strict=True):
        body = "".join(f"{float(a)!r} {float(b)!r}\n" for a, b in one)
        blocks.append(f"LM={len(one)}\n{body}ID={name}\n")
    try:
        Path(path).write_text("".join(blocks), encoding="utf-8")
    except OSError as error:
        raise InputError(f"The file {os.fspath(path)!r} cannot be written.") from error


def tps_rows(stream: IO[bytes], width: int, columns: str, header: bool | None) -> Array:
    """The specimens as rows ``(n, width)`` of x1, y1, x2, y2, …; NaN where one is malformed.

    Every ``LM=`` starts a record, whatever follows. One with another number of points, in total or
    in a section, than is stated and needed, or with a point that is not two numbers, is malformed;
    the others are not touched. ``InputError`` if the file does not start with ``LM=``.
    """
    numbers, missing, most = array("d"), [math.nan] * width, memory()
    for draft in _drafts(stream, width):
        numbers.extend(draft.numbers if draft.is_whole(width) else missing)
        check_size(len(numbers), most)
    if not numbers:
        raise InputError("The file holds no record.")
    return np.frombuffer(numbers, dtype=np.float64).reshape(-1, width)


@final
@dataclass
class _Draft:
    """A specimen while its lines are read. No size that the file states is ever allocated."""

    most: float  # numbers to keep
    numbers: array[float] = field(default_factory=lambda: array("d"))
    stated: list[int] = field(default_factory=list)  # points of each section
    seen: list[int] = field(default_factory=list)
    curves: int = 0
    is_good: bool = True
    texts: dict[str, str] = field(default_factory=dict)

    def open(self, count: str) -> None:
        self.stated.append(self._whole(count))
        self.seen.append(0)

    def state(self, key: str, value: str) -> None:
        if key == "POINTS":
            self.open(value)
        elif key in _CURVES:
            self.curves += self._whole(value)
        elif value:
            self.texts.setdefault(key, value)

    def point(self, words: list[str]) -> None:
        self.seen[-1] += 1
        if len(words) != 2 or len(self.numbers) + 2 > self.most:
            self.is_good = False
        else:
            self.numbers.extend(row(words, 2))

    def is_whole(self, width: int | None = None) -> bool:
        fits = width is None or len(self.numbers) == width
        sections = self.stated == self.seen and len(self.stated) == 1 + self.curves
        return fits and sections and self.is_good

    def specimen(self) -> Specimen:
        points = np.array(self.numbers).reshape(-1, 2)
        if not self.is_whole():
            points = np.full_like(points, np.nan)
        (scale,) = row([self.texts.get("SCALE", "")], 1)
        known = scale if 0 < scale < math.inf else None
        return Specimen(points, self.texts.get("ID"), self.texts.get("IMAGE"), known)

    def _whole(self, text: str) -> int:
        if text.isascii() and text.isdigit() and len(text) < 10:
            return int(text)
        self.is_good = False
        return 0


def _drafts(stream: IO[bytes], most: float) -> Iterator[_Draft]:
    draft: _Draft | None = None
    for line in short_lines(stream):
        text = line.decode("utf-8-sig", errors="replace").strip()
        key, equals, value = (part.strip() for part in text.partition("="))
        key = key.upper()
        if equals and key.startswith("LM") and key[2:].isdigit() | (key == "LM"):
            if draft is not None:
                yield draft
            draft = _Draft(most, is_good=key == "LM")  # LM3 states points of space
            draft.open(value)
        elif draft is None:
            if text:
                raise InputError(
                    "The file is no TPS file: its first line is not LM= with a number of landmarks."
                )
        elif equals:
            draft.state(key, value)
        elif text:
            draft.point(text.split())
    if draft is not None:
        yield draft
