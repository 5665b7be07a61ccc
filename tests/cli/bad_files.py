"""Files that are cut off, named wrongly, or claim or become more than a machine holds.

``make(folder)`` writes them; run as a program, this reads each with a command under a limit of
memory, and prints what came of it. The limit is above what the process holds when it starts, so
that a reader that allocates what a header claims fails.
"""

from __future__ import annotations

import gzip
import io
import json
import resource
import struct
import sys
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

ROOM = 120 * 2**20  # bytes above what is held at first
HUGE = 10**12  # records
LONG = 2**28  # bytes of a sparse file, or of an unpacked one
BALL = ("--space", "spd:3", "--eigenvalues", "0.1", "3")
MAP = ("--space", "spd:3^50000", "--layout", "lower")
UNIT = ("--physical-unit", "mm^2/s", "--layout", "lower")
LEDGER = ("--gdp", "1", "--ledger", "budget.db", "--dataset", "d")
BINARY = bytes(range(256)) * 40
DEEP = b"[" * 100_000 + b"]" * 100_000


def npy_header(shape: tuple[int, ...], descr: str = "<f8", version: int = 1) -> bytes:
    text = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode() + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text


def array_file() -> bytes:
    out = io.BytesIO()
    np.save(out, np.tile(np.eye(3), (9, 1, 1)))
    return out.getvalue()


def zipped(content: bytes, member: str = "x.npy", claimed: int | None = None) -> bytes:
    """One member; ``claimed`` is the size that the directory lies about."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, content)
    made = out.getvalue()
    if claimed is None:
        return made
    start = made.rindex(b"PK\x01\x02")
    return made[: start + 24] + struct.pack("<I", claimed) + made[start + 28 :]


def zip_bomb(first: bytes, zeros: int, member: str = "x.npy") -> bytes:
    """A member that unpacks to ``first`` and many zeros, without holding them."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(member, "w", force_zip64=True) as stream,
    ):
        stream.write(first)
        for _ in range(zeros >> 22):
            stream.write(bytes(1 << 22))
    return out.getvalue()


def gzip_bomb(first: bytes, zeros: int) -> bytes:
    packer = zlib.compressobj(wbits=31)
    parts = [packer.compress(first)]
    parts += [packer.compress(bytes(1 << 22)) for _ in range(zeros >> 22)]
    return b"".join([*parts, packer.flush()])


def nifti(dims: tuple[int, ...], offset: float = 352, extension: int = 0, code: int = 64) -> bytes:
    """A header (nifti1.h), field by field."""
    header = bytearray(352)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, len(dims), *dims, *[1] * (7 - len(dims)))
    struct.pack_into("<2h", header, 70, code, 64)
    struct.pack_into("<8f", header, 76, *[1.0] * 8)
    struct.pack_into("<2f", header, 108, offset, 1.0)
    header[344:348] = b"n+1\0"
    if extension:
        header[348] = 1
        header += struct.pack("<2i", extension, 6)
    return bytes(header)


def nifti2(dims: tuple[int, ...]) -> bytes:
    """The same in nifti2.h, whose sizes have 64 bits."""
    header = bytearray(544)
    struct.pack_into("<i", header, 0, 540)
    header[4:12] = b"n+2\0\r\n\x1a\n"
    struct.pack_into("<2h", header, 12, 64, 64)
    struct.pack_into("<8q", header, 16, len(dims), *dims, *[1] * (7 - len(dims)))
    struct.pack_into("<8d", header, 104, *[1.0] * 8)
    struct.pack_into("<q", header, 168, 544)
    struct.pack_into("<d", header, 176, 1.0)
    return bytes(header)


