"""What an audit found, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from biasgauge._version import __version__
from biasgauge.analyses.correlate import CorrelationResult
from biasgauge.analyses.reliability import ReliabilityResult
from biasgauge.analyses.robustness import RobustnessResult, SpecificationCurve
from biasgauge.analyses.seeds import SeedsResult
from biasgauge.applications import TaskResult
from biasgauge.audits.breakdown import Breakdown
from biasgauge.audits.calibrated import CalibratedScores
from biasgauge.audits.did_it_work import ContrastChange
from biasgauge.audits.explorer import Explorer
from biasgauge.audits.extrinsic import HOW_TO_GET
from biasgauge.audits.meaningless import ChanceBand, ErrorRate
from biasgauge.audits.not_measured import NotMeasured
from biasgauge.audits.replicates import ReplicateSpread
from biasgauge.audits.text_side import TextSide
from biasgauge.audits.uncertainty import LexiconPosterior
from biasgauge.audits.verdicts import Verdict
from biasgauge.core import JsonMapping, JsonObject, Record, to_plain
from biasgauge.errors import InputError
from biasgauge.mitigation import MitigationEffect
from biasgauge.results import Quote, Result, Stored, Summary
from biasgauge.scores import Association
from biasgauge.stats import METHOD
from biasgauge.vectors import Notice

if TYPE_CHECKING:
    import pandas as pd

Measurable = Literal["measurable", "partly", "undefined"]
MEASURABLE: tuple[Measurable, ...] = get_args(Measurable)
P_VALUES = ("p_targets", "p_attributes", "p", "p_adjusted")


@dataclass(frozen=True)
class ModelSummary(Record):
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


@dataclass(frozen=True)
class SubjectSummary(Record):
    """Whom the audit asked.

    Attributes:
        name: what verdicts call it.
        models: one model, or replicates.
        role: "audited", or "second opinion": shown beside, and never evidence.
        views: whether the models are views of one transformer rather than replicates.
        shared: what the names of replicates or views have in common; empty for one model.
    """

    name: str
    models: tuple[str, ...]
    role: Literal["audited", "second opinion"]
    views: bool = False
    shared: str = ""


@dataclass(frozen=True)
class LexiconCoverage(Record):
    """How much of a lexicon a model has.

    Attributes:
        asked, found: how many words, summed over the sets.
        lost: words that were not found, by set.
        reasons: why, where it is not that they are not in the vocabulary.
        respelled: words found only under another case, with the spelling that was found.
    """

    asked: int
    found: int
    lost: Mapping[str, tuple[str, ...]]
    reasons: Mapping[str, str] | None = None
    respelled: Mapping[str, str] | None = None

    @property
    def share(self) -> float:
        """Share of the words asked for that were found; 1.0 when none were asked for."""
        return self.found / self.asked if self.asked else 1.0

    def to_dict(self) -> JsonObject:
        """The shape that every `--json` uses: reasons and spellings only where there are any."""
        return {name: value for name, value in super().to_dict().items() if value is not None}


@dataclass(frozen=True)
class LexiconVerdict(Record):
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
    verdict: Measurable
    reason: str
    coverage: LexiconCoverage
    short: tuple[str, ...]
    case_to_blame: bool
    checksum: str


@dataclass(frozen=True, eq=False, repr=False)
class AuditResult(Result):
    """Everything one audit found. `save` writes the page and the tables; `to_dict` is what `--json` prints.

    Parts that were read back from JSON are `Stored`: they have the same JSON, their sentences and their tables.

    Attributes:
        models: each model in a few numbers.
        subjects: which of them were asked together, as replicates, and which are second opinions.
        verdicts: for each question that was asked of each model, whether its answer may be reported.
        lexicons: which lexicons can be measured, for each model.
        bias: WEAT (two-sided) of every test lexicon and MAC of every stereotype lexicon, for each model.
        error_rates: how often an audit of lists that mean nothing would have found something in these vectors.
        chance: the contrasts that random words of like frequency give.
        spread: each test over the replicates; empty where there are none.
        reliability: whether scores on the replicates agree with themselves, or why that is unknown.
        robustness: which conclusions flip when the base pair, the measure or the form of words changes.
        seeds: whether the word lists are fit to measure anything with these vectors; None when none are set against
            each other.
        uncertainty: posteriors of the distances of stereotypes, for each lexicon and model.
        change: what was done to the vectors, where those before were given.
        contrasts: the contrast of each question before and after; in JSON a list of `change`.
        settings: everything that decides the result.
        explorer: scores of some thousand words for the page, or why there are none.
        extrinsic: whether an intrinsic number tracks an extrinsic one, where points were given.
        tasks: results of downstream tasks that were given.
        breakdowns: what each contrast is made of: by base pair, replicate and word.
        date: the day of the audit, as 2026-11-16.
        text: what the text itself says, where it was given.
        calibration: scores as planted odds ratios, where there is a calibration.
        specifications: of a transformer, each test over all layers, poolings and templates.
    """

    models: tuple[ModelSummary, ...]
    subjects: tuple[SubjectSummary, ...]
    verdicts: tuple[Verdict, ...]
    error_rates: tuple[ErrorRate, ...]
    chance: tuple[ChanceBand, ...]
    lexicons: tuple[LexiconVerdict, ...]
    bias: tuple[Association, ...]
    spread: tuple[ReplicateSpread, ...]
    reliability: ReliabilityResult | NotMeasured
    robustness: RobustnessResult | NotMeasured
    seeds: SeedsResult | None
    uncertainty: tuple[LexiconPosterior, ...]
    change: MitigationEffect | None
    settings: JsonMapping
    explorer: Explorer | None = None
    extrinsic: CorrelationResult | None = None
    tasks: tuple[TaskResult, ...] = ()
    breakdowns: tuple[Breakdown, ...] = ()
    date: str = ""
    text: TextSide | None = None
    contrasts: tuple[ContrastChange, ...] = ()
    calibration: CalibratedScores | None = None
    specifications: tuple[SpecificationCurve, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader should know before trusting any number: oddities of the files, unit-length vectors."""
        odd = [f"{model.name}: {notice.message}" for model in self.models for notice in model.notices]
        unit = [
            f"{model.name}: every vector has length 1, so a measure on raw vectors (RIPA) sees unit vectors"
            for model in self.models
            if model.unit_length
        ]
        lower = "the vocabulary is in lower case, so words with capitals were looked up in lower case"
        return (*odd, *unit, *([lower] if self.settings["lower_case"] and self.settings["case_fallback"] else []))

    @property
    def replicates(self) -> tuple[str, ...]:
        """Names of the models that have replicates."""
        return tuple(name for subject in self.subjects if len(subject.models) > 1 for name in subject.models)

    @property
    def quotes(self) -> tuple[Quote, ...]:
        """A ready sentence for each question, with the caveat that belongs beside it; also on the page."""
        from biasgauge.audits.reporting_sentences import quotes

        return quotes(self)

    @property
    def methods(self) -> str:
        """How it was done, as a methods section has it, made from the settings of this audit; also on the page."""
        from biasgauge.audits.reporting_sentences import methods

        return methods(self)

    def count(self, verdict: Measurable) -> int:
        """How many lexicons have this verdict; one that differs between models counts under the worst it has."""
        worst: dict[str, int] = {}
        for lexicon in self.lexicons:
            worst[lexicon.lexicon] = max(worst.get(lexicon.lexicon, 0), MEASURABLE.index(lexicon.verdict))
        return sum(rank == MEASURABLE.index(verdict) for rank in worst.values())

    def summary(self) -> Summary:
        """Verdicts first, then each part."""
        from biasgauge.audits.sections import audit_summary

        return audit_summary(self)

    def to_frame(self) -> pd.DataFrame:
        """One row for each question and subject: the contrast, its interval, p, and the decision."""
        import pandas as pd

        lexicons = {(lexicon.lexicon, lexicon.model): lexicon.coverage for lexicon in self.lexicons}
        first = {subject.name: subject.models[0] for subject in self.subjects}
        rows = []
        for verdict in self.verdicts:
            numbers = verdict.observed(verdict.evidence[0].rule) if verdict.evidence else {}
            words = lexicons.get((verdict.question.partition(":")[0], first.get(verdict.model, verdict.model)))
            value = next((numbers[name] for name in ("contrast", "r") if name in numbers), None)
            rows.append(
                {
                    "question": verdict.question,
                    "model": verdict.model,
                    "family": verdict.family,
                    "title": verdict.title,
                    "test": verdict.test,
                    "decision": verdict.decision,
                    "value": value,
                    **{name: numbers.get(name) for name in ("low", "high", "level", *P_VALUES)},
                    "failed": "; ".join(piece.rule for piece in verdict.evidence if piece.passes is False),
                    "unknown": "; ".join(piece.rule for piece in verdict.evidence if piece.passes is None),
                    "asked": words.asked if words else None,
                    "found": words.found if words else None,
                    "claim": verdict.claim,
                    "sentence": verdict.sentence,
                }
            )
        return pd.DataFrame(rows)

    def effects_frame(self) -> pd.DataFrame:
        """One row for each number: contrast, effect size or MAC of a lexicon in a model, with interval, p and words."""
        import pandas as pd

        from biasgauge.audits.effects import effect_rows

        return pd.DataFrame(list(effect_rows(self)))

    def frames_beside(self) -> Mapping[str, pd.DataFrame]:
        """What is written beside the page: the decisions, and the numbers."""
        return {"verdicts": self.to_frame(), "effects": self.effects_frame()}

    def to_dict(self) -> JsonObject:
        """One JSON-ready object; its keys are a contract."""
        lost: dict[str, dict[str, None]] = {}
        for lexicon in self.lexicons:
            for name, words in lexicon.coverage.lost.items():
                lost.setdefault(f"{lexicon.lexicon}.{name}", {}).update(dict.fromkeys(words))
        found = {"groups": [], "reason": HOW_TO_GET} if self.extrinsic is None else self.extrinsic.to_dict()
        own: dict[str, Any] = {
            "verdicts": self.verdicts,
            "error_rates": self.error_rates,
            "intervals": {"observed": {"method": METHOD}, "error_rates": {"level": 0.95, "method": "clopper-pearson"}},
            "subjects": self.subjects,
            "lexicons": self.lexicons,
            "bias": self.bias,
            "models": self.models,
            "replicates": {"models": self.replicates, "bias": self.spread},
            "reliability": self._reliability(),
            "robustness": {"model": self.models[0].name, **self.robustness.to_dict()},
            "seeds": {"pairs": []} if self.seeds is None else self.seeds,
            "uncertainty": self.uncertainty,
            **({} if self.change is None else {"change": {**self.change.to_dict(), "contrasts": self.contrasts}}),
            "chance": self.chance,
            "breakdowns": self.breakdowns,
            "extrinsic": {**found, "tasks": self.tasks},
            "coverage": {
                "asked": sum(lexicon.coverage.asked for lexicon in self.lexicons),
                "found": sum(lexicon.coverage.found for lexicon in self.lexicons),
                "lost": {name: list(words) for name, words in lost.items()},
            },
            **({} if self.explorer is None else {"explorer": self.explorer}),
            **({} if self.text is None else {"text": self.text}),
            **({} if self.calibration is None else {"calibration": self.calibration}),
            **({"specifications": self.specifications} if self.specifications else {}),
            "settings": self.settings,
            "warnings": self.warnings,
            "version": __version__,
            "date": self.date,
        }
        return {name: to_plain(value) for name, value in own.items()}

    def _reliability(self) -> dict[str, Any]:
        """Components and designs of all measures together, or why there are none."""
        content = {"components": None, "design": None, **self.reliability.to_dict()}
        if isinstance(self.reliability, ReliabilityResult):
            parts = {name: next(iter(content[name]), None) for name in ("components", "design")}
            reason = (parts["components"] or {}).get("reason")
            content |= {"components": None, "design": None, "reason": reason} if reason else parts
        return content

    @classmethod
    def from_dict(cls, content: JsonMapping) -> Self:
        """The audit of which `to_dict` made `content`.

        Raises:
            InputError: it is something else; names the key.
        """
        try:
            return cls._from_parts(content)
        except (LookupError, TypeError, AttributeError, ValueError) as problem:
            raise InputError(f"This is not the JSON of an audit ({type(problem).__name__}: {problem}).") from problem

    @classmethod
    def _from_parts(cls, content: JsonMapping) -> Self:
        stored: Any = Stored  # stands for the part whose JSON it is
        extrinsic = {name: value for name, value in content["extrinsic"].items() if name != "tasks"}
        change = {name: value for name, value in content.get("change", {}).items() if name != "contrasts"}
        return cls(
            models=tuple(map(ModelSummary.from_dict, content["models"])),
            verdicts=tuple(map(Verdict.from_dict, content["verdicts"])),
            lexicons=tuple(map(LexiconVerdict.from_dict, content["lexicons"])),
            bias=tuple(map(stored, content["bias"])),
            subjects=tuple(map(SubjectSummary.from_dict, content["subjects"])),
            error_rates=tuple(map(ErrorRate.from_dict, content["error_rates"])),
            chance=tuple(map(ChanceBand.from_dict, content["chance"])),
            spread=tuple(map(ReplicateSpread.from_dict, content["replicates"]["bias"])),
            reliability=stored(content["reliability"]),
            robustness=stored(content["robustness"]),
            seeds=stored(content["seeds"]) if content["seeds"]["pairs"] else None,
            uncertainty=tuple(map(stored, content["uncertainty"])),
            change=stored(change) if change else None,
            contrasts=tuple(map(ContrastChange.from_dict, content.get("change", {}).get("contrasts", ()))),
            settings=content["settings"],
            explorer=stored(content["explorer"]) if "explorer" in content else None,
            extrinsic=None if extrinsic.get("reason") == HOW_TO_GET else stored(extrinsic),
            tasks=tuple(map(stored, content["extrinsic"]["tasks"])),
            breakdowns=tuple(map(Breakdown.from_dict, content["breakdowns"])),
            date=content["date"],
            text=TextSide.from_dict(content["text"]) if "text" in content else None,
            calibration=CalibratedScores.from_dict(content["calibration"]) if "calibration" in content else None,
            specifications=tuple(map(SpecificationCurve.from_dict, content.get("specifications", ()))),
        )
