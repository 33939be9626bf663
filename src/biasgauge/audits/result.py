"""`AuditResult`: verdicts, the vectors they are about, and the result of every part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from biasgauge import registry
from biasgauge._version import __version__
from biasgauge.audits.part import PartRows, ordered_parts, read_part, write_part
from biasgauge.audits.parts.false_alarms import ErrorRate, FalseAlarms, false_alarm_warnings, false_alarms
from biasgauge.audits.subjects import Subject
from biasgauge.audits.verdicts import Verdict
from biasgauge.core import JsonMapping, JsonObject, Record, all_lengths, to_plain
from biasgauge.errors import InputError
from biasgauge.results import Quote, Result, Summary
from biasgauge.stats import METHOD
from biasgauge.vectors import Embedding, Notice

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.audits.browser.building import Workbench

ADJUSTED = ("adjusted", "adjusted_low", "adjusted_high")
"""Contrast at equal word frequency, and its interval."""
P_VALUES = ("p_targets", "p_attributes", "p", "p_adjusted")
QUANTILES = (0.0, 0.05, 0.5, 0.95, 1.0)
_UNIT_TOLERANCE = 1e-3


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

    @classmethod
    def from_model(cls, model: Embedding) -> Self:
        """Summarize a model; lengths of all vectors are measured a block at a time."""
        lengths = all_lengths(model.vectors)
        quantiles = np.quantile(lengths, QUANTILES).tolist() if len(lengths) else []
        return cls(
            name=model.name,
            source=model.source,
            format=model.format,
            words=len(model),
            dim=model.dim,
            precision=model.vectors.dtype.name,
            checksum=model.checksum,
            length_quantiles=dict(zip(QUANTILES, quantiles, strict=False)),
            unit_length=bool(len(lengths)) and bool(np.allclose(lengths, 1.0, atol=_UNIT_TOLERANCE)),
            notices=model.notices,
        )


@dataclass(frozen=True)
class SubjectSummary(Record):
    """Models that were measured together.

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

    @classmethod
    def from_subject(cls, subject: Subject, role: Literal["audited", "second opinion"]) -> Self:
        """Summarize a subject."""
        names = tuple(model.name for model in subject.models)
        return cls(subject.name, names, role, views=subject.viewed, shared=subject.shared)


