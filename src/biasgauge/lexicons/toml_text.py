"""A lexicon as the text of its TOML file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from biasgauge.lexicons.model import Lexicon

_WIDTH = 110


def lexicon_toml(lexicon: Lexicon) -> str:
    """Format a lexicon as TOML, which `read_lexicon` reads back: single values first, then tables, `made` last."""
    content = lexicon.to_dict()
    made = content.pop("made", None)
    if made is not None:
        content["made"] = made
    return "\n".join(_lines(content)) + "\n"


def _lines(content: Mapping[str, object], path: str = "") -> Iterator[str]:
    """Yield the lines of a table: its values, then the tables inside under their full names."""
    for name, value in content.items():
        if not _holds_tables(value):
            yield f"{_key(name)} = {_value(value)}"
    for name, value in content.items():
        if not _holds_tables(value):
            continue
        inner = f"{path}.{_key(name)}" if path else _key(name)
        tables: list[dict[str, object]] = value if isinstance(value, list) else [value]  # type: ignore[list-item]
        for table in tables:
            yield ""
            yield f"[[{inner}]]" if isinstance(value, list) else f"[{inner}]"
            yield from _lines(table, inner)


def _holds_tables(value: object) -> bool:
    """Return whether a value is a table or an array of tables."""
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))


def _key(key: str) -> str:
    return key if key.isascii() and key.replace("_", "").replace("-", "").isalnum() else _value(key)


def _value(value: object) -> str:
    """A string, or an array of strings, with the escapes that JSON and TOML share."""
    if not isinstance(value, list):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    rows = [""]
    for item in map(_value, value):
        if rows[-1] and len(rows[-1]) + len(item) > _WIDTH:
            rows.append("")
        rows[-1] += f"{item}, "
    return "[\n" + "".join(f"  {row.rstrip()}\n" for row in rows) + "]"
