"""How sure the associations of stereotypes are: the Bayesian model of distances for each lexicon and model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from biasgauge.errors import InputError
from biasgauge.uncertainty import bayes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from biasgauge.embeddings import Embedding
    from biasgauge.lexicons import Lexicon
    from biasgauge.uncertainty import Contrast, Posterior

VARIANT: Final = "crossed"
"""Every attribute meets every protected word; the published model ignores it and is too sure of the groups."""
KINDS = ("stereotypes", "test")
CONTRASTS = (("associated", "different"), ("associated", "human"))
"""Is a stereotype's word closer to those it is about than to others, and than words about people in general are?"""


@dataclass(frozen=True, eq=False)
class AuditPosterior:
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
    def contrasts(self) -> tuple[Contrast, ...]:
        """The contrasts that matter most, of the groups."""
        if self.posterior is None:
            return ()
        return tuple(one for one in self.posterior.contrasts if one.word is None and (one.a, one.b) in CONTRASTS)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What it comes to."""
        if self.posterior is None or not self.contrasts:
            return (f"{self.lexicon}: not known: {self.reason or 'too few of its words were found'}.",)
        level = f"{100 * self.posterior.credible.prob:g} %"
        found = [f"{self.lexicon}: {_sentence(one, level)}." for one in self.contrasts]
        if self.posterior.caution:
            found.append(f"{self.lexicon}: {self.posterior.caution}.")
        return tuple(found)

    def difference(self, contrast: Contrast) -> str:
        """How far apart two connections are, in words."""
        return _difference(contrast, "" if self.posterior is None else f"{100 * self.posterior.credible.prob:g} %")

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`; contrasts of single words are left to `biasgauge bayes`."""
        about = {"model": self.model, "lexicon": self.lexicon, "sentences": list(self.sentences)}
        if self.posterior is None:
            return {**about, "groups": [], "words": [], "contrasts": [], "reason": self.reason}
        content = self.posterior.to_dict()
        content["contrasts"] = [one.to_dict() for one in self.posterior.contrasts if one.word is None]
        return {**about, **content}


def measure_uncertainty(
    models: Sequence[Embedding],
    lexicons: Sequence[Lexicon],
    *,
    kinds: Sequence[str] = KINDS,
    min_coverage: float,
    case_fallback: bool,
    random_state: int,
) -> Iterator[AuditPosterior]:
    """Fit the crossed model to the distances of each lexicon of these kinds, with each model."""
    for one in lexicons:
        if one.kind not in kinds:
            continue
        for model in models:
            try:
                found = bayes(
                    model,
                    one,
                    variant=VARIANT,
                    min_coverage=min_coverage,
                    case_fallback=case_fallback,
                    random_state=random_state,
                )
            except InputError as problem:
                yield AuditPosterior(model.name, one.name, one.title, reason=str(problem))
                continue
            lacking = "; ".join(f"{name}: {reason}" for name, reason in found.undefined.items()) or None
            yield AuditPosterior(model.name, one.name, one.title, found, lacking)


def _sentence(contrast: Contrast, level: str) -> str:
    """One contrast in words: which side, how far, how sure."""
    others = "words of other stereotypes" if contrast.b == "different" else "words about people in general"
    side = "closer" if (contrast.mean or 0.0) < 0 else "farther"
    said = {
        "different": f"the stereotype's own words are {side} than {others}",
        "equivalent": f"the stereotype's own words are no closer than {others}",
        "undecided": f"undecided whether the stereotype's own words are {side} than {others}",
    }[contrast.decision or "undecided"]
    return f"{said}: they {_difference(contrast, level)}"


def _difference(contrast: Contrast, level: str) -> str:
    mean, low, high = (0.0 if one is None else one for one in (contrast.mean, contrast.low, contrast.high))
    sure = f"probability of the sign {contrast.p_direction:.2f}"
    return f"differ by {mean:+.3f} in distance ({level} {low:+.3f} to {high:+.3f}), {sure}"
