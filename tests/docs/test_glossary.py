"""The glossary: terms in order, short, and every translated one is defined."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text(encoding="utf-8")
FENCE = re.search(r"```\{glossary\}\n(.*?)```", PAGE, re.DOTALL)
ENTRIES = FENCE[1].strip().split("\n\n") if FENCE else []


def plain(term: str) -> str:
    """As dictionaries sort: no accents, no capitals."""
    return unicodedata.normalize("NFKD", term).encode("ascii", "ignore").decode().lower()


def terms(entry: str) -> list[str]:
    return [line for line in entry.splitlines() if not line.startswith(" ")]


def rows(title: str) -> list[list[str]]:
    part = PAGE.split(f"## {title}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in lines[2:]]


KNOWN = [term for entry in ENTRIES for term in terms(entry)]


def test_terms_are_in_the_order_of_a_dictionary() -> None:
    assert len(KNOWN) > 55
    assert [plain(x) for x in KNOWN] == sorted(plain(x) for x in KNOWN)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: plain(terms(entry)[0]))
def test_an_entry_is_a_few_sentences(entry: str) -> None:
    text = " ".join(line for line in entry.splitlines() if line.startswith(" "))
    assert text.strip().endswith(".")
    assert len(text.split()) <= 50


def test_translated_terms_are_defined_and_have_all_languages() -> None:
    found = rows("In other languages")
    assert len(found) > 40
    assert {row[0] for row in found} <= set(KNOWN)
    assert all(len(row) == 5 and all(row) for row in found)
    assert all(re.search(r"[\u4e00-\u9fff]", row[4]) for row in found)


def test_four_fields_have_a_cell_each() -> None:
    assert all(len(row) == 5 for row in rows("The same thing in four fields"))
