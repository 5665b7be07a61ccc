"""NIfTI volumes: headers that are believed no further than the file is long, and a writer."""

from __future__ import annotations

import gzip
import math
import os
import struct
import warnings
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from geodp.errors import InputError
from geodp.io.memory import memory
from geodp.io.source import named
from geodp.spaces.base import Array

ENDINGS = (".nii", ".nii.gz")
SYMMETRIC_MATRIX = 1005
"""The intent code of symmetric matrices, whose components are the lower triangle, row by row."""

_GZIP_RATIO = 1040  # deflate packs no more than 1032 bytes into one
_LONGEST_EXTENSIONS = 2**26  # bytes between header and voxels
_FLOATS = 16  # bytes that a voxel takes while one component is read
_SAME_PLACE = 0.01  # of a voxel: how far apart the corners of equal grids may lie


def is_volume(path: str | os.PathLike[str]) -> bool:
    """Whether the name is one of a NIfTI file."""
    return os.fspath(path).lower().endswith(ENDINGS)


@final
@dataclass(frozen=True, eq=False)
class Grid:
    """Where voxels are: ``shape`` ``(x, y, z)`` and the 4 x 4 ``affine`` to scanner axes."""

    shape: tuple[int, ...]
    affine: Array

    @property
    def size(self) -> int:
        """The number of voxels."""
        return math.prod(self.shape)

    def check_same(self, other: Grid, name: str) -> None:
        """``InputError`` where the other grid, of the file ``name``, is another."""
        if self.shape != other.shape:
            raise InputError(
                f"{name} has the grid {other.shape}; {self.shape} is needed. Bring all volumes, "
                "the mask and the atlas onto one grid first."
            )
        corners = np.array([[*np.multiply(i, self.shape), 1] for i in np.ndindex(2, 2, 2)]).T
        apart = np.abs((self.affine - other.affine) @ corners).max()
        voxel = np.linalg.norm(self.affine[:3, :3], axis=0).min()
        if not apart <= _SAME_PLACE * voxel:
            raise InputError(
                f"{name} has the right shape but lies elsewhere in space: its affine is another. "
                "Bring all volumes, the mask and the atlas onto one grid first."
            )


@final
@dataclass(frozen=True, eq=False)
class Volume:
    """An open NIfTI file: ``grid``, how many ``components`` a voxel has, and whether the header
    says by its intent code that they are those of a symmetric matrix."""

    name: str
    grid: Grid
    components: int
    is_symmetric: bool
    _image: Any = field(repr=False)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Volume:
        """Read the header; ``InputError`` where it is none, or the file is too short for it."""
        name = named(path)
        header = _header(path, name)
        shape = tuple(int(n) for n in header.shape)
        if min(shape, default=0) < 1:
            raise InputError(f"{name} is damaged: its header states an axis of no length.")
        _check_length(path, name, header, shape)
        spatial, components = _split(shape, name)
        if _FLOATS * math.prod(spatial) > memory():
            raise InputError(f"{name} has more voxels than this machine's memory can hold.")
        affine = np.array(header.affine, dtype=np.float64)
        if not np.isfinite(affine).all():
            raise InputError(f"{name} is damaged: its affine is not finite.")
        code, first = (header.header[key] for key in ("intent_code", "intent_p1"))
        is_symmetric = int(code) == SYMMETRIC_MATRIX
        stated = float(first) * (float(first) + 1) / 2
        if is_symmetric and first != 0 and stated != components:
            raise InputError(
                f"{name} states matrices of another size than its {components} components make."
            )
        return cls(name, Grid(spatial, affine), components, is_symmetric, header)

    def component(self, index: int) -> Array:
        """One component of all voxels, x slowest, scaled as the header says, shape ``(x*y*z,)``."""
        data, (x, y, z) = self._image.dataobj, self.grid.shape
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")  # a warning could depend on a record
                part = data[..., index] if len(data.shape) > 3 else data[...]
                return np.array(part, dtype=np.float64).reshape(x * y * z)
        except MemoryError:
            raise
        except Exception as error:  # gzip, zlib and nibabel raise a dozen kinds on damaged data
            raise InputError(
                f"{self.name} is damaged or cut off: its voxels cannot be read."
            ) from (error)


