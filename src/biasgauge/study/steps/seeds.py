"""Are word lists fit to measure anything? `seeds` on the replicates of a group."""

from __future__ import annotations

from typing import Any

from biasgauge.lexicons import lexicon_names
from biasgauge.study.kind import Kind, some_words
from biasgauge.study.results import analysis
from biasgauge.study.step import Step


def _has_pairs(settings: dict[str, Any]) -> None:
    from biasgauge.seeds.word_pairs import seed_pairs  # noqa: PLC0415 - only studies of seeds need it

    asked = {name: settings.get(name) for name in ("a", "b", "pairs")}
    seed_pairs(**asked, paper=settings.get("paper"), bank_filter=settings.get("filter", "corrected"))


KINDS = (
    Kind(
        "seeds",
        needs="models",
        step="seeds",
        functions=("seeds:seeds",),
        checks={"a": some_words, "b": some_words},
        unasked=lexicon_names(),
        hidden=("counts",),
        trial=_has_pairs,
    ),
)
STEP = Step("seeds", 1, analysis(KINDS[0]), "are word lists fit to measure anything?")
