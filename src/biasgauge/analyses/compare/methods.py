"""The methods paragraph of a comparison, made from its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge._version import __version__
from biasgauge.analyses.compare.groups import ComparedGroup, listed
from biasgauge.results import level_text, lexicon_name, number_text

if TYPE_CHECKING:
    from biasgauge.analyses.compare.result import Comparison


def comparison_methods(result: Comparison) -> str:
    """Methods section of a comparison."""
    settings = result.settings
    questions = listed([lexicon_name(entry.name) for entry in result.questions if entry.reason is None])
    number = "WEAT's effect size d" if settings["measure"] == "effect_size" else "the contrast of mean cosines"
    answer = "the least-squares trend over the groups" if result.trends else "the difference between groups"
    intervals = (
        f"Intervals ({level_text(result.level)}) generalize over {result.generalizes_over or 'nothing'}; the words' "
        "part of the variance is that of the paired table, clustered two ways, to which the models' part of each group "
        "is added."
    )
    first = (
        f"We compared {listed([group.name for group in result.groups])} on {questions} with biasgauge {__version__}: "
        f"{answer} in {number}, over the words that every model has."
    )
    sentences = [first, *map(_models, result.groups), intervals]
    if any(row.adjusted is not None for row in result.answers):
        sentences.append(
            "Decisions rest on contrasts at equal word frequency: of vectors less the mean vector of words of their "
            "frequency in each model, with log frequency and its square as covariates."
        )
    if len(result.answers) > 1:
        sentences.append(f"p-values were adjusted for {len(result.answers)} comparisons (Holm).")
    if settings.get("smallest") is not None:
        sentences.append(
            f"A difference within ±{number_text(settings['smallest'], 3)} was taken to be too small to matter (two "
            "one-sided tests)."
        )
    if result.counts:
        sentences.append(
            "The same differences were computed from co-occurrence counts in the texts, as log odds ratios with "
            "intervals over documents."
        )
    return " ".join(sentences)


def _models(group: ComparedGroup) -> str:
    """One sentence on the models of a group."""
    count = f"{len(group.models)} model{'s' * (len(group.models) != 1)}"
    amount = f" of {group.tokens:,} tokens each" if group.tokens else ""
    kinds = {
        "none": "",
        "seeds": " that differ by random seed alone",
        "samples": ", each of a bootstrap sample of its documents",
        "texts": ", each of a text of its own",
    }
    how = kinds[group.replicates]
    if group.draws > 1:
        how = f", one for each disjoint part of its documents in {group.draws} random draws of equal amounts of text"
    return f"{group.name}: {count}{amount}{how}."
