"""Messages are sentences: they begin with a capital letter and end with a full stop."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import geodp as gd

SOURCE = Path(gd.__file__).parent
NAMES = {"zCDP"}  # words that keep their own first letter
ERRORS = {name for name in dir(gd) if name.endswith(("Error", "Refusal"))}


def messages(path: Path) -> list[str]:
    """The text of each error of ours that a module makes; ``{}`` stands for what is put in."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if named and node.func.id in ERRORS and node.args:
            match node.args[0]:
                case ast.Constant(value=str() as text):
                    found.append(text)
                case ast.JoinedStr(values=parts):
                    said = [p.value if isinstance(p, ast.Constant) else "{}" for p in parts]
                    found.append("".join(said))
    return found


@pytest.mark.parametrize("package", ["privacy", "ledger"])
def test_messages_are_sentences(package: str) -> None:
    said = [text for path in (SOURCE / package).glob("*.py") for text in messages(path)]
    assert len(said) > 20
    wrong = [
        text
        for text in said
        if not (text[0].isupper() or text[0] == "{" or text.split()[0] in NAMES)
        or not text.endswith((".", "}"))
    ]
    assert wrong == []
