"""Uncertainty of the associations of stereotypes: the Bayesian model of distances for each lexicon and model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from biasgauge.audits.part import PartRows, ShippedPart
from biasgauge.core import Estimate, JsonObject, Record
from biasgauge.errors import InputError
from biasgauge.lexicons import Lexicon
from biasgauge.results import Chart, Column, Stored, Summary, Table, level_text, lexicon_name, number_text
from biasgauge.vectors import Embedding

if TYPE_CHECKING:
    from biasgauge.analyses.posterior import ConnectionContrast, Posterior
    from biasgauge.audits.context import AuditContext
    from biasgauge.audits.result import AuditResult

VARIANT: Final = "crossed"
"""Every attribute meets every protected word; the published model ignores it and is too sure of the groups."""
MOST_POSTERIORS = 8
"""Lexicons up to which tests have a posterior too."""
ABOUT = (
    "Cosine distances of each protected word from the attributes of the stereotype about it, from those of other "
    "stereotypes, and from control words, in one hierarchical model (after Dobrzeniecka & Urbaniak 2023, with an "
    "effect of each attribute, which the published model lacks). 1 is unrelated, less is closer. A difference is "
    "inconclusive when its interval neither leaves the region of practical equivalence nor lies within it "
    "(Kruschke 2018)."
)
POSTERIORS = ("groups", "contrasts", "words")
CONTRASTS = (("associated", "different"), ("associated", "human"))
"""Is a stereotype's word closer to those it is about than to others, and than words about people in general are?"""


