"""Zhang, Sneyd & Stevenson 2020: do measurements of gender bias survive another base pair, word form, measure?

Here: its printed numbers and word lists. A positive score is female in the paper. Its pairs are (female, male); ours
are (male, female), which turns the sign of every score and changes no kappa. Digits beyond those of the paper are from
the output of the authors' notebook.
"""

from __future__ import annotations

from biasgauge.lexicons import pairs_of, words_of
from biasgauge.papers.paper import Data, Progress, Recomputations, Recomputed
from biasgauge.papers.published import printed_numbers
from biasgauge.vectors import google_analogies

PRINTED = printed_numbers(__name__)
MEASURES = ("dbwa", "ripa", "nbm")
PAIRS = tuple(name.removeprefix("figure2.") for name in PRINTED if name.startswith("figure2.") and "~" in name)
MEAN = "mean"
"""What stands for all pairs in Tables 3 to 6."""
SD = {"dbwa": 0.0525342, "ripa": 0.2385657, "nbm": 0.4309060}
"""The standard deviations of Table 1 with the digits of the notebook."""
LIMITED, NEUTRAL = PRINTED["table1.words"], PRINTED["table1.neutral"]
"""Frequent words that are scored, and those that may be neighbors."""
PROFESSIONS, WITH_ALL_FORMS = PRINTED["lists.professions"], PRINTED["table4.words"]
TRUTHS = {"bsri": PRINTED["lists.bsri"], "animals": PRINTED["lists.animals"]}
FAMILY = "family"
_WARMTH = "the released list has 'warmness' where the appendix prints 'warmth'; the count is the same"


def fill_lists(_data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Count the word lists that ship with biasgauge."""
    animals = pairs_of("animals").pairs
    questions = google_analogies()
    syntactic = sum(question.category.startswith("gram") for question in questions)
    listed = {(question.category, question.a, question.b) for question in questions}
    unrelated = [pair for pair in listed if pair[0] != FAMILY]
    counts = {
        "professions": len(words_of("occ16").words),
        "pairs": len(pairs_of("zhang2020").pairs),
        "bsri": len(words_of("bsri").words),
        "bsri_male": len(words_of("bsri:male").words),
        "bsri_female": len(words_of("bsri:female").words),
        "animals": 2 * len(animals),
        "animal_pairs": len(animals),
        "analogies": len(questions),
        "analogies_semantic": len(questions) - syntactic,
        "analogies_syntactic": syntactic,
        "analogy_categories": len({question.category for question in questions}),
    }
    notes = {"bsri": _WARMTH, "bsri_female": _WARMTH}
    rows = {f"lists.{name}": Recomputed.both(count, notes.get(name, "")) for name, count in counts.items()}
    different = len({pair[1:] for pair in unrelated})
    note = (
        f"unique within a category: {len(unrelated) - different} stand in two, so that {different} are different; the "
        f"{FAMILY} has {len(listed) - len(unrelated)} more"
    )
    return rows | {"lists.analogy_pairs": Recomputed(len(unrelated), different, note=note)}


def fill_sums(_data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Compute again what the paper computes from numbers that it prints."""
    lines = [name.removesuffix(".he~she") for name in PRINTED if name.startswith("table") and name.endswith(".he~she")]
    rows = {}
    for line in lines:
        kappas = [PRINTED[f"{line}.{pair}"] for pair in PAIRS]
        rows[f"sums.{line}.mean"] = Recomputed(round(sum(kappas) / len(kappas), 4))
    for measure in MEASURES:
        rows[f"sums.table2.{measure}"] = Recomputed(corrected=round(1 - PRINTED[f"table2.{measure}.magnitude"], 4))
    forms, truths = (
        [PRINTED[f"{line}.mean"] for line in lines if line.startswith(table)] for table in ("table3.", "table5.")
    )
    return rows | {
        "sums.capitalized_least": Recomputed(min(forms)),
        "sums.capitalized_most": Recomputed(max(forms)),
        "sums.truth_least": Recomputed.both(min(truths)),
        "sums.truth_most": Recomputed(max(truths)),
    }
