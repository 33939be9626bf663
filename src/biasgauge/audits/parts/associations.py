"""Association tests of each model (WEAT of every test, MAC of every lexicon of stereotypes), and over replicates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from biasgauge.audits.part import PartRows, ShippedPart
from biasgauge.audits.verdicts import DECISIONS
from biasgauge.core import TEST_ROLES, Estimate, JsonMapping, JsonObject, Record, to_plain
from biasgauge.results import (
    Chart,
    Column,
    RecordTable,
    Result,
    Shown,
    Summary,
    chart_of_rows,
    counted,
)
from biasgauge.scores import Association, Weat, weat_of_resolved

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext
    from biasgauge.audits.result import AuditResult

SAMPLES = 10_000
"""Random splits for p where there are too many to look at all."""
LEVEL = 0.95
NO_BIAS = {"weat": 0.0, "mac": 1.0}
AXES = {"weat": "contrast, in cosine units", "mac": "mean cosine distance"}
TITLES = {
    "weat": "Bias by concept: contrasts of association tests",
    "mac": "Stereotypes: mean cosine distance of protected words from attributes",
}
REMARKS = {
    "weat": (
        "Point and line: contrast, at equal word frequency where that is known, and 95 % interval over targets and "
        "attributes; gray line at 0: no difference"
    ),
    "mac": "Point and line: value and 95 % interval over words; gray line at 1: no association, less is closer",
}
_ROW, _MODEL_ROW = 22, 7


def estimate_of(content: JsonMapping) -> Estimate:
    """Return the number that a test of the JSON is shown by: the contrast of WEAT, the value of another test."""
    number = content.get("contrast") or {}
    if content["test"] != "weat":
        number = {**(content["interval"] or {}), "value": content["value"]}
    value, low, high = (number.get(name) for name in ("value", "low", "high"))
    return Estimate(value=value, low=low, high=high, reason=content["reason"])


def at_equal_frequency(content: JsonMapping) -> Estimate | None:
    """Return the contrast at equal word frequency of a test of the JSON; None where it has none."""
    number = (content.get("contrast") or {}).get("adjusted")
    if number is None:
        return None
    return Estimate(**{name: number.get(name) for name in ("value", "low", "high", "reason")})


@dataclass(frozen=True, eq=False, repr=False)
class Associations(PartRows):
    """Association tests of each model by itself."""

    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "contents",
            "Association tests of each model by itself: contrast with its 95 % interval, WEAT's p, effect size d; MAC",
            (
                Column("concept", "lexicon", source="name"),
                Column("test", "name"),
                "model",
                Column("value", "estimate", 3, source=estimate_of),
                Column("at equal frequency", "estimate", 3, source=at_equal_frequency),
                Column("WEAT's p", "p", source="p_value"),
                Column("d", "number", source="effect_size"),
                Column("sets", source=lambda content: _set_names(content["sets"])),
            ),
            drop_constant=("model",),
            drop_empty=True,
            name="bias",
        ),
    )

    @property
    def contents(self) -> list[JsonObject]:
        """JSON of each test, whether it was measured or read back."""
        return self.to_list()

    def _headline(self) -> str:
        tests: dict[tuple[str, str], bool] = {}
        for content in self.contents:  # a test counts once, whatever the number of models
            key = content["name"], content["test"]
            tests[key] = tests.get(key, True) and content["reason"] is None
        return f"{sum(tests.values())} of {counted(tests, 'association test is', 'association tests are')} defined."


def _set_names(sets: JsonMapping) -> str:
    if "y" not in sets:
        return "protected, attributes"
    return f"{sets['x']} / {sets['y']} and {sets['a']} / {sets['b']}"


def measure(context: AuditContext) -> Associations:
    """WEAT, two-sided, of each test in each model, from the similarities that the verdicts rest on; MAC of stereotypes.

    The effect size of WEAT has no interval here: that of its contrast holds its level, that of d does not.
    """
    return Associations(tuple(_associations(context)))


def _associations(context: AuditContext) -> Iterator[Association]:
    measured = (*context.outcomes, *context.published_outcomes)
    outcomes = {(outcome.query.name, outcome.subject): outcome for outcome in measured}
    settings: JsonObject = {"alternative": "two-sided", "random_state": context.random_state, "samples": SAMPLES}
    for lexicon in context.lexicons:
        for subject in context.subjects:
            for number, model in enumerate(subject.models[:1] if subject.viewed else subject.models):
                if lexicon.kind == "test":
                    yield weat_of_resolved(outcomes[lexicon.name, subject].resolved, model=number, **settings)
                elif lexicon.kind == "stereotypes":
                    from biasgauge.scores import mac
                    from biasgauge.stats import Resampling

                    interval = Resampling(random_state=context.random_state)
                    yield mac(model, lexicon, policy=context.policy, interval=interval)  # type: ignore[arg-type]


def summarize(result: Associations, audit: AuditResult) -> Summary | None:
    """Association tests with intervals and p."""
    if not result.rows:
        return None
    about = (
        "Contrasts in cosine units; their intervals generalize over targets and attributes of the same kind. WEAT's p "
        "is the published two-sided permutation of the targets, for the unadjusted contrast in one model; it is not "
        "the p of a verdict. d is the effect size of Caliskan et al. 2017, without an interval, which would undercover."
    )
    summary = replace(result.summary(), about=about)
    return replace(summary, charts=tuple(bias_charts(audit)))


def bias_charts(audit: AuditResult) -> Iterator[Chart]:
    """Every defined test of each kind with its interval, in every model, the largest first."""
    decisions = {
        (verdict.question, model): verdict.decision
        for verdict in audit.verdicts
        for subject in audit.subjects
        if subject.name == verdict.model
        for model in subject.models
    }
    for test, title in TITLES.items():
        rows = [_chart_row(content, decisions) for content in map(to_plain, audit.bias) if content["test"] == test]
        rows = [row for row in rows if row["value"] is not None]
        if not rows:
            continue
        models = len({row["model"] for row in rows})
        decided = any(row["decision"] for row in rows)
        remark = REMARKS[test]
        remark += ". Shape and color say whether the finding may be reported" if decided else ""
        remark += ". One line per model, in the order of the table" if models > 1 else ""
        values: dict[str, list[float]] = {}
        for row in rows:
            values.setdefault(row["concept"], []).append(row["value"])
        yield chart_of_rows(
            test, title, remark, AXES[test], rows, row="concept", lines=(NO_BIAS[test],), width=480,
            order=sorted(values, key=lambda concept: -sum(values[concept]) / len(values[concept])),
            offset="model" if models > 1 else "", step=len(values) * max(_ROW, _MODEL_ROW * models + 8),
            color="decision" if decided else "", meanings={name: style.marker for name, style in DECISIONS.items()},
        )  # fmt: skip


def _chart_row(content: JsonObject, decisions: dict[tuple[str, str], Any]) -> JsonObject:
    estimate, equal, sets = estimate_of(content), at_equal_frequency(content), content["sets"]
    if equal is not None and equal.defined:
        estimate = equal
    return {
        "concept": f"{content['name']}: {sets['x']} / {sets['y']}" if content["test"] == "weat" else content["name"],
        "model": content["model"],
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "WEAT p": content.get("p_value"),
        "decision": decisions.get((content["name"], content["model"])),
    }


def effect_rows(result: AuditResult) -> Iterator[JsonObject]:
    """Contrast of every question, effect size of every test and MAC of stereotypes, in each model and over replicates.

    The contrast of a question in the audited vectors has the p of its verdict; effect sizes have WEAT's p.
    """
    contrasts = {(row["lexicon"], row["model"]): row for row in _contrast_rows(result)}
    for content in map(to_plain, result.bias or ()):
        labels = {"lexicon": content["name"], "model": content["model"], "over": "words"}
        sets = {role: content["sets"].get(role) for role in TEST_ROLES}
        further = {"reason": content["reason"], **sets}
        if content["test"] != "weat":
            number = {**(content["interval"] or {}), "value": content["value"]}
            yield {**labels, "statistic": content["test"], **_ends(number), **further}
            continue
        contrast = contrasts.pop((content["name"], content["model"]), None)
        if contrast is None:  # one of several replicates, or a test that is undefined
            number = content.get("contrast") or {}
            contrast = {**labels, "statistic": "contrast", **_ends(number), **_adjusted(number.get("adjusted"))}
        yield {**contrast, **further}
        size = _ends({"value": content.get("effect_size")})
        yield {**labels, "statistic": "effect size d", **size, "weat_p": content.get("p_value"), **further}
    yield from contrasts.values()
    for spread in result.replicates.bias if result.replicates else ():
        number = {"value": spread.mean, "low": spread.low, "high": spread.high}
        labels = {"lexicon": spread.name, "model": f"{spread.models} replicates", "over": "replicates"}
        statistic = f"mean {'effect size d' if spread.test == 'weat' else spread.test}"
        yield {**labels, "statistic": statistic, **_ends(number), "sd": spread.sd, "reason": spread.reason}


def _contrast_rows(result: AuditResult) -> Iterator[JsonObject]:
    """Contrast of each question that was measured on each subject, with the p of its verdict."""
    verdicts = {(verdict.question, verdict.model): verdict for verdict in result.verdicts}
    for row in map(to_plain, result.word_frequency.questions if result.word_frequency else ()):
        verdict = verdicts.get((row["question"], row["model"]))
        if verdict is None:
            continue
        numbers = verdict.observed("association")
        p_values = {name: numbers.get(name) for name in ("p_targets", "p_attributes", "p", "p_adjusted")}
        labels = {"lexicon": row["question"], "model": row["model"], "over": "words", "statistic": "contrast"}
        yield {**labels, **_ends(row["contrast"]), **_adjusted(row["adjusted"]), **p_values, "reason": None}


def _adjusted(number: JsonMapping | None) -> JsonObject:
    """Columns of the contrast at equal word frequency."""
    names = {"adjusted": "value", "adjusted_low": "low", "adjusted_high": "high"}
    return {name: (number or {}).get(key) for name, key in names.items()}


def _ends(number: JsonObject) -> JsonObject:
    return {name: number.get(name) for name in ("value", "low", "high", "level", "method")}


@dataclass(frozen=True)
class ReplicateSpread(Record):
    """One test over models that differ by seed or sample.

    Attributes:
        name, test: which test.
        models: on how many models it is defined.
        mean: mean of its values over models; None when fewer than two models have one.
        sd: their standard deviation (n - 1): what another seed does to the number.
        low, high: Student's t interval of the mean over models, 95 %.
        least, most: the smallest and the largest value.
        agree: how many models lie on the same side of "no bias" as the mean does.
        reason: why there is no mean.
    """

    name: str
    test: str
    models: int
    mean: float | None = None
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    least: float | None = None
    most: float | None = None
    agree: int | None = None
    reason: str | None = None

    @classmethod
    def from_rows(cls, name: str, test: str, rows: Sequence[Association]) -> ReplicateSpread:
        """Gather one test's values over models."""
        values = np.array([row.value for row in rows if row.value is not None])
        if len(values) < 2:
            why = next((row.reason for row in rows if row.reason), None)
            return cls(name, test, len(values), reason=why or "fewer than two models have a value")
        from biasgauge.stats import mean_estimate

        interval = mean_estimate(values, level=LEVEL)
        mean, sd = float(values.mean()), float(values.std(ddof=1))
        agree = int((np.sign(values - NO_BIAS[test]) == np.sign(mean - NO_BIAS[test])).sum())
        least, most = float(values.min()), float(values.max())
        return cls(name, test, len(values), mean, sd, interval.low, interval.high, least, most, agree)

    @property
    def estimate(self) -> Estimate:
        """The mean with its interval."""
        return Estimate(value=self.mean, low=self.low, high=self.high, reason=self.reason)

    @property
    def same_side(self) -> Shown | None:
        """Share of models on the side of the mean."""
        return None if self.agree is None else Shown(self.agree / self.models, f"{self.agree} of {self.models}")

    def to_dict(self) -> JsonObject:
        """Return a JSON-ready object."""
        interval = {"low": self.low, "high": self.high, "level": LEVEL, "method": "t over models"}
        numbers = {name: getattr(self, name) for name in ("models", "mean", "sd", "least", "most", "agree")}
        why = {"reason": self.reason} if self.reason else {}
        return {"name": self.name, "test": self.test, **numbers, "interval": interval, **why}

    @classmethod
    def from_dict(cls, content: JsonMapping) -> Self:
        """Rebuild the record of which `to_dict` made `content`."""
        return super().from_dict({**content, **{end: content["interval"][end] for end in ("low", "high")}})


