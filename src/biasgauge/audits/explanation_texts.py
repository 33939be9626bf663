"""Texts on verdicts and their rules: for `explain`, the page of an audit and docs/measures/verdicts.md.

`python scripts/make_explanations.py` writes them into the documentation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from biasgauge.core import Record


@dataclass(frozen=True)
class VerdictExplanation(Record):
    """Meaning of one verdict.

    Attributes:
        id: the verdict, as it stands everywhere.
        when: the evidence that leads to it.
        means: what it says about the question.
        write: what may be written.
        next: what to do.
    """

    kind: ClassVar[str] = "verdict"

    id: str
    when: str
    means: str
    write: str
    next: str

    @property
    def name(self) -> str:
        """The verdict."""
        return self.id

    @property
    def sentences(self) -> tuple[str, ...]:
        """Everything about it, a sentence each."""
        return (f"It means: {self.means}.", f"You may write: {self.write}.", self.next)

    @property
    def headline(self) -> str:
        """When it is given."""
        return f"The verdict {self.id} is given when {self.when}."


@dataclass(frozen=True)
class RuleExplanation(Record):
    """Question of one rule.

    Attributes:
        id: name of the evidence, with hyphens.
        of: the kinds of verdict that it belongs to.
        passes: when it passes.
        points: when it passes for points, where that is something else.
        protects: what it protects against.
        otherwise: the verdict where it does not pass.
        do: what to do then.
    """

    kind: ClassVar[str] = "rule"

    id: str
    of: str
    passes: str
    protects: str
    otherwise: str = ""
    do: str = ""
    points: str = ""

    @property
    def whole(self) -> str:
        """When it passes, for points too."""
        return f"{self.passes}. Of points: {self.points}" if self.points else self.passes

    @property
    def name(self) -> str:
        """Name of the evidence, as pages and JSON have it."""
        return self.id.replace("-", " ").replace("held out", "held-out")

    @property
    def sentences(self) -> tuple[str, ...]:
        """Everything about it, a sentence each."""
        texts = (f"It protects against: {self.protects}.", f"Otherwise: {self.otherwise}.", self.do)
        return tuple(text for text, given in zip(texts, (self.protects, self.otherwise, self.do), strict=True) if given)

    @property
    def headline(self) -> str:
        """When it passes."""
        return f"The rule {self.name!r} (of {self.of}) passes when: {self.whole}."


VERDICTS = (
    VerdictExplanation(
        id="report",
        when="there is an association, and everything else passes",
        means="there is an association, and it survived every check that could be made",
        write="the sentence of the verdict, with its interval",
        next="Copy the sentence and the methods paragraph of the page.",
    ),
    VerdictExplanation(
        id="report-with-care",
        when="there is an association, nothing fails, and something is unknown",
        means="there is an association, nothing speaks against it, and something could not be checked",
        write="the sentence of the verdict, with its interval and what is unknown",
        next=(
            "Look for evidence marked unknown and supply what it lacks: replicates (biasgauge train --seeds 8), "
            "vectors with word counts, a second word list for the same concept."
        ),
    ),
    VerdictExplanation(
        id="do-not-report",
        when="there is an association, and something fails; the sentence says what",
        means="there is an association, and it reverses or disappears under a choice that should not matter",
        write="that the result depends on this choice",
        next=(
            "Look for the evidence that fails. Do not search for the choice under which it passes: that is "
            "selection after looking."
        ),
    ),
    VerdictExplanation(
        id="no-association-shown",
        when=(
            "any association lies within the smallest contrast that matters, whether or not it is 0: evidence of "
            "absence"
        ),
        means="any association is smaller than what would matter: a claim of equivalence, not a failure to find",
        write="that there is no association larger than the smallest contrast that matters, with the interval",
        next="State the smallest contrast that matters (--smallest) beside the sentence, and why it is that size.",
    ),
    VerdictExplanation(
        id="inconclusive",
        when=(
            "none is found, and a contrast that matters is not ruled out; `plan` says how many words would settle"
            " it. Or the question cannot be answered whatever the numbers: the lists were made from these vectors"
        ),
        means=(
            "an association is neither shown nor ruled out: absence of evidence, not evidence of absence. A large"
            " effect size d with few words is often inconclusive, because another sample of words of the same "
            "kind could give 0 (stimuli are a random factor; Clark 1973)"
        ),
        write="that the question is not settled, with the interval, and how many words would settle it",
        next=(
            "Plan longer lists before measuring again: biasgauge plan VECTORS --test NAME. Words must be "
            "collected independently of these vectors."
        ),
    ),
    VerdictExplanation(
        id="not-measurable",
        when="too few of its words are in the vocabulary, or it asks nothing",
        means="too few of its words are in the vocabulary",
        write="nothing about the association; name the words that are out of vocabulary",
        next="Check the lists against the vocabulary: biasgauge lexicons check NAME --vectors VECTORS.",
    ),
)
RULES = (
    RuleExplanation(
        id="association",
        of="an audit",
        passes="adjusted p is at most alpha (`--alpha`)",
        protects="lists that mean nothing: attributes relabeled by a coin toss, random words",
        otherwise="no association is found: no-association-shown where `equivalence` passes, inconclusive otherwise",
        do=(
            "p is the largest of three: over other targets, over other attributes, and of the contrast with both "
            "drawn anew. Longer lists make it smaller: biasgauge plan VECTORS --test NAME."
        ),
    ),
    RuleExplanation(
        id="circularity",
        of="an audit, a comparison",
        passes=(
            "where a list says how it was made: not from these vectors, and not from vectors of the same text; "
            "unknown where no record names both texts. Where it fails the answer is *inconclusive*"
        ),
        protects=(
            "lists that were expanded by neighbors in the audited vectors, and repeat what these say of the seed words"
        ),
        otherwise="inconclusive, whatever the numbers",
        do=(
            "Make the lists from other sources, or expand them in vectors of another text: biasgauge lexicons "
            "expand NAME OTHER_VECTORS --out FILE.toml."
        ),
    ),
    RuleExplanation(
        id="word-frequency",
        of="an audit, a comparison",
        passes=(
            "the frequencies that were held constant are those of the text of these vectors (counts, ranks, order"
            " of the file); unknown with a reference list"
        ),
        protects="a contrast of frequent with rare words",
        otherwise="unknown lowers report to report-with-care",
        do="Use vectors with counts or in order of frequency. biasgauge train writes the counts beside each model.",
    ),
    RuleExplanation(
        id="random-words",
        of="an audit",
        passes=(
            "where one list of words is measured along pairs: its contrast is relative to random words of similar "
            "frequency; unknown where the vocabulary has fewer than 20 of them"
        ),
        protects=(
            "the association of the whole vocabulary with one end, such as men where a corpus writes more about men: "
            "relative to 0, three lists of 20 random words were reported in 29 % of audits (GloVe)"
        ),
        otherwise="unknown lowers report to report-with-care",
        do="Audit the full vectors, not an excerpt of a few words.",
    ),
    RuleExplanation(
        id="base-pairs",
        of="an audit",
        passes=(
            "where a side of the test is made of words for men and women: at least 90 % of the 23 pairs of Du et "
            "al. 2021, each replacing that side, give the same direction (`--set agreement=.9`); where "
            "words are measured along pairs: the same share of those pairs"
        ),
        protects="a finding that turns with the base pair is about the pair (Zhang, Sneyd & Stevenson 2020)",
        otherwise="do-not-report where it fails",
        do="The page names the pairs that disagree. Report the finding by pair, or not at all.",
    ),
    RuleExplanation(
        id="measures",
        of="an audit",
        passes=(
            "RIPA, NBM and every measure that you added, over those pairs, give the same direction; the cosine "
            "does not vote, since the contrast is made of it"
        ),
        protects="a finding that turns with the scoring rule (Du, Fang & Nguyen 2021)",
        otherwise="do-not-report where it fails",
        do="See docs/howto/extending.md for adding a measure. biasgauge score VECTORS shows each measure by word.",
    ),
    RuleExplanation(
        id="held-out-attributes",
        of="an audit",
        passes=(
            "where another list of the same concept ships (a test that `repeats` this one, or has attributes of "
            "the same names): its words that are not in yours, in any form, give the same direction, with p at "
            "most alpha"
        ),
        protects=(
            "attributes that were chosen, knowingly or not, because they give the result (Antoniak & Mimno 2021)"
        ),
        otherwise="do-not-report where it fails",
        do="Name a second list of the same concept in your lexicon (`repeats`), collected by somebody else.",
    ),
    RuleExplanation(
        id="held-out-targets",
        of="an audit",
        passes=(
            "where a test that `repeats` this one ships: its targets that are not in yours, in any form, give the"
            " same direction, with p at most alpha"
        ),
        protects="targets that were chosen, knowingly or not, because they give the result",
        otherwise="do-not-report where it fails",
        do="Name a second list of the same concept in your lexicon (`repeats`), collected by somebody else.",
    ),
    RuleExplanation(
        id="other-words",
        of="an audit",
        passes=(
            "never: it stands, as unknown, where neither base pairs nor a second list of the same concept can be asked"
        ),
        protects="relying on the only list that there is",
        otherwise="unknown lowers report to report-with-care",
        do="Collect a second list of the same concept, and give it as a test that `repeats` this one.",
    ),
    RuleExplanation(
        id="views",
        of="an audit of a transformer",
        passes=(
            "at least 90 % of the layers, poolings, templates and contexts give the direction of the pooled contrast"
        ),
        protects="a finding of one layer, pooling or template",
        otherwise="do-not-report where it fails",
        do="The specification curve of the page shows which views disagree.",
    ),
    RuleExplanation(
        id="replicates",
        of="an audit",
        passes="every replicate gives the same direction; unknown with one model",
        protects="a finding of one random seed (Du et al. 2021)",
        otherwise="do-not-report where it fails; unknown lowers report to report-with-care",
        do="Train replicates: biasgauge train CORPUS --seeds 8, and audit all of them together.",
    ),
    RuleExplanation(
        id="equivalence",
        of="an audit, a comparison, a regression, points",
        passes=(
            "the interval of level 1 − 2 alpha / k lies within ± the smallest contrast that matters (two "
            "one-sided tests, Schuirmann 1987)"
        ),
        points="the intervals of r, of all points and of every stratum, lie within ±.5",
        protects="taking no evidence for evidence of absence",
        otherwise="inconclusive, where no association is found",
        do=(
            "Set the smallest contrast that matters before looking (--smallest); biasgauge plan gives the words needed."
        ),
    ),
    RuleExplanation(
        id="coverage",
        of="an audit, a comparison",
        passes=(
            "at least 80 % of the words of each set are in the vocabulary (`--min-coverage`), or 25 words of each list "
            "of the battery"
        ),
        protects="a test of the few words that happen to be found",
        otherwise="not-measurable",
        do="biasgauge lexicons check NAME --vectors VECTORS lists the words that are out of vocabulary.",
    ),
    RuleExplanation(
        id="calibration",
        of="an audit with --calibration",
        passes="the contrast is at least the limit of detection that planted bias gave for lists of these sizes",
        protects="reading a contrast below what the measure can detect in such a text",
        otherwise="it changes no verdict: it gives the scale",
        do="Calibrate on your own text: biasgauge calibrate CORPUS.",
    ),
    RuleExplanation(
        id="reduced",
        of="a change of vectors (audit --before --after)",
        passes="every association that was shown before is clearly nearer to 0 after the change",
        protects="calling a part of the bias the whole of it",
        otherwise="do-not-report that the bias was removed",
        do="The page lists each question before and after.",
    ),
    RuleExplanation(
        id="not-overcorrected",
        of="a change of vectors (audit --before --after)",
        passes="no association is shown on the other side of 0 after the change",
        protects="a bias that was reversed",
        otherwise="do-not-report that the bias was removed",
        do="Lower --strength of biasgauge mitigate.",
    ),
    RuleExplanation(
        id="not-recoverable",
        of="a change of vectors (audit --before --after)",
        passes="a classifier does not tell the side of the most biased words better than chance after the change",
        protects="bias that is hidden from the test and still in the vectors (Gonen & Goldberg 2019)",
        otherwise="do-not-report that the bias was removed",
        do="Report it as reduced along the tested direction only.",
    ),
    RuleExplanation(
        id="no-damage",
        of="a change of vectors (audit --before --after)",
        passes=(
            "no benchmark of word similarity is clearly worse after the change; unknown without enough words of one"
        ),
        protects="vectors that lost meaning together with bias",
        otherwise="do-not-report that the change is free of cost",
        do="The page lists the benchmarks with their intervals.",
    ),
    RuleExplanation(
        id="correlation",
        of="points (audit --points)",
        passes="the smallest p, corrected by Holm over all points and strata together, is at most .05 (`--alpha`)",
        protects="a table has as many correlations as strata (Holm 1979)",
        otherwise="no correlation is found: see `equivalence` and `power`",
        do="biasgauge correlate shows each stratum.",
    ),
    RuleExplanation(
        id="strata",
        of="points (audit --points)",
        passes=(
            "where a correlation is seen: at least 90 % of the strata give its direction (`--set agreement=.9`), "
            "and Cochran's Q does not find that they differ; unknown where points share units, since Q takes them"
            " for independent"
        ),
        protects=(
            "all points together may say the opposite of every stratum (Simpson 1951); strata that differ have no"
            " common number (Hedges & Olkin 1985)"
        ),
        otherwise="do-not-report where it fails",
        do="Report the strata one by one.",
    ),
    RuleExplanation(
        id="power",
        of="points (audit --points)",
        passes=(
            "where none is seen: a true r of .5 would be seen at least 4 times in 5, in the smallest stratum too,"
            " with p at most .05 (`--alpha`) divided by the number of correlations"
        ),
        protects="nothing seen with few embeddings says nothing (Cohen 1988)",
        otherwise="inconclusive",
        do="Add embeddings: biasgauge points.",
    ),
    RuleExplanation(
        id="points",
        of="points (audit --points)",
        passes="each row has a measurement of its own, or a unit is named",
        protects="one gap beside three WEATs is one measurement",
        otherwise="do-not-report, or inconclusive where no correlation is seen",
        do="Name the unit: --points-unit COLUMN.",
    ),
    RuleExplanation(
        id="reliability",
        of="points (audit --points)",
        passes=(
            "ICC(3,k) of the gap over task seeds (ICC(1,k) where embeddings have different seeds), of the stratum"
            " in question or of the middle one (of two, the lower), is at least .5 (`--set reliability=.5`); "
            "strata whose points have one seed do not count, and unknown where the one in question is such"
        ),
        protects="a gap that moves with the seed cannot be tracked by anything (Spearman 1904; Koo & Li 2016)",
        otherwise="do-not-report, or inconclusive where no correlation is seen",
        do="Train the task with more seeds: biasgauge points --seeds 10.",
    ),
    RuleExplanation(
        id="difference",
        of="a comparison of two groups",
        passes=(
            "p of the difference at equal word frequency, Holm-adjusted for the questions compared, is below alpha"
        ),
        protects="differences that other words, or other documents, would not show",
        otherwise="no difference is found: no-association-shown where `equivalence` passes, inconclusive otherwise",
        do="biasgauge compare shows the words and models that the difference rests on.",
    ),
    RuleExplanation(
        id="trend",
        of="a comparison of ordered groups",
        passes="p of the slope at equal word frequency, Holm-adjusted for the questions compared, is below alpha",
        protects="trends that other words, or other documents, would not show",
        otherwise="no trend is found: no-association-shown where `equivalence` passes, inconclusive otherwise",
        do="biasgauge compare --at sets the positions of the groups.",
    ),
    RuleExplanation(
        id="documents",
        of="a comparison",
        passes=(
            "models of every group differ by bootstrap sample or text, so that their spread is that of other documents"
        ),
        protects="taking random seeds of one file for evidence about a period or a source",
        otherwise="inconclusive about the sources; `these files` says whether the files differ",
        do="Train bootstrap samples: biasgauge train CORPUS --bootstrap 20, or biasgauge compare --corpus NAME=FILE.",
    ),
    RuleExplanation(
        id="amount-of-text",
        of="a comparison",
        passes="amounts of text of all groups differ by at most 5 %; unknown without recipes",
        protects="a difference of sizes: cosines depend on the amount of text",
        otherwise="inconclusive",
        do="Train on equal amounts of text: biasgauge compare --corpus NAME=FILE does.",
    ),
    RuleExplanation(
        id="these-files",
        of="a comparison without samples of documents",
        passes="the same files, trained again, would differ",
        protects="saying nothing where the narrower question has an answer",
        otherwise="not even the files are shown to differ",
        do="See `documents`.",
    ),
    RuleExplanation(
        id="draws-of-the-text",
        of="a comparison",
        passes="at least three quarters of the draws of the text give the direction of the difference",
        protects="a difference of one draw",
        otherwise="do-not-report",
        do="Train more samples: --bootstrap 20.",
    ),
    RuleExplanation(
        id="effect-size",
        of="a comparison",
        passes="the difference of effect sizes d has the direction of the difference of contrasts",
        protects="a difference of spreads instead of means",
        otherwise="do-not-report",
        do="Report both numbers.",
    ),
    RuleExplanation(
        id="counts",
        of="a comparison, a regression",
        passes=(
            "log odds ratios counted in the texts themselves give the same direction; unknown where their "
            "interval holds 0"
        ),
        protects="differences of embeddings that the texts do not show",
        otherwise="do-not-report",
        do="biasgauge corpus-bias measures the texts themselves.",
    ),
    RuleExplanation(
        id="embedding-regression",
        of="a regression",
        passes="permutation p of the squared norm of the term, Holm-adjusted over terms, is below alpha",
        protects="norms that grow with noise: their expectation is not 0 where the term has no effect",
        otherwise="no difference is found: no-association-shown where `equivalence` passes, inconclusive otherwise",
        do="More documents; biasgauge regress --detection N says which differences these documents can show.",
    ),
    RuleExplanation(
        id="projection",
        of="a regression with attribute lists",
        passes="p of the projection of the term on the attribute axis, Holm-adjusted over terms, is below alpha",
        protects="a use of the words that differs in ways that the question does not ask about",
        otherwise="no difference is found: no-association-shown where `equivalence` passes, inconclusive otherwise",
        do="The projection beside the background is that beyond all words of the documents.",
    ),
    RuleExplanation(
        id="axis",
        of="a regression with attribute lists",
        passes=(
            "the projection on the attribute axis gives the direction of the counts; unknown where its interval holds 0"
        ),
        protects="base rates of the attribute words, which counts follow and embeddings do not",
        otherwise="do-not-report",
        do="Report both readings.",
    ),
    RuleExplanation(
        id="clusters",
        of="a regression",
        passes="the clusters of documents carry enough degrees of freedom for the term",
        protects="few speakers or sources that stand for many documents",
        otherwise="inconclusive",
        do="Collect documents of more speakers or sources.",
    ),
    RuleExplanation(
        id="size",
        of="a regression",
        passes="unknown, where a difference that is shown lies within the smallest that matters",
        protects="a difference that is found and does not matter",
        otherwise="unknown lowers report to report-with-care",
        do="State the interval beside the smallest difference that matters.",
    ),
)
