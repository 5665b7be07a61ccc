"""A signed text: what stands under a receipt that a ledger paid for."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from geodp.errors import InputError
from geodp.ledger.canonical import canonical


@final
@dataclass(frozen=True)
class Seal:
    """An Ed25519 ``signature`` of the canonical JSON ``document``; both keys in base64."""

    document: str = field(repr=False)
    public_key: str
    signature: str

    @property
    def holds(self) -> bool:
        """Whether the signature is one of this text under the public key beside it."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            key = Ed25519PublicKey.from_public_bytes(_bytes(self.public_key))
            key.verify(_bytes(self.signature), self.document.encode())
        except (InvalidSignature, ValueError):
            return False
        return True

    @property
    def fingerprint(self) -> str:
        """The first 16 hexadecimal digits of the public key's SHA-256, to compare by eye."""
        return hashlib.sha256(self.public_key.encode()).hexdigest()[:16]

    def to_json(self) -> dict[str, str]:
        """The signature as it stands under a receipt."""
        return {
            "algorithm": "ed25519",
            "public_key": self.public_key,
            "value": self.signature,
        }


def _bytes(text: str) -> bytes:
    """What base64 says, written in the one way that there is; ValueError for another text."""
    said = base64.b64decode(text, validate=True)
    if base64.b64encode(said).decode("ascii") != text:
        raise ValueError("not canonical base64")
    return said


def seal_of(document: Mapping[str, Any]) -> Seal | None:
    """The seal of a receipt's document, None where there is none; ``InputError`` if ill-formed."""
    signature = document.get("signature")
    if signature is None:
        return None
    rest = {name: part for name, part in document.items() if name != "signature"}
    parts = isinstance(signature, Mapping) and [
        signature.get(name) for name in ("algorithm", "public_key", "value")
    ]
    if (
        not parts
        or len(signature) > len(parts)
        or parts[0] != "ed25519"
        or not all(isinstance(part, str) for part in parts)
    ):
        raise InputError("The receipt's signature is ill-formed.")
    try:
        return Seal(canonical(rest), str(parts[1]), str(parts[2]))
    except ValueError as error:  # NaN in the document
        raise InputError("The receipt has a field of the wrong type.") from error