def spread_of(rows: Iterable[Association]) -> tuple[ReplicateSpread, ...]:
    """Gather the tests of several models, in the order in which they first occur."""
    tests: dict[tuple[str, str], list[Association]] = {}
    for row in rows:
        tests.setdefault((row.name, row.test), []).append(row)
    return tuple(ReplicateSpread.from_rows(name, test, values) for (name, test), values in tests.items())


@dataclass(frozen=True, eq=False, repr=False)
class ReplicateSpreads(Result):
    """Each test over the replicates.

    Attributes:
        models: names of the models that have replicates.
        bias: one row for each test; none where there are no replicates.
    """

    tables: ClassVar[tuple[str, ...]] = ("bias",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "bias",
            "Mean over models with its 95 % interval, range and standard deviation over models, and how many have the "
            "sign of the mean",
            (
                Column("concept", "lexicon", source="name"),
                Column("test", "name"),
                Column("mean", "estimate", source="estimate"),
                Column("least", "number"),
                Column("most", "number"),
                Column("standard deviation", "number", 3, source="sd"),
                Column("same side", "share"),
                Column("models", "count"),
            ),
            folded=True,
            name="replicates",
        ),
    )

    models: tuple[str, ...]
    bias: tuple[ReplicateSpread, ...]

    def _headline(self) -> str:
        defined = [row for row in self.bias if row.agree is not None]
        same = sum(row.agree == row.models for row in defined)
        return f"{same} of {counted(defined, 'test has', 'tests have')} the same sign in all models."


