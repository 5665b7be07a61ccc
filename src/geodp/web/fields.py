"""The texts of a form, read one by one: what is wrong with a field is said beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar, final

from geodp.arguments import text_or_none
from geodp.errors import GeodpError, InputError, LedgerRefusal

T = TypeVar("T")
_LONGEST = 10_000


@final
class Fields:
    """A form as it was sent, and one sentence for each field that cannot be read.

    >>> fields = Fields({"n": "ten"})
    >>> fields.read("n", lambda text: whole(text, "The number of records n", 2))
    >>> fields.errors
    {'n': 'The number of records n is an integer of at least 2.'}
    """

    def __init__(self, given: Mapping[str, str], longest: int = _LONGEST) -> None:
        self._longest = longest
        self.texts = {name: text.strip() for name, text in given.items()}
        self.errors: dict[str, str] = {}

    def text(self, name: str) -> str:
        """What was written, without blanks around it; empty where nothing was."""
        return self.texts.get(name, "")

    def read(self, name: str, reader: Callable[[str], T]) -> T | None:
        """What the reader makes of the field, or None and a sentence."""
        try:
            text = self.text(name)
            text_or_none(text, "The field")
            if len(text) > self._longest:
                raise InputError(f"The field holds at most {self._longest} characters.")
            return reader(text)
        except LedgerRefusal:
            raise
        except GeodpError as error:
            self.wrong(name, str(error))
            return None

    def wrong(self, name: str, sentence: str) -> None:
        """Keep the first sentence about a field."""
        self.errors.setdefault(name, sentence)


def whole(text: str, what: str, least: int, most: int = 2**53) -> int:
    """An integer within limits; ``what`` starts the sentence.

    >>> whole("12", "The number", 2)
    12
    """
    if not (text.isascii() and text.isdigit() and len(text) <= 16 and least <= int(text) <= most):
        limit = "" if most == 2**53 else f" and at most {most}"
        raise InputError(f"{what} is an integer of at least {least}{limit}.")
    return int(text)


def number(text: str, what: str) -> float:
    """A finite float in plain digits.

    >>> number("0.5", "The radius")
    0.5
    """
    try:
        value = float(text) if text.isascii() and "_" not in text else float("nan")
    except ValueError:
        value = float("nan")
    if not abs(value) < float("inf"):
        raise InputError(f"{what} must be a number." if text else f"{what} is missing.")
    return value


def numbers(text: str, what: str, count: int) -> list[float]:
    """So many finite floats, separated by blanks or commas.

    >>> numbers("10, 50 20", "The cap", 3)
    [10.0, 50.0, 20.0]
    """
    words = text.replace(",", " ").split()
    if len(words) != count:
        raise InputError(f"{what} is stated by {count} numbers.")
    return [number(word, what) for word in words]


def one_of(text: str, what: str, known: Mapping[str, T]) -> T:
    """The member of that name.

    >>> one_of("a", "The letter", {"a": 1})
    1
    """
    if text not in known:
        raise InputError(f"{what} is one of {', '.join(known)}.")
    return known[text]
