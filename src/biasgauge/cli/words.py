"""Words as they are typed on the command line."""

from __future__ import annotations

from pathlib import Path

from biasgauge.errors import InputError


def asked_words(typed: str | None) -> str | list[str] | None:
    """Turn what was typed into words: `he,him` are words, a file holds one word a line, anything else is a reference.

    Raises:
        InputError: the file holds no words, or is not UTF-8 text.
    """
    if typed is None:
        return None
    path = Path(typed)
    if "," not in typed and not typed.endswith(".toml") and path.is_file():
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except UnicodeDecodeError as problem:
            raise InputError(f"{path}: is not UTF-8 text ({problem.reason})") from problem
        words = [line.strip() for line in lines if line.strip()]
        if not words:
            raise InputError(f"{path}: holds no words; write one word a line")
        return words
    if "," in typed:
        return [word.strip() for word in typed.split(",") if word.strip()]
    return typed
