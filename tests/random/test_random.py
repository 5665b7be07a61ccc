"""The bits: the cipher's published keystream, forks, secrecy, validation."""

import copy
import os
import pickle
import struct
import subprocess
import sys
import threading

import numpy as np
import pytest

import geodp.random as gr
from geodp.errors import InputError
from geodp.random import GeneratorBits, SecureBits, bit_stream, chacha20

# RFC 8439, appendix A.1: key, block counter, nonce (its last 8 bytes), keystream
RFC = [
    (
        bytes(32),
        0,
        bytes(8),
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
    ),
    (
        bytes(32),
        1,
        bytes(8),
        "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
        "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f",
    ),
    (
        bytes(31) + b"\x01",
        1,
        bytes(8),
        "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a"
        "8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0",
    ),
    (
        b"\x00\xff" + bytes(30),
        2,
        bytes(8),
        "72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca"
        "13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096",
    ),
    (
        bytes(32),
        0,
        bytes(7) + b"\x02",
        "c2c64d378cd536374ae204b9ef933fcd1a8b2288b3dfa49672ab765b54ee27c7"
        "8a970e0e955c14f3a88e741b97c286f75f8fc299e8148362fa198a39531bed6d",
    ),
]


def reference_block(key: bytes, counter: int) -> bytes:
    """One ChaCha20 block in plain Python, from the RFC's description."""
    state = [*struct.unpack("<4I", b"expand 32-byte k"), *struct.unpack("<8I", key)]
    state += [(counter >> (32 * i)) & 0xFFFFFFFF for i in range(4)]
    x = list(state)

    def quarter(a: int, b: int, c: int, d: int) -> None:
        for i, j, k, r in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[i] = (x[i] + x[j]) & 0xFFFFFFFF
            x[k] ^= x[i]
            x[k] = ((x[k] << r) | (x[k] >> (32 - r))) & 0xFFFFFFFF

    for _ in range(10):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(x, state, strict=True)))


@pytest.mark.parametrize(("key", "counter", "nonce", "expected"), RFC)
def test_published_keystream(key, counter, nonce, expected):
    full = counter | int.from_bytes(nonce, "little") << 64
    stream = chacha20(key, full).random_raw(8).astype("<u8").tobytes()
    assert stream.hex() == expected
    assert reference_block(key, full).hex() == expected


def test_long_keystream_is_consecutive_blocks():
    key = bytes(range(32))
    expected = b"".join(reference_block(key, i) for i in range(300))
    cipher = chacha20(key)
    sizes = [1, 7, 8, 9, 64, 1000, 1311]  # words per call; uneven on purpose
    stream = b"".join(cipher.random_raw(n).astype("<u8").tobytes() for n in sizes)
    assert sum(sizes) * 8 == len(expected)
    assert stream == expected


def test_secure_bits_are_the_keystream_of_the_system_key(monkeypatch):
    key = bytes(range(100, 132))
    asked = []
    monkeypatch.setattr(gr.secrets, "token_bytes", lambda n: asked.append(n) or key)
    stream = SecureBits()
    assert asked == [32]
    expected = int.from_bytes(reference_block(key, 0), "little")
    assert stream.bits(320) == expected % 2**320
    assert stream.bits(190) == (expected >> 320) % 2**190


def test_streams_differ_and_key_is_fresh():
    assert SecureBits().bits(256) != SecureBits().bits(256)


def test_child_of_a_fork_has_its_own_bits():
    code = (
        "import os, sys\n"
        "from geodp.random import SecureBits\n"
        "s = SecureBits(); s.bits(64); s._lock.acquire()\n"  # a lock held while forking
        "r, w = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    os.write(w, b'%064x' % s.bits(256)); os._exit(0)\n"
        "s._lock.release(); os.wait()\n"
        "child = os.read(r, 64)\n"
        "assert child != b'%064x' % s.bits(256)\n"
        "print('different')\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert out.stdout == "different\n", out.stderr


@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy, pickle.dumps])
def test_secure_bits_cannot_be_copied(copier):
    with pytest.raises(TypeError, match="SecureBits"):
        copier(SecureBits())


def test_no_state_is_shown():
    stream = SecureBits()
    assert repr(stream) == str(stream) == "<SecureBits>"
    assert not hasattr(stream, "__dict__")
    rng = np.random.default_rng(1)
    assert repr(GeneratorBits(rng)) == "<GeneratorBits, not private>"


def test_private_says_who_may_release():
    assert SecureBits.private is True
    assert GeneratorBits.private is False
    assert bit_stream().private is True
    assert bit_stream(np.random.default_rng(1)).private is False


@pytest.mark.parametrize("rng", [0, 1, True, "1", np.random.RandomState(1), np.random, [1]])
def test_only_a_numpy_generator_seeds(rng):
    with pytest.raises(InputError, match=r"numpy\.random\.Generator"):
        bit_stream(rng)
    with pytest.raises(InputError, match="not private"):
        GeneratorBits(rng)


def test_replay():
    a, b = (bit_stream(np.random.default_rng(7)) for _ in range(2))
    counts = [0, 1, 7, 8, 9, 64, 65, 192, 1000]
    assert [a.bits(n) for n in counts] == [b.bits(n) for n in counts]


@pytest.mark.parametrize("stream", [SecureBits(), GeneratorBits(np.random.default_rng(3))])
def test_bits_are_fair_and_in_range(stream):
    # the secure stream cannot be seeded: 6 standard deviations, flake rate 70 * 2e-9 < 1e-6
    for count in (0, 1, 3, 64, 65):
        draws = [stream.bits(count) for _ in range(2000)]
        assert all(0 <= d < 2**count for d in draws)
        for i in range(count) if count != 65 else (0, 64):
            ones = sum(d >> i & 1 for d in draws)
            assert abs(ones - 1000) < 6 * np.sqrt(500)


def test_threads_never_see_the_same_bits():
    stream = SecureBits()
    seen: list[list[int]] = [[] for _ in range(4)]

    def draw(into: list[int]) -> None:
        into.extend(stream.bits(128) for _ in range(500))

    threads = [threading.Thread(target=draw, args=(s,)) for s in seen]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len({b for s in seen for b in s}) == 2000
    assert os.getpid() == stream._process[1]
