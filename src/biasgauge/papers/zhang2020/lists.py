"""What of Zhang et al. 2020 needs no vectors: its word lists, and whether its own numbers fit each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.embeddings.benchmark_files import google_analogies
from biasgauge.lexicons import pairs_of, words_of
from biasgauge.papers.row import Recomputed, Row
from biasgauge.papers.zhang2020.tables import LINES, MEASURES, PROFESSIONS, TABLE_2

if TYPE_CHECKING:
    from biasgauge.papers.data import Data
    from biasgauge.papers.paper import Progress

FAMILY = "family"
_SYNTACTIC = "gram"
_WARMTH = "the released list has 'warmness' where the appendix prints 'warmth'; the count is the same"

LISTS = (
    Row("lists.professions", "professions", "§4", PROFESSIONS, tolerance=0),
    Row("lists.pairs", "base pairs", "§4", 10, tolerance=0),
    Row("lists.bsri", "traits and their forms", "§4", 58, tolerance=0),
    Row("lists.bsri_male", "of them male", "§4", 27, tolerance=0),
    Row("lists.bsri_female", "of them female", "§4", 31, tolerance=0),
    Row("lists.animals", "names of animals", "§4", 26, tolerance=0),
    Row("lists.animal_pairs", "pairs of them", "§4", 13, tolerance=0),
    Row("lists.analogies", "questions of the Google analogy set", "§7", 19_544, tolerance=0),
    Row("lists.analogies_semantic", "of them semantic", "§7", 8_869, tolerance=0),
    Row("lists.analogies_syntactic", "of them syntactic", "§7", 10_675, tolerance=0),
    Row("lists.analogy_categories", "their categories", "§7", 14, tolerance=0),
    Row("lists.analogy_pairs", "unique pairs (x, y) of them that are unrelated to gender", "§7", 550, tolerance=0),
)


def fill_lists(_data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Count the word lists that ship with biasgauge."""
    animals = pairs_of("animals").pairs
    male, female = (words_of(f"bsri:{end}").words for end in ("male", "female"))
    questions = google_analogies()
    syntactic = sum(one.category.startswith(_SYNTACTIC) for one in questions)
    listed = {(one.category, one.a, one.b) for one in questions}
    unrelated = [one for one in listed if one[0] != FAMILY]
    counts = {
        "professions": len(words_of("occ16").words),
        "pairs": len(pairs_of("zhang2020").pairs),
        "bsri": len(words_of("bsri").words),
        "bsri_male": len(male),
        "bsri_female": len(female),
        "animals": 2 * len(animals),
        "animal_pairs": len(animals),
        "analogies": len(questions),
        "analogies_semantic": len(questions) - syntactic,
        "analogies_syntactic": syntactic,
        "analogy_categories": len({one.category for one in questions}),
        "analogy_pairs": len(unrelated),
    }
    different = len({one[1:] for one in unrelated})
    notes = {
        "bsri": _WARMTH,
        "bsri_female": _WARMTH,
        "analogy_pairs": f"unique within a category: {len(unrelated) - different} stand in two, so that "
        f"{different} are different; the {FAMILY} has {len(listed) - len(unrelated)} more",
    }
    corrected = {**counts, "analogy_pairs": different}
    return {
        f"lists.{name}": Recomputed(count, corrected[name], note=notes.get(name, "")) for name, count in counts.items()
    }


_ROUNDED = "from the printed cells, each of which is rounded: it can differ by .01 from a right mean"
_INVERTED = (
    "the released code counts the changes of at least one standard deviation and returns one minus their share: the "
    "table prints the changes that do not matter"
)

SUMS = (
    *(
        Row(
            f"sums.{line.row_id('mean')}",
            f"mean of the ten κ of {MEASURES[line.measure]}, {MEASURES.get(line.against, line.against)}",
            f"Table {line.table}",
            line.kappas[-1],
            note=_ROUNDED,
            tolerance=0.01,
        )
        for line in LINES
    ),
    *(
        Row(f"sums.table2.{measure}", f"share of relevant changes of {MEASURES[measure]}", "Table 2 and §6", magnitude,
            note=_INVERTED)
        for measure, (_, magnitude, _) in TABLE_2.items()
    ),
    Row("sums.capitalized_least", "least mean κ of Table 3", "§6", 0.39, tolerance=0),
    Row("sums.capitalized_most", "largest mean κ of Table 3", "§6", 0.43, tolerance=0),
    Row("sums.truth_least", "least mean κ of Table 5", "§6", 0.17, tolerance=0,
        note="the text overlooks NBM and animals, for which Table 5 prints .15"),
    Row("sums.truth_most", "largest mean κ of Table 5", "§6", 0.42, tolerance=0),
)  # fmt: skip


def fill_sums(_data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Compute again what the paper computes from numbers that it prints."""
    means = {table: [line.kappas[-1] for line in LINES if line.table == table] for table in (3, 5)}
    found = {
        f"sums.{line.row_id('mean')}": Recomputed(round(sum(line.kappas[:-1]) / len(line.kappas[:-1]), 4))
        for line in LINES
    }
    found |= {
        f"sums.table2.{measure}": Recomputed(corrected=round(1 - magnitude, 4))
        for measure, (_, magnitude, _) in TABLE_2.items()
    }
    return found | {
        "sums.capitalized_least": Recomputed(min(means[3])),
        "sums.capitalized_most": Recomputed(max(means[3])),
        "sums.truth_least": Recomputed(min(means[5]), min(means[5])),
        "sums.truth_most": Recomputed(max(means[5])),
    }