def parquet(rows: int, column: str = "record") -> bytes:
    """Every record null: a few bytes, whatever their number."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kind = pa.list_(pa.float64(), 9)
    out = io.BytesIO()
    schema = pa.schema([pa.field(column, kind)])
    with pq.ParquetWriter(out, schema) as writer:
        nulls = pa.array([None] * rows, kind)
        writer.write_table(pa.table([nulls], schema=schema), row_group_size=rows)
    return out.getvalue()


def footer(content: bytes, length: int) -> bytes:
    """Another length of the footer than is true."""
    return content[:-8] + struct.pack("<I", length) + content[-4:]


def deep(key: str) -> bytes:
    return b'{"schema": "geodp/release/v1", "' + key.encode() + b'": ' + DEEP + b"}"


Contents = dict[str, "bytes | Callable[[Path], None]"]


def sparse(head: bytes, length: int) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with path.open("wb") as file:
            file.write(head)
            file.truncate(length)

    return make


def files() -> Contents:
    """By name; the ending says which reader takes them."""
    whole, table = array_file(), parquet(9)
    volume = nifti((4, 4, 4, 6)) + bytes(8 * 64 * 6)
    pixels = npy_header((HUGE, 28, 28), "|u1")
    return {
        "cut.npy": whole[:-100],
        "cut-header.npy": whole[:40],
        "empty.npy": b"",
        "words.npy": b"LM=3\n0 0\n",
        "zip.npy": b"PK\x05\x06",
        "claims.npy": npy_header((HUGE, 3, 3)) + bytes(72),
        "overflows.npy": npy_header((2**40, 2**40, 3)) + bytes(72),
        "negative.npy": npy_header((-1, 3, 3)) + bytes(72),
        "long-header.npy": sparse(b"\x93NUMPY\x02\x00\xff\xff\xff\x0f", LONG),
        "deep-header.npy": b"\x93NUMPY\x01\x00" + struct.pack("<H", 9000) + b"(" * 9000,
        "object.npy": npy_header((9, 3, 3), "|O") + bytes(72),
        "text.npy": npy_header((9, 3, 3), "<U4") + bytes(9 * 9 * 16),
        "flat.npy": npy_header((HUGE, 0)),
        "cut.npz": zipped(whole)[:-60],
        "words.npz": b"a,b\n1,2\n",
        "none.npz": b"PK\x05\x06" + bytes(18),
        "binary.npz": b"PK\x03\x04" + BINARY,
        "claims.npz": zipped(npy_header((HUGE, 3, 3)) + bytes(72)),
        "lies.npz": zipped(npy_header((10**7, 3, 3)) + bytes(72), claimed=2**31),
        "bomb.npz": zip_bomb(npy_header((LONG // 72, 3, 3)), LONG),
        "bomb-header.npz": zip_bomb(b"\x93NUMPY\x02\x00\xff\xff\xff\x0f", LONG),
        "bomb-bytes.npz": zip_bomb(b"no array", LONG),
        "text.npz": zipped(b"no array at all"),
        "empty.csv": b"",
        "binary.csv": BINARY.replace(b"\n", b" "),
        "null.csv": bytes(10**6),
        "line.csv": sparse(b"1,2,3", LONG),
        "ids.csv": sparse(b"w" + b",x" * 9, LONG),
        "utf16.csv": "1,0,0\n".encode("utf-16"),
        "packed.csv": gzip.compress(b"1,0,0,0,1,0,0,0,1\n" * 99),
        "empty.tps": b"",
        "words.tps": b"landmarks\n",
        "binary.tps": BINARY,
        "claims.tps": b"LM=1000000000\n0 0\n1 1\n",
        "points.tps": b"LM=3\n0 0\n1 1\n0 1\nCURVES=999999999\nPOINTS=999999999\n",
        "line.tps": sparse(b"LM=3\n0 0\n", LONG),
        "null.tps": b"LM=3\n" + bytes(10**6),
        "empty.nii": b"",
        "words.nii": b"lon,lat\n" * 99,
        "cut.nii": volume[:-64],
        "cut-header.nii": volume[:200],
        "claims.nii": nifti((32767,) * 3 + (6,)),
        "overflows.nii": nifti((32767,) * 7),
        "negative.nii": nifti((-5, 4, 4, 6)),
        "claims2.nii": nifti2((2**40, 2**40, 2**40, 6)),
        "far.nii": nifti((4, 4, 4, 6), offset=1e30),
        "extension.nii": sparse(nifti((4, 4, 4, 6), offset=LONG - 2.0**20, extension=2**27), LONG),
        "complex.nii": nifti((4, 4, 4, 6), code=1792) + bytes(16 * 64 * 6),
        "plain.nii.gz": volume,
        "cut.nii.gz": gzip.compress(volume, mtime=0)[:-30],
        "claims.nii.gz": gzip_bomb(nifti((32767,) * 3 + (6,)), 2**24),
        "extension.nii.gz": gzip_bomb(
            nifti((4, 4, 4, 6), offset=float(LONG), extension=LONG), LONG
        ),
        "empty.parquet": b"",
        "words.parquet": b"a,b\n1,2\n",
        "cut.parquet": table[:-40],
        "binary.parquet": b"PAR1" + BINARY + b"PAR1",
        "footer.parquet": footer(table, 2**31),
        "footer-short.parquet": footer(table, 8),
        "nulls.parquet": parquet(6 * 10**6),
        "empty.json": b"",
        "words.json": b"a,b\n",
        "cut.json": b'{"schema": "geodp/release/v1", "request": {"space": ',
        "deep.json": DEEP,
        "deep-request.json": deep("request"),
        "deep-outcome.json": deep("outcome"),
        "long.json": sparse(b"[", LONG),
        "digits.json": b'{"schema": ' + b"9" * 10**6 + b"}",
        "latin.json": b'{"schema": "\xe9"}',
        "claims-images.npz": zipped(pixels, "train_images.npy"),
        "no-images.npz": zipped(whole, "train_images.npy"),
        "long.txt": sparse(b"anna\n", LONG),
        "latin.txt": b"Ren\xe9\n" * 9,
        "long.key": sparse(b"{", LONG),
        "deep.key": DEEP,
    }


def commands(name: str) -> Iterator[tuple[str, ...]]:
    """Every command that reads such a file."""
    stem, _, ending = name.partition(".")
    shapes = ("--space", "shapes:3", "--center", "0,0,1,0,0,1", "--radius", "0.1")
    if "images" in stem or stem in ("good", "lines"):
        return
    if ending in ("npy", "npz", "csv", "parquet"):
        header = ("--no-header",) if ending == "csv" else ()
        yield ("release", name, *BALL, *LEDGER, *header)
        yield ("release", name, *BALL, *LEDGER, "--header" if header else "--key=x", "--entities=w")
        if ending != "csv":  # of which any line is a record
            yield ("inspect", name, *BALL)
            yield ("infer", name, *BALL, *LEDGER)
            yield ("convert", name, "--space", "spd:3", "--out", "out.csv")
            yield ("plan", *BALL[:2], "--center", name, "--radius", "1", "--n", "9", "--gdp", "1")
    if ending == "npy":
        yield ("convert", "good.npy", "--space", "spd:3", "--linear-map", name, "--out", "out.npy")
        yield ("release", "good.npy", *BALL, *LEDGER, "--entities", name)
    if ending == "tps":
        yield ("release", name, *shapes, *LEDGER)
    if ending.startswith("nii"):
        yield ("release", name, *BALL, *UNIT, *LEDGER)
        yield ("inspect", name, "--space", "spd:3", *UNIT)
        yield ("convert", name, "--space", "spd:3", *UNIT, "--out", "out.csv")
        for what in ("--mask", "--atlas"):
            yield ("inspect", "good.nii", *MAP[:2], *UNIT, "--subjects", what, name)
    if ending == "json":
        yield ("release", name, "good.npy", *LEDGER[2:])
        yield ("verify", name)
        yield ("report", name, "--out", "out.html")
        yield ("convert", name, "--out", "out.npy")
        yield ("ledger", "verify", name)
        yield ("ledger", "verify", "budget.db", "--against", name)
    if ending == "txt":
        yield ("release", "good.npy", *BALL, *LEDGER, "--entities", name)
        yield ("infer", "good.npy", *BALL, *LEDGER, "--by", name, "--public-labels")


def more_commands() -> Iterator[tuple[str, ...]]:
    """Devices, folders, keys, and files whose short lines become long records."""
    for name in ("/dev/zero", ".", "none.npy", "a\0b"):
        yield ("inspect", name, *BALL, "--no-header")
        yield ("verify", name)
        yield ("release", "good.npy", *BALL, *LEDGER, "--entities", name)
        yield ("inspect", "good.nii", *MAP[:2], *UNIT, "--subjects", "--mask", name)
    for name in ("long.key", "deep.key"):
        yield ("release", "good.npy", *BALL, *LEDGER, "--ledger-key", name)
    yield ("inspect", "lines.csv", *MAP, "--no-header")
    yield ("inspect", "lines.tps", "--space", "shapes:40000")
    yield ("inspect", "lines.csv", "--space", "shapes:40000", "--layout", "long", "--no-header")


def make(folder: Path) -> None:
    for name, content in files().items():
        if callable(content):
            content(folder / name)
        else:
            (folder / name).write_bytes(content)
    for name in ("long.key", "deep.key"):
        (folder / name).chmod(0o600)
    (folder / "good.npy").write_bytes(array_file())
    (folder / "good.nii").write_bytes(nifti((4, 4, 4, 6)) + bytes(8 * 64 * 6))
    (folder / "lines.csv").write_bytes(b"".join(b"%d\n" % i for i in range(200_000)))
    (folder / "lines.tps").write_bytes(b"LM=1\n" * 200_000)


def main() -> None:
    """One JSON line for each command: the words, the exit code, and what it said."""
    import nibabel  # noqa: F401  (held before the limit is set, like the next)
    import pyarrow.parquet  # noqa: F401
    from click.testing import CliRunner

    from geodp.cli import main as program

    warnings.simplefilter("error")
    names = sorted(path.name for path in Path().iterdir())
    run = CliRunner().invoke
    assert run(program, ["ledger", "init", "budget.db", "--gdp", "9", "--unit", "x"]).exit_code == 0
    assert run(program, ["release", "good.npy", *BALL, "--gdp", "1"]).exit_code == 0
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + ROOM, resource.RLIM_INFINITY))
    for words in (*(w for name in names for w in commands(name)), *more_commands()):
        result = run(program, list(words))
        print(json.dumps([words, result.exit_code, result.stdout, result.stderr]), flush=True)
    shown = run(program, ["ledger", "show", "budget.db"])
    print(json.dumps(json.loads(shown.stdout)["budget"]["spent"]))


if __name__ == "__main__":
    sys.path[:] = [p for p in sys.path if p]
    main()
