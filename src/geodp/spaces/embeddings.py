"""Isometry-respecting maps of a space into R^T, on which extrinsic means rest."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np

from geodp.spaces import complexes as cx
from geodp.spaces import preshapes
from geodp.spaces.base import Array
from geodp.spaces.batch import EPS, array, length, quiet
from geodp.spaces.complexes import Complex


class Embedding(ABC):
    """A space in R^T, its points of length at most ``radius``, and the nearest point back."""

    @property
    @abstractmethod
    def mean_name(self) -> str:
        """What the nearest point to the mean of embedded records is called."""

    @property
    @abstractmethod
    def dim(self) -> int:
        """T."""

    @property
    @abstractmethod
    def radius(self) -> float:
        """The length of an embedded point."""

    @property
    @abstractmethod
    def rounding(self) -> float:
        """A bound on the rounding of ``embed``, as a length."""

    @abstractmethod
    def embed(self, x: Array) -> Array:
        """Points ``(..., *point_shape)`` as vectors ``(..., T)``."""

    @abstractmethod
    def nearest(self, y: Array) -> Array:
        """The points nearest to vectors ``(..., T)``; a fixed one where none is nearest."""

    @abstractmethod
    def chord(self, radius: float) -> float:
        """The greatest distance in R^T between points of one geodesic ball, not rounded."""


@final
@dataclass(frozen=True)
class UnitVectors(Embedding):
    """The sphere of ``size`` - 1 dimensions and curvature ``kappa``, scaled to radius 1."""

    size: int
    kappa: float

    @property
    def mean_name(self) -> str:
        return "mean direction"

    @property
    def dim(self) -> int:
        return self.size

    @property
    def radius(self) -> float:
        return 1.0

    @property
    def rounding(self) -> float:
        return (self.size + 4.0) * EPS

    def embed(self, x: Array) -> Array:
        x = array(x)
        with quiet():
            return np.asarray(x / length(x)[..., None])

    def nearest(self, y: Array) -> Array:
        y = array(y)
        first = np.eye(self.size)[0]
        with quiet():
            size = length(y)[..., None]
            return np.asarray(np.where(size > 0, y / size, first) / math.sqrt(self.kappa))

    def chord(self, radius: float) -> float:
        return 2.0 * math.sin(min(math.sqrt(self.kappa) * radius, math.pi / 2))


@final
@dataclass(frozen=True)
class Projectors(Embedding):
    """Planar shapes z as z z* minus its trace part, in Frobenius-orthonormal coordinates."""

    landmarks: int

    @property
    def _size(self) -> int:
        return self.landmarks - 1

    @property
    def mean_name(self) -> str:
        return "full Procrustes mean"

    @property
    def dim(self) -> int:
        return self._size**2 - 1

    @property
    def radius(self) -> float:
        return math.sqrt(1.0 - 1.0 / self._size)

    @property
    def rounding(self) -> float:
        return (8.0 * self.landmarks + 40.0) * EPS

    def embed(self, x: Array) -> Array:
        with quiet():
            w = preshapes.flatten(cx.unit(cx.centred(cx.of_points(array(x)))))
            rows, columns = np.tril_indices(self._size, -1)
            first = Complex(array(w.re[..., rows]), array(w.im[..., rows]))
            other = Complex(array(w.re[..., columns]), array(w.im[..., columns]))
            off = cx.multiply(other.conj, first)
            squares = w.re * w.re + w.im * w.im
            diagonal = preshapes.flatten(Complex(squares, np.zeros_like(squares))).re
            root = math.sqrt(2.0)
            return np.concatenate([diagonal, root * off.re, root * off.im], axis=-1)

    def matrix(self, y: Array) -> Array:
        """The traceless Hermitian matrices with these coordinates, complex ``(..., k-1, k-1)``."""
        y, size = array(y), self._size
        rows, columns = np.tril_indices(size, -1)
        pairs = len(rows)
        out = np.zeros((*y.shape[:-1], size, size), dtype=np.complex128)
        lead = np.asarray(y[..., : size - 1])
        at = np.arange(size)
        out[..., at, at] = preshapes.lift(Complex(lead, np.zeros_like(lead))).re
        lower = (y[..., size - 1 : size - 1 + pairs] + 1j * y[..., size - 1 + pairs :]) / math.sqrt(
            2
        )
        out[..., rows, columns] = lower
        out[..., columns, rows] = np.conj(lower)
        return out

    def nearest(self, y: Array) -> Array:
        _, vectors = np.linalg.eigh(self.matrix(y))
        top = vectors[..., -1]
        w = preshapes.lift(Complex(array(top.real), array(top.imag)))
        with quiet():
            return cx.to_points(preshapes.canonical(cx.unit(cx.centred(w))))

    def chord(self, radius: float) -> float:
        return math.sqrt(2.0) * math.sin(2.0 * min(radius, math.pi / 4))