@dataclass(frozen=True, eq=False, repr=False)
class AuditResult(Result):
    """Everything one audit found. `save` writes the page and the tables; `to_dict` is what `--json` prints.

    The result of a part is also an attribute of that name: `audit.reliability`, `audit.bias`. A part that does not
    apply is None; one whose JSON is a list gives its rows. Parts that were read back from JSON may be `Stored`: they
    have the same JSON, their sentences and their tables.

    Attributes:
        models: each model in a few numbers.
        subjects: which of them were measured together, as replicates, and which are second opinions.
        verdicts: for each query and subject, whether its answer may be reported.
        settings: everything that decides the result.
        parts: result of each part, by name.
        date: the day of the audit, as 2026-11-16.
        workbench: page for the reader's own word lists; None where none was asked for, or after reading JSON.
    """

    models: tuple[ModelSummary, ...]
    subjects: tuple[SubjectSummary, ...]
    verdicts: tuple[Verdict, ...]
    settings: JsonMapping
    parts: Mapping[str, Result]
    date: str = ""
    workbench: Workbench | None = None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - each part has a class of its own
        if name.startswith("_") or not registry.has("audit_part", name):
            raise AttributeError(f"An audit has no {name!r}.")
        result = self.parts.get(name)
        return result.rows if isinstance(result, PartRows) else result

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings to read before trusting any number: oddities of the files, unit-length vectors."""
        odd = [f"{model.name}: {notice.message}" for model in self.models for notice in model.notices]
        unit = [
            f"{model.name}: every vector has length 1, so a measure on raw vectors (RIPA) sees unit vectors"
            for model in self.models
            if model.unit_length
        ]
        lower = "The vocabulary is in lower case; words with capitals were looked up in lower case"
        found = false_alarm_warnings(self._error_rates)
        return (
            *found,
            *odd,
            *unit,
            *([lower] if self.settings["lower_case"] and self.settings["case_fallback"] else []),
        )

    @property
    def false_alarms(self) -> FalseAlarms | None:
        """Largest share of audits of lists without meaning that find an association; None where it was not measured."""
        return false_alarms(self._error_rates)

    @property
    def _error_rates(self) -> tuple[ErrorRate, ...]:
        rates = self.parts.get("error_rates")
        return rates.rows if isinstance(rates, PartRows) else ()

    @property
    def replicated_models(self) -> tuple[str, ...]:
        """Names of the models that have replicates."""
        return tuple(name for subject in self.subjects if len(subject.models) > 1 for name in subject.models)

    @property
    def quotes(self) -> tuple[Quote, ...]:
        """A ready sentence for each question, with the caveat that belongs beside it; also on the page."""
        from biasgauge.audits.page.reporting_sentences import quotes

        return quotes(self)

    @property
    def methods(self) -> str:
        """Methods section, written from the settings of this audit; also on the page."""
        from biasgauge.audits.page.reporting_sentences import methods

        return methods(self)

    def summary(self) -> Summary:
        """Verdicts first, then each part."""
        from biasgauge.audits.page.first_screen import audit_summary

        return audit_summary(self)

    def to_frame(self) -> pd.DataFrame:
        """One row for each question and subject: the contrast, its interval, p, and the decision."""
        import pandas as pd

        lexicons = {(row.lexicon, row.model): row.coverage for row in self.lexicons or ()}
        first = {subject.name: subject.models[0] for subject in self.subjects}
        rows = []
        for verdict in self.verdicts:
            numbers = verdict.observed(verdict.evidence[0].rule) if verdict.evidence else {}
            words = lexicons.get((verdict.question.partition(":")[0], first.get(verdict.model, verdict.model)))
            labels = ("question", "model", "family", "primary", "title", "test", "decision")
            rows.append(
                {
                    **{name: getattr(verdict, name) for name in labels},
                    "value": next((numbers[name] for name in ("contrast", "r") if name in numbers), None),
                    **{name: numbers.get(name) for name in ("low", "high", *ADJUSTED, "level", *P_VALUES)},
                    "failed": "; ".join(piece.rule for piece in verdict.failed),
                    "unknown": "; ".join(piece.rule for piece in verdict.unknown),
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

        from biasgauge.audits.parts.associations import effect_rows

        return pd.DataFrame(list(effect_rows(self)))

    def frames_beside(self) -> Mapping[str, pd.DataFrame]:
        """Tables written beside the page: the decisions, and the numbers."""
        return {"verdicts": self.to_frame(), "effects": self.effects_frame()}

    def to_dict(self) -> JsonObject:
        """One JSON-ready object; its keys are a contract. Every part is a key of its own."""
        parts = ordered_parts()
        content = {name: write_part(parts[name], result, self) for name, result in self.parts.items() if name in parts}
        audit_fields: dict[str, Any] = {
            "verdicts": self.verdicts,
            "intervals": {
                "observed": {"method": METHOD},
                **{name: {"level": 0.95, "method": "clopper-pearson"} for name in ("error_rates", "false_alarms")},
            },
            "false_alarms": self.false_alarms,
            "subjects": self.subjects,
            "models": self.models,
            "coverage": _coverage(content.get("lexicons", [])),
            "settings": self.settings,
            "warnings": self.warnings,
            "version": __version__,
            "date": self.date,
        }
        return {**content, **{name: to_plain(value) for name, value in audit_fields.items()}}

    @classmethod
    def from_dict(cls, content: JsonMapping) -> Self:
        """The audit of which `to_dict` made `content`.

        Raises:
            InputError: it is something else; names the key.
        """
        parts = ordered_parts()
        try:
            return cls(
                models=tuple(map(ModelSummary.from_dict, content["models"])),
                subjects=tuple(map(SubjectSummary.from_dict, content["subjects"])),
                verdicts=tuple(map(Verdict.from_dict, content["verdicts"])),
                settings=content["settings"],
                parts={name: read_part(part, content[name]) for name, part in parts.items() if name in content},
                date=content["date"],
            )
        except (LookupError, TypeError, AttributeError, ValueError) as problem:
            raise InputError(f"This is not the JSON of an audit ({type(problem).__name__}: {problem}).") from problem


def _coverage(lexicons: list[JsonObject]) -> JsonObject:
    """Words of all lexicons together: how many were looked up and found, and which were not, by set."""
    lost: dict[str, dict[str, None]] = {}
    for lexicon in lexicons:
        for name, words in lexicon["coverage"]["lost"].items():
            lost.setdefault(f"{lexicon['lexicon']}.{name}", {}).update(dict.fromkeys(words))
    counts = {key: sum(lexicon["coverage"][key] for lexicon in lexicons) for key in ("asked", "found")}
    return {**counts, "lost": {name: list(words) for name, words in lost.items()}}
