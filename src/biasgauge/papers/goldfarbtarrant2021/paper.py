"""Goldfarb-Tarrant et al. 2021: does WEAT say anything about an application?

The paper prints scatter plots and words; the points for English hate speech were released, so the words can be held
against them. What "moderate" stands for is our reading: an absolute r of .3 or more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.lexicons import AssociationTest, WordSets, lexicon
from biasgauge.papers.data import Need
from biasgauge.papers.goldfarbtarrant2021.rows import (
    BASELINES,
    COREF,
    HATE_SPEECH,
    LISTS,
    NOT_RELEASED,
    PLOTS,
    SPANISH,
    TRIMMED,
    UNFILTERED,
)
from biasgauge.papers.paper import Paper, Part, late
from biasgauge.papers.row import Recomputed

if TYPE_CHECKING:
    from biasgauge.papers.data import Data
    from biasgauge.papers.paper import Progress

_HOME = "goldfarbtarrant2021.points"
"""Where the functions are that take long to import."""

NEEDS = (
    Need(
        name="hsd_en",
        what="The authors' points for English hate speech: WEAT and performance gap, 329 rows.",
        fetch="Fetch results/hsd_en.csv of the repository seraphinatarrant/embedding_bias on GitHub (no license file: "
        "use it locally) and put it into the folder as hsd_en.csv.",
        accepts=("hsd_en.csv", "results/hsd_en.csv", "*/hsd_en.csv", "embedding_bias/results/hsd_en.csv"),
    ),
    Need(
        name="coref",
        what="The authors' preliminary points for coreference, 84 rows; those of the paper were not released.",
        fetch="Fetch results/coref_results_orig.csv of the repository seraphinatarrant/embedding_bias on GitHub "
        "(no license file: use it locally) and put it into the folder.",
        accepts=("coref_results_orig.csv", "results/coref_results_orig.csv", "*/coref_results_orig.csv",
                 "embedding_bias/results/coref_results_orig.csv"),
    ),
    Need(
        name="spanish",
        what="The authors' preliminary points for Spanish hate speech, 40 rows; those of the paper were not released.",
        fetch="Fetch results/prelim_results_twitter_es.csv of the repository seraphinatarrant/embedding_bias on GitHub "
        "(no license file: use it locally) and put it into the folder.",
        accepts=("prelim_results_twitter_es.csv", "results/prelim_results_twitter_es.csv",
                 "*/prelim_results_twitter_es.csv", "embedding_bias/results/prelim_results_twitter_es.csv"),
    ),
)  # fmt: skip


def _lists(_data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    from biasgauge.mitigation.constraints import crossed, lexicon_pairs

    found = {}
    for name in ("weat6b", "weat7", "weat8", "weat_es_gender", "weat_es_migrant"):
        for role, words in lexicon(name).sets.items():
            found[f"lists.{name}.{role}"] = Recomputed(len(words), len(set(words)))
    expansion = lexicon("goldfarb2021_expansion")
    assert isinstance(expansion, WordSets)  # noqa: S101 - for type checkers: it ships so
    sets = {name: list(words) for name, words in expansion.sets.items()}
    found |= {f"lists.expansion.{name}": Recomputed(len(words), len(set(words))) for name, words in sets.items()}
    whole = {name: words + sets[f"{name}_expansion"] for name, words in sets.items() if f"{name}_expansion" in sets}
    targets = whole["career"] + whole["math_sci"], whole["family"] + whole["art"]
    terms = whole["male"], whole["female"]
    words_in_all = sum(len(set(words)) for words in (*targets, *terms))
    found["lists.expansion.all"] = Recomputed(words_in_all, words_in_all)
    together = crossed([(targets[0], terms[1]), (targets[1], terms[0])])
    apart = crossed([(targets[0], terms[0]), (targets[1], terms[1])])
    single = len(lexicon_pairs("weat7", "debias")[0])
    found["lists.pairs.attract"] = Recomputed(len(together), len(set(together) - set(apart)))
    found["lists.pairs.repel"] = Recomputed(len(apart), len(set(apart)))
    found["lists.pairs.weat7"] = Recomputed(single, single)
    return found


def _trimmed(_data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """What is left of the Spanish lists when the longer of two sets is cut from its end."""
    gender, migrant = lexicon("weat_es_gender"), lexicon("weat_es_migrant")
    assert isinstance(gender, AssociationTest)  # noqa: S101 - for type checkers: they ship so
    assert isinstance(migrant, AssociationTest)  # noqa: S101 - as above
    science, art = len(gender.x), len(gender.y)
    feminine = gender.y.words[art // 2 :]
    kept = gender.y.words[: min(science, art)]
    left = sum(word in kept for word in feminine)
    return {
        "spanish_lists.art": Recomputed(len(kept), art),
        "spanish_lists.art.feminine": Recomputed(left, len(feminine)),
        "spanish_lists.art.masculine": Recomputed(len(kept) - left, art - len(feminine)),
        "spanish_lists.migrant.names": Recomputed(min(len(migrant.x), len(migrant.y)), len(migrant.y)),
        "spanish_lists.migrant.unpleasant": Recomputed(min(len(migrant.a), len(migrant.b)), len(migrant.b)),
    }


PAPER = Paper(
    name="goldfarbtarrant2021",
    title="Intrinsic Bias Metrics Do Not Correlate with Application Bias",
    citation="Goldfarb-Tarrant, Marchant, Muñoz Sánchez, Pandya & Lopez, ACL 2021",
    about="The paper has no table of numbers: it shows points and says in words what they show. The points for English "
    "hate speech were released. Of the two correlations with recall that it finds there, the positive one after "
    "postprocessing holds only once some embeddings are left out; the negative one after preprocessing is there with "
    "and without them (all points, as labeled: r = −.48, p = .0014), and it stays once embeddings are sorted by file "
    "name and one gap beside three WEATs counts as one measurement: r = −.36 [−.66, −.07], p = .017. Points for "
    "coreference and Spanish were released in an earlier state only.",
    needs=NEEDS,
    parts=(
        Part("lists", "Word lists of the tests and of debiasing.", LISTS, _lists),
        Part("spanish_lists", "What is left of the Spanish lists once cut to equal length.", TRIMMED, _trimmed),
        Part("baselines", "Gaps with unmodified embeddings.", BASELINES, late(_HOME, "baselines"), ("hsd_en",)),
        Part("figure4b", "English hate speech by method, in the authors' selection of embeddings.", HATE_SPEECH,
             late(_HOME, "hate_speech"), ("hsd_en",)),
        Part("unfiltered", "The same on every released point.", UNFILTERED, late(_HOME, "unfiltered"), ("hsd_en",)),
        Part("figure3", "English hate speech: twelve plots without a trend.", PLOTS, late(_HOME, "plots"), ("hsd_en",)),
        Part("coref", "Coreference, preliminary points.", COREF, late(_HOME, "coref"), ("coref",)),
        Part("spanish", "Spanish hate speech, preliminary points.", SPANISH, late(_HOME, "spanish"), ("spanish",)),
        Part("not_released", "Numbers whose data were not released.", NOT_RELEASED),
    ),
)  # fmt: skip
