"""The only place where randomness enters: streams of independent fair bits."""

from __future__ import annotations

import os
import secrets
import threading
from abc import ABC, abstractmethod
from typing import Any, ClassVar, NoReturn, final

import numpy as np

from geodp.errors import InputError

_PUBLIC_SEED = 20220513
_forks = 0  # how often this process line has forked; a stream that lags behind it takes a new key


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


class BitStream(ABC):
    """A source of independent fair bits; safe to share between threads.

    ``private`` says whether nobody can predict or replay the bits.
    """

    __slots__ = ()
    private: ClassVar[bool]

    @abstractmethod
    def bits(self, count: int) -> int:
        """The next ``count`` bits as an integer in ``[0, 2**count)``."""


@final
class SecureBits(BitStream):
    """ChaCha20 (20 rounds) under 256 key bits of the operating system: the bits of a release.

    A forked child takes a new key before its first bit. The key can be neither printed, pickled
    nor copied (``TypeError``).

    >>> stream = SecureBits()
    >>> 0 <= stream.bits(7) < 128
    True
    """

    __slots__ = ("_cipher", "_lock", "_process")
    private: ClassVar[bool] = True

    _cipher: Any
    _lock: threading.Lock
    _process: tuple[int, int]

    def __init__(self) -> None:
        self._rekey((_forks, os.getpid()))

    def _rekey(self, process: tuple[int, int]) -> None:
        self._lock = threading.Lock()  # the old one may be held by a thread the child lacks
        self._cipher = chacha20(secrets.token_bytes(32))
        self._process = process

    def bits(self, count: int) -> int:
        process = (_forks, os.getpid())
        if self._process != process:
            self._rekey(process)
        words = -(-count // 64)
        with self._lock:
            raw = self._cipher.random_raw(words)
        return _low_bits(raw.astype("<u8").tobytes(), count)

    def __repr__(self) -> str:
        return "<SecureBits>"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("A SecureBits stream cannot be pickled or copied; make a new one.")

    def __copy__(self) -> NoReturn:
        raise TypeError("A SecureBits stream cannot be copied; make a new one.")

    def __deepcopy__(self, memo: Any) -> NoReturn:
        raise TypeError("A SecureBits stream cannot be copied; make a new one.")


@final
class GeneratorBits(BitStream):
    """Bits of a seeded numpy generator: for simulation and replay, never for a private release.

    >>> a, b = (GeneratorBits(np.random.default_rng(1)) for _ in range(2))
    >>> a.bits(100) == b.bits(100)
    True
    """

    __slots__ = ("_lock", "_rng")
    private: ClassVar[bool] = False

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = check_generator(rng)
        self._lock = threading.Lock()

    def bits(self, count: int) -> int:
        with self._lock:
            raw = self._rng.bytes(-(-count // 8))
        return _low_bits(raw, count)

    def __repr__(self) -> str:
        return "<GeneratorBits, not private>"


def chacha20(key: bytes, block: int = 0) -> Any:
    """The ChaCha20 keystream under a key of 32 bytes, set directly, as a numpy bit generator.

    Starts at ``block``, which holds the block counter in its low and the nonce in its high 64
    bits, as in the cipher's first publication (Bernstein 2008); RFC 8439 agrees on the first
    2**32 blocks.
    """
    from randomgen import ChaCha

    words = np.frombuffer(key, dtype="<u8").astype(np.uint64)
    return ChaCha(key=words, counter=16 * block, rounds=20)  # it counts words of 32 bits


def check_generator(rng: object) -> np.random.Generator:
    """``rng`` if it is a numpy ``Generator``; ``InputError`` otherwise."""
    if isinstance(rng, np.random.Generator):
        return rng
    raise InputError(
        "rng must be a numpy.random.Generator, such as numpy.random.default_rng(1), and then the "
        f"output is not private; got {type(rng).__name__}. Leave rng out for a private release."
    )


def public_rng() -> np.random.Generator:
    """A generator under a public seed: simulated figures are the same for everyone. Never noise."""
    return np.random.default_rng(_PUBLIC_SEED)


def bit_stream(rng: np.random.Generator | None = None) -> BitStream:
    """A fresh secure stream, or the bits of a numpy ``Generator`` (then not private)."""
    return SecureBits() if rng is None else GeneratorBits(rng)


def _low_bits(raw: bytes, count: int) -> int:
    return int.from_bytes(raw, "little") & ((1 << count) - 1)