def measure_replicates(context: AuditContext) -> ReplicateSpreads:
    """Gather the tests of models that differ by random seed or sample; views of a transformer do not count."""
    repeated = [subject for subject in context.subjects if subject.replicated and not subject.viewed]
    trained = {model.name for subject in repeated for model in subject.models}
    rows = [row for row in context.result_of("bias").rows if row.model in trained]
    return ReplicateSpreads(tuple(model.name for model in context.replicates), spread_of(rows))


def summarize_replicates(result: ReplicateSpreads) -> Summary | None:
    """The same tests over replicates."""
    about = (
        f"The same tests on {len(result.models)} models that differ by random seed or sample. A finding whose sign "
        "changes with the random seed is not a finding."
    )
    summary = replace(result.summary(), about=about)
    return summary if result.bias else None


def read_association(content: JsonMapping) -> Association:
    """Read a test back from the JSON of an audit, as a stored result with its keys checked."""
    return (Weat if "effect_size" in content else Association).from_dict(content)


PART = (
    ShippedPart(
        "bias", "Association tests by model", measure, summarize, order=110, stage="testing",
        read=Associations.reader(read_association),
    ),
    ShippedPart(
        "replicates", "Association tests over replicates", measure_replicates, summarize_replicates, order=120,
        stage="testing", read=ReplicateSpreads.from_dict,
    ),
)  # fmt: skip
