"""Formulas in TeX, between dollar signs, set as MathML when the site is built: readers need no script for them."""

from __future__ import annotations

import re
from collections.abc import Callable

_PLACES = re.compile(
    r"(?P<code>(?P<ticks>`+).+?(?P=ticks))|\$\$(?P<block>.+?)\$\$|\$(?P<inline>\S(?:[^$\n]*?\S)?)\$(?!\d)", re.DOTALL
)


def with_formulas(markdown: str, texts: list[str], token: Callable[[str, list[str]], str]) -> str:
    """Markdown in which tokens stand for formulas; dollar signs in code stay as they are."""

    def formula(found: re.Match[str]) -> str:
        if found["code"]:
            return found[0]
        return token(math(found["block"] or found["inline"], display=bool(found["block"])), texts)

    return _PLACES.sub(formula, markdown) if "$" in markdown else markdown


def math(tex: str, *, display: bool) -> str:
    """A formula as MathML."""
    from latex2mathml.converter import convert

    made = convert(tex.strip(), display="block" if display else "inline")
    return f'<div class="formula" tabindex="0">{made}</div>' if display else made
