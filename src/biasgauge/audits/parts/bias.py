"""Association tests of each model: WEAT of every test, MAC of every lexicon of stereotypes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from biasgauge.audits.page.bias_figures import bias_charts
from biasgauge.audits.part import Part, Rows
from biasgauge.core import Estimate, JsonObject, to_plain
from biasgauge.results import Column, Shown, Stored, Summary, Table, counted, lexicon_name
from biasgauge.scores import Association, mac, weat_of_resolved
from biasgauge.stats import Resampling

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext
    from biasgauge.audits.result import AuditResult

SAMPLES = 10_000
"""Random splits for p where there are too many to look at all."""
BIAS = (
    "The contrast, in cosine units: how much closer the first target set is to the first attribute set than to the "
    "second, less the same for the second target set. Its interval speaks of other targets and other attributes of the "
    "same kind. p over targets is WEAT's permutation test, two-sided; p over attributes exchanges the attributes "
    "instead. A finding needs both. d is the effect size of Caliskan et al. 2017; its interval does not hold its level "
    "and is not shown."
)
BIAS_TABLE = "Association tests of each model by itself: contrast with its 95 % interval, both p, effect size d; MAC"


def measure(context: AuditContext) -> Rows:
    """WEAT, two-sided, of each test in each model, from the similarities that the verdicts rest on; MAC of stereotypes.

    The effect size of WEAT has no interval here: that of its contrast holds its level, that of d does not.
    """
    outcomes = {(outcome.query.name, outcome.subject): outcome for outcome in context.outcomes}
    return Rows(tuple(_associations(context, outcomes)))


def _associations(context: AuditContext, outcomes: Any) -> Iterator[Association]:  # noqa: ANN401 - by query and subject
    settings: JsonObject = {"alternative": "two-sided", "random_state": context.random_state, "samples": SAMPLES}
    for lexicon in context.lexicons:
        for subject in context.subjects:
            for number, model in enumerate(subject.models[:1] if subject.viewed else subject.models):
                if lexicon.kind == "test":
                    yield weat_of_resolved(outcomes[lexicon.name, subject].resolved, model=number, **settings)
                elif lexicon.kind == "stereotypes":
                    interval = Resampling(random_state=context.random_state)
                    yield mac(model, lexicon, policy=context.policy, interval=interval)  # type: ignore[arg-type]


def summarize(result: Rows, audit: AuditResult) -> Summary | None:
    """Association tests with intervals and p."""
    if not result.rows:
        return None
    rows_of = [to_plain(row) for row in result.rows]
    model_column = ["model"] if len({content["model"] for content in rows_of}) > 1 else []
    columns: list[Column | str] = [
        "concept", Column("test", "name"), *model_column, Column("value", "estimate", 3), Column("p over targets", "p"),
        Column("p over attributes", "p"), Column("d", "number"), "sets",
    ]  # fmt: skip
    rows = []
    for content in rows_of:
        sets, weat = content["sets"], content["test"] == "weat"
        number = (content.get("contrast") or {}) if weat else {**(content["interval"] or {}), "value": content["value"]}
        value = Estimate(
            value=number.get("value"), low=number.get("low"), high=number.get("high"), reason=content["reason"]
        )
        set_names = (
            f"{sets['x']} / {sets['y']} and {sets['a']} / {sets['b']}" if "y" in sets else "protected, attributes"
        )
        start = (concept_cell(content["name"]), content["test"], *([content["model"]] if model_column else []))
        p_values = [content.get(name) for name in ("p_value", "p_attributes")]
        rows.append((*start, value, *p_values, content.get("effect_size"), set_names))
    tests = {(content["name"], content["test"]): True for content in rows_of}
    for content in rows_of:  # a test counts once, whatever the number of models
        tests[content["name"], content["test"]] &= content["reason"] is None
    return Summary(
        title=PART.title,
        headline=f"{sum(tests.values())} of {counted(tests, 'association test is', 'association tests are')} defined.",
        name="bias",
        about=BIAS,
        charts=bias_charts(audit),
        tables=(Table.of("bias", BIAS_TABLE, columns, rows),),
    )


def concept_cell(name: str) -> Shown:
    """Cell of a table with the display name of a lexicon; files have the name that is typed."""
    return Shown(name, lexicon_name(name))


STATISTICS = {"weat": "effect size d"}
SETS = ("x", "y", "a", "b")


def effect_rows(result: AuditResult) -> Iterator[JsonObject]:
    """Contrast and effect size of every test, MAC of every list of stereotypes: in each model, and over replicates."""
    for row in result.bias or ():
        content = to_plain(row)
        start = {"lexicon": content["name"], "model": content["model"], "over": "words"}
        sets = {role: content["sets"].get(role) for role in SETS}
        if content["test"] != "weat":
            number = {**(content["interval"] or {}), "value": content["value"]}
            yield {**start, "statistic": content["test"], **_ends(number), "reason": content["reason"], **sets}
            continue
        contrast = content.get("contrast") or {}
        p = {"p_targets": content.get("p_value"), "p_attributes": content.get("p_attributes")}
        yield {**start, "statistic": "contrast", **_ends(contrast), **p, "reason": content["reason"], **sets}
        size = {"value": content.get("effect_size")}
        yield {**start, "statistic": "effect size d", **_ends(size), "reason": content["reason"], **sets}
    for spread in result.replicates.bias if result.replicates else ():
        number = {"value": spread.mean, "low": spread.low, "high": spread.high}
        start = {"lexicon": spread.name, "model": f"{spread.models} replicates", "over": "replicates"}
        yield {
            **start,
            "statistic": f"mean {STATISTICS.get(spread.test, spread.test)}",
            **_ends(number),
            "sd": spread.sd,
            "reason": spread.reason,
        }


def _ends(number: JsonObject) -> JsonObject:
    return {name: number.get(name) for name in ("value", "low", "high", "level", "method")}


PART = Part(
    "bias",
    "Association tests by model",
    measure,
    summarize,
    order=110,
    stage="testing",
    read=Rows.reader(Stored.from_dict),
)
