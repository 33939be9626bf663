"""Goldfarb-Tarrant et al. 2021: does WEAT say anything about an application?

The paper prints scatter plots and words; the points for English hate speech were released, so the words can be held
against them. What "moderate" stands for is our reading: an absolute r from .3 to .7 (Ratner 2009). Here: its word
lists, how long they are, and what is left of the Spanish ones.
"""

from __future__ import annotations

from biasgauge.lexicons import AssociationTest, lexicon
from biasgauge.mitigation import cross_pairs, lexicon_pairs
from biasgauge.papers.paper import Data, Progress, Recomputations, Recomputed


def lists(_data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Words of the tests and of debiasing, and the pairs that they make; corrected: each once."""
    sets = {name: list(words) for name, words in lexicon("goldfarb2021_expansion").sets.items()}
    listed = {f"expansion.{name}": words for name, words in sets.items()}
    for name in ("weat6b", "weat7", "weat8", "weat_es_gender", "weat_es_migrant"):
        listed |= {f"{name}.{role}": list(words) for role, words in lexicon(name).sets.items()}
    rows = {f"lists.{name}": Recomputed(len(words), len(set(words))) for name, words in listed.items()}
    expanded = {name: words + sets[f"{name}_expansion"] for name, words in sets.items() if f"{name}_expansion" in sets}
    targets = expanded["career"] + expanded["math_sci"], expanded["family"] + expanded["art"]
    terms = expanded["male"], expanded["female"]
    together = cross_pairs([(targets[0], terms[1]), (targets[1], terms[0])])
    apart = cross_pairs([(targets[0], terms[0]), (targets[1], terms[1])])
    return rows | {
        "lists.expansion.all": Recomputed.both(sum(len(set(words)) for words in (*targets, *terms))),
        "lists.pairs.attract": Recomputed(len(together), len(set(together) - set(apart))),
        "lists.pairs.repel": Recomputed(len(apart), len(set(apart))),
        "lists.pairs.weat7": Recomputed.both(len(lexicon_pairs("weat7", "debias")[0])),
    }


def spanish_lists(_data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Remainder of the Spanish lists when the longer of two sets is cut from its end."""
    gender, migrant = lexicon("weat_es_gender"), lexicon("weat_es_migrant")
    assert isinstance(gender, AssociationTest)  # noqa: S101 - for type checkers: they ship so
    assert isinstance(migrant, AssociationTest)  # noqa: S101 - as above
    science, art = len(gender.x), len(gender.y)
    feminine = gender.y.words[art // 2 :]
    truncated = gender.y.words[: min(science, art)]
    left = sum(word in truncated for word in feminine)
    return {
        "spanish_lists.art": Recomputed(len(truncated), art),
        "spanish_lists.art.feminine": Recomputed(left, len(feminine)),
        "spanish_lists.art.masculine": Recomputed(len(truncated) - left, art - len(feminine)),
        "spanish_lists.migrant.names": Recomputed(min(len(migrant.x), len(migrant.y)), len(migrant.y)),
        "spanish_lists.migrant.unpleasant": Recomputed(min(len(migrant.a), len(migrant.b)), len(migrant.b)),
    }
