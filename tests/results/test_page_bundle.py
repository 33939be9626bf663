"""The scripts that every page carries: safe inside a page, free of evaluation, with the licenses of what they hold."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

PACKAGES = {"explorer.js": "biasgauge.audits"}


def code(name: str) -> str:
    return (files(PACKAGES.get(name, "biasgauge.results.page")) / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["vega.js", "page.js", "explorer.js"])
def test_no_script_can_end_itself_or_evaluate_text(name: str) -> None:
    text = code(name)
    assert "</script" not in text.lower()
    assert "<!--" not in text
    assert not re.search(r"(?<![.\w])eval\([^)]*\)(?!\{)", text)  # methods of that name are none


@pytest.mark.parametrize("name", ["page.js", "explorer.js"])
def test_own_scripts_never_parse_text_as_html(name: str) -> None:
    text = code(name)
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "Function(", "fetch(", "http"):
        assert way not in text
    assert len(text.splitlines()) <= 400


def test_the_licenses_of_all_bundled_packages_are_there() -> None:
    text = code("LICENSES.txt")
    for package in ("vega 6.4.0", "vega-lite 6.4.3", "vega-interpreter 2.3.2", "d3-array 3"):
        assert package in text
    assert text.count("Redistribution") >= 2
    assert "ISC" in text or "Permission to use, copy, modify" in text