@dataclass(frozen=True, eq=False)
class LexiconPosterior(Record):
    """The posterior of one lexicon with one model, or why there is none.

    Attributes:
        model: name of the model.
        lexicon: name of the lexicon.
        title: what the lexicon is about.
        posterior: the fit.
        reason: why there is none.
    """

    model: str
    lexicon: str
    title: str
    posterior: Posterior | None = None
    reason: str | None = None

    @property
    def contrasts(self) -> tuple[ConnectionContrast, ...]:
        """The contrasts that matter most, of the groups."""
        if self.posterior is None:
            return ()
        return tuple(
            contrast
            for contrast in self.posterior.contrasts
            if contrast.word is None and (contrast.a, contrast.b) in CONTRASTS
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """The conclusions, one for each contrast that matters."""
        if self.posterior is None or not self.contrasts:
            return (f"{lexicon_name(self.lexicon)}: unknown: {self.reason or 'too few of its words were found'}.",)
        conclusions = [
            f"{lexicon_name(self.lexicon)}: {_PREFIX[contrast.decision or '']}{self.difference(contrast)}."
            for contrast in self.contrasts
        ]
        return (
            *conclusions,
            *([f"{lexicon_name(self.lexicon)}: {self.posterior.caution}."] if self.posterior.caution else []),
        )

    def difference(self, contrast: ConnectionContrast) -> str:
        """State in words how much closer the first of two connections is."""
        mean, low, high = (0.0 if end is None else end for end in (contrast.mean, contrast.low, contrast.high))
        sign = -1 if mean < 0 else 1
        ends = sorted((sign * low, sign * high))
        level = "" if self.posterior is None else f"{level_text(self.posterior.credible.prob)} "
        interval = f"{level}interval {number_text(ends[0], 3)} to {number_text(ends[1], 3)}"
        small = f"region of practical equivalence ±{number_text(contrast.rope, 3)}"
        sure = f"probability of the sign {number_text(contrast.p_direction)}"
        return f"{_compared(contrast, f'{number_text(abs(mean), 3)} ')} ({interval}, {small}; {sure})"

    def to_dict(self) -> JsonObject:
        """Return the JSON object of `--json`; contrasts of single words are left to `biasgauge bayes`."""
        labels = {"model": self.model, "lexicon": self.lexicon, "sentences": list(self.sentences)}
        if self.posterior is None:
            return {**labels, "groups": [], "words": [], "contrasts": [], "reason": self.reason}
        content = self.posterior.to_dict()
        content["contrasts"] = [contrast.to_dict() for contrast in self.posterior.contrasts if contrast.word is None]
        return {**labels, **content}


def measure(context: AuditContext) -> PartRows:
    """Fit the crossed model to the distances of each lexicon, with the first model of each subject.

    Stereotypes always have a posterior; tests, which take a second each, where there are few of them.
    """
    kinds = ("test", "stereotypes") if len(context.lexicons) <= MOST_POSTERIORS else ("stereotypes",)
    chosen = [lexicon for lexicon in context.lexicons if lexicon.kind in kinds]
    models = [subject.models[0] for subject in context.subjects]
    return PartRows(tuple(_posterior(model, lexicon, context) for lexicon in chosen for model in models))


def _posterior(model: Embedding, lexicon: Lexicon, context: AuditContext) -> LexiconPosterior:
    from biasgauge.analyses.posterior import bayes

    try:
        posterior = bayes(model, lexicon, variant=VARIANT, policy=context.policy, random_state=context.random_state)
    except InputError as problem:
        return LexiconPosterior(model.name, lexicon.name, lexicon.title, reason=str(problem))
    lacking = "; ".join(f"{name}: {reason}" for name, reason in posterior.undefined.items()) or None
    return LexiconPosterior(model.name, lexicon.name, lexicon.title, posterior, lacking)


_PREFIX = {"": "", "different": "", "equivalent": "practically no difference: ", "undecided": "inconclusive: "}


def _compared(contrast: ConnectionContrast, much: str) -> str:
    """State which connection is closer, and by how `much`."""
    closer, to = ("closer", "to") if (contrast.mean or 0.0) < 0 else ("farther", "from")
    comparison = "other groups'" if contrast.b == "different" else "words about people in general"
    return f"group words are {much}{closer} {to} their own stereotype's attributes than {to} {comparison}"


def summarize(result: PartRows, audit: AuditResult) -> Summary | None:
    """Posteriors with their intervals; charts of the first model alone, a group for each lexicon; numbers of all."""
    if not result.rows:
        return None
    contents = result.to_list()
    many_models = len({content["model"] for content in contents}) > 1
    first = audit.models[0].name
    charts: list[Chart] = []
    for row in result.rows:
        if isinstance(row, LexiconPosterior) and row.posterior is not None and row.model == first:
            drawn = {chart.name: chart for chart in row.posterior.summary().charts}
            charts += [replace(drawn[name], group=row.lexicon) for name in POSTERIORS if name in drawn]
    rows = []
    for content in contents:
        for group in content["groups"] or [{"connection": None, "reason": content.get("reason")}]:
            ends = {name: group.get(name) for name in ("low", "high", "reason")}
            model = [content["model"]] if many_models else []
            estimate = Estimate(value=group.get("mean"), **ends)
            rows.append((content["lexicon"], *model, group["connection"], estimate, group.get("sd")))
    columns = [Column("lexicon", "lexicon"), *(["model"] if many_models else []), "connection",
               Column("mean", "estimate", 3), Column("standard deviation", "number", 3)]  # fmt: skip
    title = "Mean cosine distance: posterior mean, interval and standard deviation"
    return Summary(
        title="Posterior distributions of distances",
        headline="",
        about=ABOUT + (f" The charts are of {first}." if many_models else ""),
        sentences=tuple(
            f"{sentence} ({content['model']})" if many_models else sentence
            for content in contents
            for sentence in content["sentences"]
        ),
        charts=tuple(charts),
        tables=(Table.of("uncertainty", title, columns, rows),),
    )


PART = ShippedPart(
    "uncertainty", "Posterior distributions of distances", measure, summarize, order=90, stage="posteriors",
    read=PartRows.reader(Stored.from_dict),
)  # fmt: skip
