"""What a space is: the small required core, and what follows from it for every space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from geodp.spaces.lattice import LogSum, unit

if TYPE_CHECKING:
    from flint import arb

    from geodp.kernels.kernel import Kernel, Pass

Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


class Space(ABC):
    """A Riemannian manifold whose points are float64 arrays of shape ``(..., *point_shape)``.

    Batch axes come first and broadcast; the base point comes first in every call. Tangent vectors
    have the shape of points. ``coords`` and ``vector`` translate between tangent vectors at ``p``
    and their coordinates ``(..., dim)`` in an orthonormal basis that depends on ``p`` alone.

    Every operation treats each record by itself: a batch gives bit for bit what its records give
    one by one.

    Examples
    --------
    >>> import numpy as np, geodp as gd
    >>> space = gd.Sphere(2)
    >>> p, q = space.origin, np.array([0.0, 1.0, 0.0])
    >>> v = space.log(p, q)
    >>> space.exp(p, v).round(9), round(float(space.dist(p, q)), 6), space.curvature
    (array([0., 1., 0.]), 1.570796, (1.0, 1.0))
    """

    # --- constants ------------------------------------------------------------------------------
    @property
    @abstractmethod
    def spec(self) -> str:
        """The space as a string, such as ``"spd:3:affine-invariant"``; see ``parse_space``."""

    @property
    @abstractmethod
    def dim(self) -> int:
        """Dimension of the manifold."""

    @property
    @abstractmethod
    def point_shape(self) -> tuple[int, ...]:
        """Shape of one point."""

    @property
    @abstractmethod
    def origin(self) -> Array:
        """A distinguished point, shape ``point_shape``."""

    @property
    @abstractmethod
    def curvature(self) -> tuple[float, float]:
        """Least and greatest sectional curvature; ``(0, 0)`` in dimension one."""

    @property
    @abstractmethod
    def ricci_lower(self) -> float:
        """A lower bound on Ric(u, u) over unit vectors u."""

    @property
    @abstractmethod
    def injectivity_radius(self) -> float:
        """Injectivity radius, ``inf`` where exp is a diffeomorphism."""

    @property
    @abstractmethod
    def is_homogeneous(self) -> bool:
        """Whether isometries move any point to any other."""

    @property
    @abstractmethod
    def is_two_point_homogeneous(self) -> bool:
        """Whether isometries move any pair of points to any other pair at the same distance."""

    @property
    def is_hadamard(self) -> bool:
        """Complete, simply connected, nowhere positive curvature."""
        return self.curvature[1] <= 0 and self.injectivity_radius == np.inf

    @property
    def is_flat(self) -> bool:
        """Whether log-coordinates at any point are a global isometry with Euclidean space."""
        return self.is_hadamard and self.curvature == (0.0, 0.0)

    @property
    def factors(self) -> tuple[Space, ...]:
        """The spaces this one is a Riemannian product of; ``(self,)`` for all but products."""
        return (self,)

    @property
    def cell(self) -> Space:
        """The space that each of ``cells`` places holds a point of; a Power has many, others one.

        Arrays of points keep the places on an axis of their own, in front of the cell's axes.
        """
        return self

    @property
    def cells(self) -> int:
        """The number of places."""
        return 1

    def split(self, x: ArrayLike) -> tuple[Array, ...]:
        """The factors' points of ``x``, one array ``(..., *factor.point_shape)`` per factor."""
        return (np.asarray(x, dtype=np.float64),)

    def join(self, parts: Sequence[ArrayLike]) -> Array:
        """The inverse of ``split``."""
        return np.asarray(parts[0], dtype=np.float64)

    # --- membership -----------------------------------------------------------------------------
    @abstractmethod
    def contains(self, x: ArrayLike) -> BoolArray:
        """One bool per record, never an error: whether ``x`` is a point, to 1e-6 relative.

        An array without the trailing shape of points holds none.
        """

    @abstractmethod
    def project(self, x: ArrayLike) -> Array:
        """Remove rounding: the nearest exact point to an ``x`` that ``contains`` accepts.

        Idempotent; anything that is no point passes through without an error.
        """

    def cut_locus(self, p: ArrayLike, q: ArrayLike) -> BoolArray:
        """One bool per pair: ``q`` is on the cut locus of ``p``, or too near for floats to tell."""
        shape = np.broadcast_shapes(np.shape(p), np.shape(q))
        return np.zeros(shape[: len(shape) - len(self.point_shape)], dtype=bool)

    # --- geometry -------------------------------------------------------------------------------
    @abstractmethod
    def exp(self, p: ArrayLike, v: ArrayLike) -> Array:
        """The point reached from ``p`` along ``v`` in unit time."""

    @abstractmethod
    def log(self, p: ArrayLike, q: ArrayLike) -> Array:
        """The tangent vector at ``p`` with ``exp(p, v) = q``; ``CutLocusError`` where undefined."""

    @abstractmethod
    def dist(self, p: ArrayLike, q: ArrayLike) -> Array:
        """Geodesic distance, exactly 0 for equal points."""

    @abstractmethod
    def inner(self, p: ArrayLike, u: ArrayLike, v: ArrayLike) -> Array:
        """Riemannian inner product of two tangent vectors at ``p``."""

    @abstractmethod
    def coords(self, p: ArrayLike, v: ArrayLike) -> Array:
        """Coordinates ``(..., dim)`` of ``v`` in the orthonormal basis at ``p``."""

    @abstractmethod
    def vector(self, p: ArrayLike, z: ArrayLike) -> Array:
        """The tangent vector at ``p`` with coordinates ``z``; the inverse of ``coords``."""

    @abstractmethod
    def log_volume_density(self, p: ArrayLike, v: ArrayLike) -> Array:
        """Log of the Jacobian determinant of ``exp_p`` at ``v``."""

    @abstractmethod
    def hessian(self, p: ArrayLike, q: ArrayLike) -> Array:
        """Hessian of ``dist(., q)**2 / 2`` at ``p`` in the basis there, ``(..., dim, dim)``."""

    def norm(self, p: ArrayLike, v: ArrayLike) -> Array:
        """Riemannian length of a tangent vector."""
        return np.asarray(np.sqrt(np.maximum(self.inner(p, v, v), 0.0)))

    def log_coords(self, p: ArrayLike, q: ArrayLike) -> Array:
        """``coords(p, log(p, q))``."""
        return self.coords(p, self.log(p, q))

    def exp_coords(self, p: ArrayLike, z: ArrayLike) -> Array:
        """``exp(p, vector(p, z))``."""
        return self.exp(p, self.vector(p, z))

    def kernel(self) -> Kernel | None:
        """The compiled pass over many records, or None where numpy does all the work."""
        return None

    def log_sum(
        self, p: ArrayLike, chunk: ArrayLike, scale: float = 1.0, fused: Pass | None = None
    ) -> LogSum:
        """Exact sums over a chunk ``(n, *point_shape)`` of log_p x_i, in coordinates, and of rho^2.

        The sums live on an integer lattice, so they do not depend on how records are chunked or
        ordered. ``scale`` is a public bound on the distances from ``p``. ``fused``,
        the space's kernel at ``p``, is the compiled way: points need no ``project`` then.
        """
        if fused is None:
            return LogSum.of(self.log_coords(p, chunk), scale)
        block = np.asarray(chunk)
        total, left = self.fused_sum(fused, block, scale, scale)
        if left.any():
            total = total.merge(self.log_sum(p, self.project(block[left]), scale))
        return total

    def fused_sum(
        self, fused: Pass, block: Array, scale: float, limit: float
    ) -> tuple[LogSum, BoolArray]:
        """The kernel's ``log_sum`` over the points of ``block`` within ``limit`` of its base point,
        and one bool per record: left out, because it is no such point, or numpy has to decide."""
        limbs, left = fused.sums(block, unit(scale), unit(scale * scale), limit)
        count = len(block) - int(np.count_nonzero(left))
        return LogSum.of_limbs(count, scale, limbs), left

    # --- what the proofs need -------------------------------------------------------------------
    @abstractmethod
    def log_error(self, center: ArrayLike, radius: float) -> float:
        """A public bound on the rounding of ``log_coords(x, y)``, as a length.

        Holds for every ``x`` and ``y`` within ``radius`` of ``center`` (so at most ``2 * radius``
        apart), inputs being read as the exact points that their floats stand for.
        """

    @property
    def projection_error(self) -> float:
        """A public bound on how far rounding in ``project`` moves a point, as a length, where that
        may be more than ``log_error`` next to the centre of a small ball."""
        return 0.0

    @abstractmethod
    def exp_arb(self, p: Array, z: Sequence[arb]) -> list[arb]:
        """``exp(p, vector(p, z))`` in ball arithmetic: the point's entries, row by row.

        What an exactly rounded release is made of. ``p`` is one public point, ``z`` holds ``dim``
        balls. The basis may differ from that of ``vector`` by rounding only.
        """

    # --- identity -------------------------------------------------------------------------------
    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Space) and self.spec == other.spec

    def __hash__(self) -> int:
        return hash(self.spec)

    def __repr__(self) -> str:
        return f"<{self.spec}>"
