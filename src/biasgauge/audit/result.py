"""What an audit found, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from biasgauge._version import __version__
from biasgauge.audit.extrinsic import HOW_TO_GET

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from biasgauge.audit.explorer import Explorer
    from biasgauge.audit.nulls import AuditNull
    from biasgauge.audit.questions import Question
    from biasgauge.audit.reliability import AuditReliability
    from biasgauge.audit.replicates import ReplicateSpread
    from biasgauge.audit.robustness import AuditRobustness
    from biasgauge.audit.uncertainty import AuditPosterior
    from biasgauge.embeddings import Coverage, Notice
    from biasgauge.extrinsic import CorrelationResult, TaskResult
    from biasgauge.mitigation import MitigationEffect
    from biasgauge.scores import Association
    from biasgauge.seeds import SeedsResult

Verdict = Literal["measurable", "partly", "undefined"]


@dataclass(frozen=True)
class ModelSummary:
    """One model in a few numbers.

    Attributes:
        length_quantiles: smallest, 5 %, median, 95 % and largest Euclidean length of its vectors.
        unit_length: all vectors have length 1 (within 0.001), so that measures on raw vectors see unit ones.
        checksum: SHA-256 of words and vectors.
    """

    name: str
    source: str
    format: str
    words: int
    dim: int
    precision: str
    checksum: str
    length_quantiles: Mapping[float, float]
    unit_length: bool
    notices: tuple[Notice, ...]

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        return {
            "name": self.name,
            "source": self.source,
            "format": self.format,
            "words": self.words,
            "dim": self.dim,
            "precision": self.precision,
            "checksum": self.checksum,
            "length_quantiles": {f"{level:g}": value for level, value in self.length_quantiles.items()},
            "unit_length": self.unit_length,
            "notices": [notice.to_dict() for notice in self.notices],
        }


@dataclass(frozen=True)
class LexiconVerdict:
    """Whether one lexicon can be measured with one model.

    Attributes:
        verdict: "measurable": every set has enough words; "partly": some sets have, each stands on its own;
            "undefined": too few words were found to measure anything.
        reason: why not measurable, in a sentence; empty when it is.
        short: the sets that lost too many words.
        case_to_blame: fewer sets would be short if words were also looked up in another case.
    """

    model: str
    lexicon: str
    kind: str
    title: str
    verdict: Verdict
    reason: str
    coverage: Coverage
    short: tuple[str, ...]
    case_to_blame: bool
    checksum: str

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        return {
            "model": self.model,
            "lexicon": self.lexicon,
            "kind": self.kind,
            "title": self.title,
            "verdict": self.verdict,
            "reason": self.reason,
            "coverage": self.coverage.to_dict(),
            "short": list(self.short),
            "case_to_blame": self.case_to_blame,
            "checksum": self.checksum,
        }


@dataclass(frozen=True)
class AuditResult:
    """Everything one audit found. `save` writes the page and the tables; `to_dict` is what `--json` prints.

    Attributes:
        models: each model in a few numbers.
        verdicts: for each question that was asked of each model, whether its answer may be relied on.
        lexicons: which lexicons can be measured, for each model.
        bias: WEAT (two-sided) of every test lexicon and MAC of every stereotype lexicon, for each model.
        replicates: the models over which `spread` was taken: all that were given, or the shipped ones.
        spread: each test over the replicates; empty for a single model.
        reliability: whether scores on the replicates agree with themselves, or why that is not known.
        robustness: which conclusions flip when the base pair, the measure or the form of words changes.
        seeds: whether the word lists are fit to measure anything with these vectors; None when none are set against
            each other.
        uncertainty: posteriors of the distances of stereotypes, for each lexicon and model.
        nulls: the effects of data sets without bias, of the sizes that were measured.
        change: what was done to the vectors, where those before were given.
        settings: everything that decides the result.
        explorer: scores of some thousand words for the page, or why there are none.
        extrinsic: whether an intrinsic number tracks an extrinsic one, where points were given.
        tasks: results of downstream tasks that were given.
    """

    models: tuple[ModelSummary, ...]
    verdicts: tuple[Question, ...]
    lexicons: tuple[LexiconVerdict, ...]
    bias: tuple[Association, ...]
    replicates: tuple[str, ...]
    spread: tuple[ReplicateSpread, ...]
    reliability: AuditReliability
    robustness: AuditRobustness
    seeds: SeedsResult | None
    uncertainty: tuple[AuditPosterior, ...]
    nulls: tuple[AuditNull, ...]
    change: MitigationEffect | None
    settings: Mapping[str, Any]
    explorer: Explorer | None = None
    extrinsic: CorrelationResult | None = None
    tasks: tuple[TaskResult, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader should know before trusting any number: oddities of the files, unit-length vectors."""
        odd = [f"{model.name}: {notice.message}" for model in self.models for notice in model.notices]
        unit = [
            f"{model.name}: every vector has length 1, so a measure on raw vectors (RIPA) sees unit vectors"
            for model in self.models
            if model.unit_length
        ]
        return (*odd, *unit)

    def count(self, verdict: str) -> int:
        """How many lexicons have this verdict."""
        return sum(one.verdict == verdict for one in self.lexicons)

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object; its keys are a contract."""
        lost: dict[str, dict[str, None]] = {}
        for one in self.lexicons:
            for name, words in one.coverage.lost.items():
                lost.setdefault(f"{one.lexicon}.{name}", {}).update(dict.fromkeys(words))
        return {
            "verdicts": [one.to_dict() for one in self.verdicts],
            "lexicons": [one.to_dict() for one in self.lexicons],
            "bias": [one.to_dict() for one in self.bias],
            "models": [model.to_dict() for model in self.models],
            "replicates": {"models": list(self.replicates), "bias": [one.to_dict() for one in self.spread]},
            "reliability": self.reliability.to_dict(),
            "robustness": self.robustness.to_dict(),
            "seeds": {"pairs": []} if self.seeds is None else self.seeds.to_dict(),
            "uncertainty": [one.to_dict() for one in self.uncertainty],
            **({} if self.change is None else {"change": self.change.to_dict()}),
            "nulls": [one.to_dict() for one in self.nulls],
            "extrinsic": self._extrinsic(),
            "coverage": {
                "asked": sum(one.coverage.asked for one in self.lexicons),
                "found": sum(one.coverage.found for one in self.lexicons),
                "lost": {name: list(words) for name, words in lost.items()},
            },
            **({} if self.explorer is None else {"explorer": self.explorer.to_dict()}),
            "settings": dict(self.settings),
            "warnings": list(self.warnings),
            "version": __version__,
        }

    @property
    def lacks_points(self) -> str | None:
        """How to get points of intrinsic and extrinsic numbers, where none were given."""
        return HOW_TO_GET if self.extrinsic is None else None

    def _extrinsic(self) -> dict[str, Any]:
        found = {"groups": [], "reason": self.lacks_points} if self.extrinsic is None else self.extrinsic.to_dict()
        return {**found, "tasks": [one.to_dict() for one in self.tasks]}

    def to_frame(self) -> pd.DataFrame:
        """One row for each set of each lexicon and model: asked, found, share, lost words."""
        import pandas as pd  # noqa: PLC0415 - pandas takes longer to import than the audit takes to run

        frames = [
            one.coverage.to_frame().assign(model=one.model, lexicon=one.lexicon, kind=one.kind, verdict=one.verdict)
            for one in self.lexicons
        ]
        columns = ["model", "lexicon", "kind", "verdict", "set", "asked", "found", "share", "lost"]
        return pd.concat(frames, ignore_index=True)[columns] if frames else pd.DataFrame(columns=columns)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to `path`, and the same content as `.json` and `.csv` beside it; return the page's path."""
        from biasgauge.report import save_audit  # noqa: PLC0415 - only those who want a page pay for its templates

        return save_audit(self, path)

    def _repr_html_(self) -> str:
        from biasgauge.report import audit_table  # noqa: PLC0415 - as in save

        return audit_table(self)
