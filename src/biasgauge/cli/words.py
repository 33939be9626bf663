"""Words and names as they are typed on the command line."""

from __future__ import annotations

from pathlib import Path


def typed_words(typed: str) -> str | list[str]:
    """Turn what was typed into words: `he,him` are words, a file holds one word per line, else it is a reference.

    Raises:
        LexiconError: the file holds no words, or is not UTF-8 text.
    """
    path = Path(typed)
    if "," not in typed and not typed.endswith(".toml") and path.is_file():
        from biasgauge.lexicons import read_words

        return read_words(path)
    return typed_names(typed) if "," in typed else typed


def typed_names(typed: str) -> list[str]:
    """Names separated by commas."""
    return [name.strip() for name in typed.split(",") if name.strip()]


def typed_field(typed: str) -> str | int:
    """A column by its number, or by its name."""
    return int(typed) if typed.isdecimal() else typed
