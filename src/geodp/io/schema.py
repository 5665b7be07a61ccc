"""The published schema, checked without a dependency: the keywords that it uses, and no others."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

Schema: TypeAlias = "Mapping[str, Any]"
Problem: TypeAlias = "tuple[str, str]"
"""A JSON path and what is wrong there, in words that follow "it"."""

_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda x: isinstance(x, dict),
    "array": lambda x: isinstance(x, list),
    "string": lambda x: isinstance(x, str),
    "boolean": lambda x: isinstance(x, bool),
    "null": lambda x: x is None,
    "number": lambda x: isinstance(x, (int, float)) and not isinstance(x, bool),
    "integer": lambda x: _TYPES["number"](x) and x == x // 1,
}


@cache
def release_schema() -> Schema:
    """The schema of receipts and of their requests, ``geodp/release/v1``."""
    text = files("geodp.ledger").joinpath("schema_v1.json").read_text(encoding="utf-8")
    found: Schema = json.loads(text)
    return found


def problems(value: Any, schema: Schema, root: Schema, path: str = "$") -> Iterator[Problem]:
    """Every way in which ``value`` breaks the schema (JSON Schema 2020-12), outermost first.

    >>> root = release_schema()
    >>> list(problems({"notion": "gdp", "mu": 1}, root["$defs"]["guarantee"], root))
    [('$.mu', 'must be a string')]
    """
    schema = _resolved(schema, root)
    for keyword, check in _CHECKS.items():
        if keyword in schema:
            found = list(check(value, schema, root, path))
            yield from found
            if found and keyword == "type":
                return


def _resolved(schema: Schema, root: Schema) -> Schema:
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    return schema


def _types(schema: Schema) -> list[str]:
    asked = schema["type"]
    return [asked] if isinstance(asked, str) else list(asked)


def _type(value: Any, schema: Schema, root: Schema, path: str) -> Iterator[Problem]:
    names = _types(schema)
    if not any(_TYPES[name](value) for name in names):
        words = [f"a{'n' if name[0] in 'aeio' else ''} {name}" for name in names if name != "null"]
        yield path, f"must be {' or '.join(words + ['null'] * ('null' in names))}"


def _const(value: Any, schema: Schema, root: Schema, path: str) -> Iterator[Problem]:
    if value != schema["const"]:
        yield path, f"must be {json.dumps(schema['const'])}"


def _enum(value: Any, schema: Schema, root: Schema, path: str) -> Iterator[Problem]:
    if value not in schema["enum"]:
        yield path, f"must be one of {', '.join(map(json.dumps, schema['enum']))}"


def _required(value: Any, schema: Schema, root: Schema, path: str) -> Iterator[Problem]:
    if isinstance(value, dict):
        for name in schema["required"]:
            if name not in value:
                yield path, f"lacks {name!r}"


def _properties(value: Any, schema: Schema, root: Schema, path: str) -> Iterator[Problem]:
    if isinstance(value, dict):
        for name, below in schema["properties"].items():
            if name in value:
                yield from problems(value[name], below, root, f"{path}.{name}")


def _additional(value: Any, schema: Schema, root: Schema, path: str) -> Iterator[Problem]:
    below = schema["additionalProperties"]
    for name in value if isinstance(value, dict) else ():
        if name not in schema.get("properties", {}):
            if below is False:
                yield path, f"has an unknown field {name!r}"
            else:
                yield from problems(value[name], below, root, f"{path}.{name}")


def _items(value: Any, schema: Schema, root: Schema, path: str) -> Iterator[Problem]:
    for i, one in enumerate(value if isinstance(value, list) else ()):
        yield from problems(one, schema["items"], root, f"{path}[{i}]")


def _min_items(value: Any, schema: Schema, root: Schema, path: str) -> Iterator[Problem]:
    if isinstance(value, list) and len(value) < schema["minItems"]:
        yield path, f"must have at least {schema['minItems']} items"


def _min_length(value: Any, schema: Schema, root: Schema, path: str) -> Iterator[Problem]:
    if isinstance(value, str) and len(value) < schema["minLength"]:
        yield path, "must not be empty"


def _pattern(value: Any, schema: Schema, root: Schema, path: str) -> Iterator[Problem]:
    if isinstance(value, str) and not re.search(schema["pattern"], value):
        yield path, "is text of another form than is needed"


def _minimum(value: Any, schema: Schema, root: Schema, path: str) -> Iterator[Problem]:
    if _TYPES["number"](value) and not value >= schema["minimum"]:
        yield path, f"must be at least {schema['minimum']}"


def _maximum(value: Any, schema: Schema, root: Schema, path: str) -> Iterator[Problem]:
    if _TYPES["number"](value) and not value <= schema["maximum"]:
        yield path, f"must be at most {schema['maximum']}"


def _above(value: Any, schema: Schema, root: Schema, path: str) -> Iterator[Problem]:
    if _TYPES["number"](value) and not value > schema["exclusiveMinimum"]:
        yield path, f"must be greater than {schema['exclusiveMinimum']}"


def _one_of(value: Any, schema: Schema, root: Schema, path: str) -> Iterator[Problem]:
    """What is wrong with the alternative that was meant: the one of the value's type and of its
    constants, or else the one in which a problem lies deepest."""
    branches = [_resolved(branch, root) for branch in schema["oneOf"]]
    found = [list(problems(value, branch, root, path)) for branch in branches]
    if sum(not one for one in found) == 1:
        return
    meant = [one for one, b in zip(found, branches, strict=True) if one and _is_meant(value, b)]
    if not meant:
        yield path, "is none of the known alternatives"
        return
    yield from max(meant, key=lambda one: len(re.findall(r"[.\[]", one[0][0])))


def _is_meant(value: Any, branch: Schema) -> bool:
    if "type" in branch and not any(_TYPES[name](value) for name in _types(branch)):
        return False
    if not isinstance(value, dict):
        return True
    constants = {k: b["const"] for k, b in branch.get("properties", {}).items() if "const" in b}
    return all(value.get(name) == const for name, const in constants.items())


_CHECKS: dict[str, Callable[[Any, Schema, Schema, str], Iterator[Problem]]] = {
    "type": _type,
    "const": _const,
    "enum": _enum,
    "required": _required,
    "additionalProperties": _additional,
    "properties": _properties,
    "minItems": _min_items,
    "items": _items,
    "minLength": _min_length,
    "pattern": _pattern,
    "minimum": _minimum,
    "maximum": _maximum,
    "exclusiveMinimum": _above,
    "oneOf": _one_of,
}
KEYWORDS = frozenset(_CHECKS)
