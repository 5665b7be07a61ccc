"""A ledger's two secrets, kept beside it and never in it: the signing key and the digest key."""

from __future__ import annotations

import base64
import json
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import final

from geodp.errors import LedgerError
from geodp.ledger.seal import Seal

_LONGEST = 2**12  # characters of a key's file


@final
@dataclass(frozen=True, repr=False)
class Keys:
    """An Ed25519 seed and an HMAC key of 32 bytes each; neither prints nor pickles."""

    ledger: str
    seed: bytes
    digest: bytes

    @classmethod
    def fresh(cls, ledger: str) -> Keys:
        """New keys from the operating system, for the ledger of this id."""
        return cls(ledger, secrets.token_bytes(32), secrets.token_bytes(32))

    @property
    def public(self) -> str:
        """The public key that verifies receipts, in base64."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        key = Ed25519PrivateKey.from_private_bytes(self.seed).public_key()
        return base64.b64encode(key.public_bytes_raw()).decode("ascii")

    def seal(self, document: str) -> Seal:
        """The signature of a text."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        signature = Ed25519PrivateKey.from_private_bytes(self.seed).sign(document.encode())
        return Seal(document, self.public, base64.b64encode(signature).decode("ascii"))

    def save(self, path: Path) -> None:
        """Write a new file that only its owner can read; LedgerError where one exists."""
        text = json.dumps(
            {
                "geodp_ledger_key": 1,
                "ledger": self.ledger,
                "ed25519_seed": base64.b64encode(self.seed).decode("ascii"),
                "hmac_key": base64.b64encode(self.digest).decode("ascii"),
            }
        )
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(text + "\n")
                file.flush()
                os.fsync(file.fileno())
        except FileExistsError as error:
            raise LedgerError(
                f"There is a key at {str(path)!r} already; a new ledger needs another place."
            ) from error
        except OSError as error:
            raise LedgerError(f"The key cannot be written to {str(path)!r}.") from error

    @classmethod
    def load(cls, path: Path, ledger: str) -> Keys:
        """The keys of the ledger of this id; LedgerError says what is wrong with the file."""
        try:
            mode = path.stat().st_mode
            with path.open(encoding="ascii") as file:
                document = json.loads(file.read(_LONGEST))
            keys = cls(
                document["ledger"],
                base64.b64decode(document["ed25519_seed"], validate=True),
                base64.b64decode(document["hmac_key"], validate=True),
            )
        except OSError as error:
            raise LedgerError(
                f"The ledger's key {str(path)!r} cannot be read; releases need it. Name its place "
                "with key= or the variable GEODP_LEDGER_KEY."
            ) from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise LedgerError(f"{str(path)!r} is no key of a ledger.") from error
        if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise LedgerError(
                f"The ledger's key {str(path)!r} can be read by others: chmod 600 makes it its "
                "owner's alone."
            )
        if keys.ledger != ledger or (len(keys.seed), len(keys.digest)) != (32, 32):
            raise LedgerError(f"The key {str(path)!r} belongs to another ledger.")
        return keys

    def __repr__(self) -> str:
        return "<Keys>"

    def __reduce__(self) -> str:
        raise TypeError("A ledger's keys cannot be pickled or copied.")
