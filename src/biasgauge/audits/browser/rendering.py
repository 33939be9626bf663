"""The page of a workbench: words, numbers and scripts in one file whose policy lets nothing be loaded or sent."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from biasgauge._version import __version__
from biasgauge.audits.verdicts import DECISIONS, Rules
from biasgauge.core import JsonObject, lemma_spellings
from biasgauge.lexicons import AssociationTest, Lexicon
from biasgauge.results.page import content_policy, packed, style_sheet, template_environment

if TYPE_CHECKING:
    from biasgauge.audits.browser.building import Workbench

SCRIPTS = (
    "random.js",
    "distributions.js",
    "contrast.js",
    "vocabulary.js",
    "evaluation.js",
    "elements.js",
    "exports.js",
    "sections.js",
    "interface.js",
)
"""Scripts of the page, each of which uses those before it."""
_FAST = 1
"""Level of compression: numbers that look random gain little from a higher one."""


def workbench_page(workbench: Workbench) -> str:
    """Render the page of a workbench."""
    scripts = [_page_file(name) for name in SCRIPTS]
    lists, numbers = page_lists(workbench), page_numbers(workbench)
    return (
        template_environment()
        .from_string(_page_file("workbench.html"))
        .render(
            workbench=workbench,
            version=__version__,
            decisions=DECISIONS,
            policy=content_policy(scripts),
            style=Markup(style_sheet("") + _page_file("workbench.css")),  # noqa: S704 - ours
            lists=packed(json.dumps(lists, allow_nan=False, separators=(",", ":"))),
            numbers=base64.b64encode(zlib.compress(numbers, _FAST)).decode("ascii"),
            scripts=[Markup(script) for script in scripts],  # noqa: S704 - the package's own
        )
    )


def page_lists(workbench: Workbench) -> JsonObject:
    """Everything of the page that is no array of numbers: words, families, lexicons, base pairs, thresholds."""
    embedding, language = workbench.embedding, str(workbench.settings["language"])
    means = embedding.frequency_means(language)
    rules = Rules(smallest=workbench.smallest)
    return {
        "model": workbench.model,
        "source": Path(str(workbench.settings["source"])).name,
        "shipped": workbench.settings["shipped"],
        "dim": workbench.dim,
        "bits": workbench.bits,
        "words": list(embedding.words),
        "language": language,
        "fallback": workbench.fallback,
        "families": _shared_spellings(embedding.words, _words_without_vector(workbench), language),
        "frequency": workbench.frequency,
        "knots": 0 if means is None else len(means.knots),
        "lexicons": [_lexicon_lists(lexicon) for lexicon in workbench.lexicons],
        "pairs": [] if workbench.pairs is None else [list(pair) for pair in workbench.pairs.pairs],
        "rules": {"alpha": rules.alpha, "agreement": rules.agreement, "smallest": workbench.smallest},
        "chosen_smallest": workbench.settings["smallest"],
        "quantization_error": workbench.quantization_error,
        "contrast_error": workbench.contrast_error,
        "decisions": {name: style.meaning for name, style in DECISIONS.items()},
        "version": __version__,
        "date": workbench.date,
    }


def page_numbers(workbench: Workbench) -> bytes:
    """Arrays of the page one behind the other: log frequencies, knots, means, scales, vectors; little-endian."""
    language = str(workbench.settings["language"])
    log, means = (getattr(workbench.embedding, name)(language) for name in ("log_frequencies", "frequency_means"))
    arrays: list[Any] = [] if log is None else [log.values.astype("<f8")]
    arrays += [] if means is None else [means.knots.astype("<f8"), means.means.astype("<f8")]
    arrays += [workbench.quantized.scales.astype("<f4"), workbench.quantized.integers]
    return b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)


def _words_without_vector(workbench: Workbench) -> list[str]:
    """Words of the tests that the page does not have: an audit knows their families, too."""
    tests = [lexicon for lexicon in workbench.lexicons if isinstance(lexicon, AssociationTest)]
    lookup = workbench.embedding.lookup(
        [word for test in tests for word in test.words], case_fallback=workbench.fallback
    )
    return sorted(lookup.lost)


def _shared_spellings(words: Sequence[str], further: Sequence[str], language: str) -> list[list[Any]]:
    """Words that share a spelling with another, each with numbers of these spellings (`word_families`).

    Words of the page are named by their rows, `further` ones as they are written.
    """
    keys: dict[str, list[int | str]] = {}
    named: list[tuple[int | str, str]] = [*enumerate(words), *zip(further, further, strict=True)]
    for key, word in named:
        for spelling in lemma_spellings(word, language):
            keys.setdefault(spelling, []).append(key)
    numbers: dict[int | str, list[int]] = {}
    shared = (members for members in keys.values() if len(members) > 1)
    for number, members in enumerate(shared):
        for key in members:
            numbers.setdefault(key, []).append(number)
    return [[key, spellings] for key, spellings in numbers.items()]


def _lexicon_lists(lexicon: Lexicon) -> JsonObject:
    """Name, kind and sets of a lexicon; the sets of a test by role, with the names of their concepts."""
    if isinstance(lexicon, AssociationTest):
        roles = lexicon.roles.items()
        sets = [{"role": role, "name": group.name, "words": list(group.words)} for role, group in roles]
    else:
        sets = [{"role": name, "name": name, "words": list(words)} for name, words in lexicon.sets.items()]
    texts = {key: getattr(lexicon, key) for key in ("name", "kind", "label", "title", "family")}
    texts["repeats"] = getattr(lexicon, "repeats", "")
    return {**texts, "sets": sets}


def _page_file(name: str) -> str:
    """Read a template, style sheet or script of the page."""
    return (files("biasgauge.audits") / "browser" / name).read_text(encoding="utf-8")
