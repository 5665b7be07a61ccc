"""One thing that was verified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class Check:
    """One thing verified: its name, whether it holds, and the reason in a sentence."""

    name: str
    passed: bool
    detail: str

    def __repr__(self) -> str:
        return f"{'pass' if self.passed else 'FAIL'}  {self.name}: {self.detail}"
