"""Text for terminals: without control characters, and without characters that an encoding lacks.

Words, titles and file names come from anywhere, and a terminal obeys some characters: to clear the screen, to set its
title, to write from right to left. Those are shown by their numbers.
"""

from __future__ import annotations

from biasgauge.errors import CONTROLS, escape_control_characters

PLAIN = {
    "−": "-", "–": "-", "—": "-", "\u2011": "-", "→": "->", "←": "<-", "↔": "<->", "≥": ">=", "≤": "<=", "≠": "!=",
    "≈": "~", "×": "x", "·": ".", "…": "...", "±": "+/-", "∞": "inf", "Φ": "Phi", "\u03b1": "alpha", "κ": "kappa",
    "\u03c1": "rho", "\u03c3": "sigma", "ω": "omega", "²": "^2", "“": '"', "”": '"', "„": '"', "\u2018": "'",
    "\u2019": "'", "\u00a0": " ", "\u202f": " ", "✓": "yes", "✗": "no", "━": "-", "─": "-", "│": "|", "█": "#",
    "●": "*", "•": "*",
}  # fmt: skip
"""What stands for a character where it cannot be written."""


def plain_characters(text: str, encoding: str = "ascii") -> str:
    """The text with plain replacements for what an encoding lacks: "−" as "-", "→" as "->", any other by its number."""
    return "".join(_plain_character(character, encoding) for character in text)


def escape_control_characters_in_json(text: str) -> str:
    r"""The same of JSON, in which such a character stands in strings only: ESC as `\u001b`, which means the same."""
    return CONTROLS.sub(lambda order: f"\\u{ord(order[0]):04x}", text)


def shown_as(text: str, encoding: str) -> str:
    """The text as a terminal of this encoding can show it."""
    text = escape_control_characters(text)
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return plain_characters(text, encoding)
    except LookupError:
        pass
    return text


def _plain_character(character: str, encoding: str) -> str:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        replacement = PLAIN.get(character)
        return replacement if replacement is not None else character.encode("ascii", "backslashreplace").decode()
    return character
