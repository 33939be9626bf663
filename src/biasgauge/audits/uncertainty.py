"""How sure the associations of stereotypes are: the Bayesian model of distances for each lexicon and model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from biasgauge.analyses.posterior import ConnectionContrast, Posterior, bayes
from biasgauge.core import JsonObject, Record
from biasgauge.errors import InputError
from biasgauge.lexicons import Lexicon
from biasgauge.results import level_text, lexicon_name, number_text
from biasgauge.vectors import Embedding

VARIANT: Final = "crossed"
"""Every attribute meets every protected word; the published model ignores it and is too sure of the groups."""
KINDS = ("stereotypes", "test")
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
        told = [
            f"{lexicon_name(self.lexicon)}: {_PREFIX[contrast.decision or '']}{self.difference(contrast)}."
            for contrast in self.contrasts
        ]
        return (
            *told,
            *([f"{lexicon_name(self.lexicon)}: {self.posterior.caution}."] if self.posterior.caution else []),
        )

    def claim(self, contrast: ConnectionContrast) -> str:
        """Which connection is closer."""
        return _compared(contrast, "")

    def difference(self, contrast: ConnectionContrast) -> str:
        """How far apart two connections are, in words: how much closer the first is."""
        mean, low, high = (0.0 if end is None else end for end in (contrast.mean, contrast.low, contrast.high))
        sign = -1 if mean < 0 else 1
        ends = sorted((sign * low, sign * high))
        level = "" if self.posterior is None else f"{level_text(self.posterior.credible.prob)} "
        around = f"{level}interval {number_text(ends[0], 3)} to {number_text(ends[1], 3)}"
        small = f"region of practical equivalence ±{number_text(contrast.rope, 3)}"
        sure = f"probability of the sign {number_text(contrast.p_direction)}"
        return f"{_compared(contrast, f'{number_text(abs(mean), 3)} ')} ({around}, {small}; {sure})"

    def to_dict(self) -> JsonObject:
        """As it stands in `--json`; contrasts of single words are left to `biasgauge bayes`."""
        about = {"model": self.model, "lexicon": self.lexicon, "sentences": list(self.sentences)}
        if self.posterior is None:
            return {**about, "groups": [], "words": [], "contrasts": [], "reason": self.reason}
        content = self.posterior.to_dict()
        content["contrasts"] = [contrast.to_dict() for contrast in self.posterior.contrasts if contrast.word is None]
        return {**about, **content}


def measure_uncertainty(
    models: Sequence[Embedding],
    lexicons: Sequence[Lexicon],
    *,
    kinds: Sequence[str] = KINDS,
    min_coverage: float,
    case_fallback: bool,
    random_state: int,
) -> Iterator[LexiconPosterior]:
    """Fit the crossed model to the distances of each lexicon of these kinds, with each model."""
    for lexicon in lexicons:
        if lexicon.kind not in kinds:
            continue
        for model in models:
            try:
                found = bayes(
                    model,
                    lexicon,
                    variant=VARIANT,
                    min_coverage=min_coverage,
                    case_fallback=case_fallback,
                    random_state=random_state,
                )
            except InputError as problem:
                yield LexiconPosterior(model.name, lexicon.name, lexicon.title, reason=str(problem))
                continue
            lacking = "; ".join(f"{name}: {reason}" for name, reason in found.undefined.items()) or None
            yield LexiconPosterior(model.name, lexicon.name, lexicon.title, found, lacking)


_PREFIX = {"": "", "different": "", "equivalent": "practically no difference: ", "undecided": "inconclusive: "}


def _compared(contrast: ConnectionContrast, much: str) -> str:
    """Which connection is closer, and by how `much`."""
    closer, to = ("closer", "to") if (contrast.mean or 0.0) < 0 else ("farther", "from")
    others = "other groups'" if contrast.b == "different" else "words about people in general"
    return f"group words are {much}{closer} {to} their own stereotype's attributes than {to} {others}"
