"""What an audit found: one line for each check, and a report of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from geodp.testing.audit.confidence import ALARM

PASSED, FAILED, SKIPPED = "passed", "FAILED", "skipped"


@final
@dataclass(frozen=True)
class Finding:
    """One check: its name, ``outcome`` (passed, FAILED or skipped), a sentence, its figures.

    ``comparisons``: how many statistical comparisons it made, each wrong with probability at most
    ``ALARM`` on a mechanism that keeps its word.
    """

    name: str
    outcome: str
    detail: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    comparisons: int = 0

    @classmethod
    def of(
        cls,
        name: str,
        passed: bool,
        detail: str,
        figures: Mapping[str, Any] | None = None,
        comparisons: int = 0,
    ) -> Finding:
        return cls(name, PASSED if passed else FAILED, detail, figures or {}, comparisons)

    @classmethod
    def skipped(cls, name: str, why: str) -> Finding:
        return cls(name, SKIPPED, why)

    def __repr__(self) -> str:
        return f"{self.outcome:>7}  {self.name}: {self.detail}"


@final
@dataclass(frozen=True)
class Report:
    """The findings about one subject; ``passed`` if no check failed.

    ``false_alarm`` bounds the probability that a mechanism that keeps its word fails a check.
    """

    subject: str
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        return not self.failed

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the checks that failed."""
        return tuple(one.name for one in self.findings if one.outcome == FAILED)

    @property
    def false_alarm(self) -> float:
        return ALARM * sum(one.comparisons for one in self.findings)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "subject": self.subject,
            "passed": self.passed,
            "false_alarm": self.false_alarm,
            "findings": [vars(one) | {"figures": dict(one.figures)} for one in self.findings],
        }

    def __repr__(self) -> str:
        end = "no check failed" if self.passed else "FAILED: " + ", ".join(self.failed)
        lines = [f"audit of {self.subject}", *(f"  {one!r}" for one in self.findings)]
        return "\n".join([*lines, f"  {end}; false alarms below {self.false_alarm:.1g}"])