def write_volume(
    path: str | os.PathLike[str], data: ArrayLike, grid: Grid, *, matrix_size: int | None = None
) -> None:
    """Write ``data`` ``(x, y, z, …)`` as NIfTI (float64); ``matrix_size`` m states by the intent
    code that the last axis holds the lower triangles of symmetric m x m matrices."""
    nibabel = _nibabel()
    if not is_volume(path):
        raise InputError(f"A NIfTI file is named .nii or .nii.gz; {os.fspath(path)!r} is not.")
    values = np.asarray(data, dtype=np.float64)
    kind = nibabel.Nifti1Image if max(values.shape) < 2**15 else nibabel.Nifti2Image
    image = kind(values, grid.affine)
    image.header.set_xyzt_units("mm")
    if matrix_size is not None:
        image.header.set_intent(SYMMETRIC_MATRIX, (float(matrix_size),))
    try:
        content = image.to_bytes()
        whole = (
            gzip.compress(content, mtime=0) if os.fspath(path).lower()[-3:] == ".gz" else content
        )
        Path(path).write_bytes(whole)
    except OSError as error:
        raise InputError(f"The file {os.fspath(path)!r} cannot be written.") from error


def _nibabel() -> Any:
    try:
        import nibabel
    except ImportError as error:
        raise InputError(
            "NIfTI files need nibabel, which is not installed: pip install 'geodp[imaging]'."
        ) from error
    return nibabel


def _header(path: str | os.PathLike[str], name: str) -> Any:
    nibabel = _nibabel()
    place = Path(path)
    if not place.exists():
        raise InputError(f"{name} does not exist.")
    if place.is_dir():
        raise InputError(f"{name} is a directory.")
    if not os.access(place, os.R_OK):
        raise InputError(f"{name} may not be read: permission denied.")
    if not is_volume(place):
        raise InputError(f"A NIfTI file is named .nii or .nii.gz; {os.fspath(path)!r} is not.")
    _check_extensions(place, name)
    try:
        with warnings.catch_warnings(), nibabel.imageglobals.LoggingOutputSuppressor():
            warnings.simplefilter("ignore")  # the file is refused, or fit to be read
            image = nibabel.load(place)
        known = isinstance(image, nibabel.Nifti1Image)
        kind = np.dtype(image.header.get_data_dtype()).kind
    except MemoryError:
        raise
    except Exception as error:  # nibabel, gzip and zlib raise a dozen kinds on damaged headers
        raise InputError(f"{name} is damaged: it cannot be read as a NIfTI file.") from error
    if not known:
        raise InputError(f"{name} is no NIfTI file, though it is named as one.")
    if kind not in "iuf":
        raise InputError(f"{name} holds no real numbers.")
    return image


def _check_extensions(path: Path, name: str) -> None:
    """What lies between header and voxels is read whole; in a packed file it may be endless."""
    offset_of = {348: (108, "f"), 540: (168, "q")}  # by the length of the header (nifti1.h, 2.h)
    try:
        with (gzip.open if path.name.lower().endswith(".gz") else open)(path, "rb") as stream:
            head = stream.read(540)
        for order in "<>":
            (size,) = struct.unpack_from(f"{order}i", head)
            if size in offset_of:
                place, kind = offset_of[size]
                (offset,) = struct.unpack_from(order + kind, head, place)
                if not 0 <= offset <= _LONGEST_EXTENSIONS:
                    raise InputError(f"{name} is damaged: its voxels start nowhere in the file.")
    except (OSError, EOFError, struct.error, zlib.error) as error:
        raise InputError(f"{name} is damaged: it cannot be read as a NIfTI file.") from error


def _check_length(
    path: str | os.PathLike[str], name: str, image: Any, shape: tuple[int, ...]
) -> None:
    """Before anything of the stated size is allocated."""
    needed = int(image.dataobj.offset) + math.prod(shape) * image.header.get_data_dtype().itemsize
    packed = os.fspath(path).lower().endswith(".gz")
    if needed > os.path.getsize(path) * (_GZIP_RATIO if packed else 1):
        raise InputError(f"{name} is cut off: it is shorter than its header states.")


def _split(shape: tuple[int, ...], name: str) -> tuple[tuple[int, ...], int]:
    """The grid and the number of components; axes of length one stay axes."""
    if len(shape) == 3:
        return shape, 1
    if len(shape) == 4:
        return shape[:3], shape[3]
    if len(shape) == 5 and shape[3] == 1:
        return shape[:3], shape[4]
    raise InputError(
        f"{name} has the shape {shape}; a volume has (x, y, z), (x, y, z, components) or "
        "(x, y, z, 1, components)."
    )
