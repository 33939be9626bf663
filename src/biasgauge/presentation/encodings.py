"""Text for terminals that lack characters: Windows code pages, ASCII."""

from __future__ import annotations

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


def shown_as(text: str, encoding: str) -> str:
    """The text as a terminal of this encoding can show it."""
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
        known = PLAIN.get(character)
        return known if known is not None else character.encode("ascii", "backslashreplace").decode()
    return character
