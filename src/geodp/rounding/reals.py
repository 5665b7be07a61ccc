"""Random reals that are known to finitely many bits and can always be asked for more."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from flint import arb

    from geodp.random import BitStream

GUARD = 64  # bits of a uniform beyond the working precision
FIRST = 192  # bits of a uniform at birth: the first working precision and the guard


@final
class Reals:
    """Uniform reals that share one stream and are extended together.

    All reals born so far grow in order of birth and by doubling, so what they become depends on
    the stream alone and not on which of them asked for bits, or in how many steps.
    """

    __slots__ = ("_all", "_known", "_stream")

    def __init__(self, stream: BitStream) -> None:
        self._stream = stream
        self._known = FIRST
        self._all: list[Uniform] = []

    def bit(self) -> int:
        """A fair bit."""
        return self._stream.bits(1)

    def uniform(self) -> Uniform:
        """A new real, uniform on (0, 1)."""
        real = Uniform(self, self._stream.bits(self._known))
        self._all.append(real)
        return real

    def extend(self, bits: int) -> int:
        """See to it that every real knows at least ``bits`` bits; return how many it knows."""
        while self._known < bits:
            for real in self._all:
                real.append(self._stream.bits(self._known), self._known)
            self._known *= 2
        return self._known


@final
class Uniform:
    """A real uniform on (0, 1), of which a growing prefix of the binary expansion is known."""

    __slots__ = ("_digits", "_family")

    def __init__(self, family: Reals, digits: int) -> None:
        self._family = family
        self._digits = digits

    def append(self, digits: int, count: int) -> None:
        """Append ``count`` binary digits; only the family does this."""
        self._digits = (self._digits << count) | digits

    def digits(self, bits: int) -> int:
        """The first ``bits`` binary digits, as an integer in ``[0, 2**bits)``."""
        known = self._family.extend(bits)
        return self._digits >> (known - bits)

    def ball(self, precision: int) -> arb:
        """A ball around the real, good for working with ``precision`` bits."""
        from flint import arb

        bits = precision + GUARD
        return arb((2 * self.digits(bits) + 1, -bits - 1), (1, -bits - 1))
