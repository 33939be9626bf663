"""The shape of `biasgauge audit --json` is a contract: keys may be added, none may go or change its kind."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import jsonschema
import numpy as np
import pandas as pd
import pytest

import biasgauge as bg
from biasgauge.applications import TaskGap, TaskResult
from biasgauge.core.estimate import Estimate

if TYPE_CHECKING:
    from collections.abc import Callable

NUMBER = {"type": ["number", "null"]}
TEXT = {"type": "string"}
INTERVAL = {"type": ["object", "null"], "required": ["low", "high", "level", "method"]}
COVERAGE = {
    "type": "object",
    "required": ["asked", "found", "lost"],
    "properties": {
        "asked": {"type": "integer"},
        "found": {"type": "integer"},
        "lost": {"type": "object", "additionalProperties": {"type": "array", "items": TEXT}},
    },
}


def rows(**properties: object) -> dict[str, object]:
    """A list of objects that have all of these."""
    return {"type": "array", "items": {"type": "object", "required": list(properties), "properties": properties}}


ESTIMATES = rows(of=TEXT, name={"type": ["string", "null"]}, value=NUMBER, low=NUMBER, high=NUMBER)
KAPPAS = rows(measure=TEXT, pair=TEXT, kappa=NUMBER, n={"type": "integer"})
SCHEMA = {
    "type": "object",
    "required": [
        "verdicts", "bias", "reliability", "robustness", "seeds", "uncertainty", "coverage", "lexicons", "models",
        "replicates", "subjects", "error_rates", "false_alarms", "chance", "extrinsic", "settings", "warnings",
        "version", "breakdowns", "date",
    ],
    "properties": {
        "verdicts": rows(
            question=TEXT,
            id=TEXT,
            title=TEXT,
            model=TEXT,
            test=TEXT,
            decision={
                "enum": [
                    "report", "report-with-care", "do-not-report", "no-association-shown", "inconclusive",
                    "not-measurable",
                ]
            },
            sentence=TEXT,
            claim=TEXT,
            why=TEXT,
            evidence=rows(
                rule=TEXT,
                observed={"type": ["number", "object", "null"], "additionalProperties": NUMBER},
                threshold=NUMBER,
                passes={"type": ["boolean", "null"]},
                reason=TEXT,
                link=TEXT,
            ),
            family=TEXT,
            opinions=rows(model=TEXT, contrast=NUMBER, low=NUMBER, high=NUMBER, p=NUMBER),
            plan={"type": ["object", "null"], "additionalProperties": NUMBER},
        ),
        "bias": rows(test=TEXT, name=TEXT, model=TEXT, interval=INTERVAL, coverage=COVERAGE),
        "reliability": {
            "type": "object",
            "required": ["test_retest", "inter_rater", "internal", "components", "design"],
            "properties": {"test_retest": ESTIMATES, "inter_rater": ESTIMATES, "internal": ESTIMATES},
        },
        "robustness": {
            "type": "object",
            "required": ["base_pairs", "word_forms", "correspondence", "between_measures", "flips", "headlines"],
            "properties": {
                "base_pairs": rows(measure=TEXT, kappa=NUMBER, unanimous=NUMBER, changed_by_one_sd=NUMBER),
                "word_forms": KAPPAS,
                "correspondence": KAPPAS,
                "between_measures": KAPPAS,
                "flips": rows(concept=TEXT, choice=TEXT, to=TEXT, share=NUMBER, words={"type": "array"}),
            },
        },
        "seeds": {
            "type": "object",
            "required": ["pairs"],
            "properties": {
                "pairs": rows(
                    a=TEXT,
                    b=TEXT,
                    coherence=NUMBER,
                    coherence_published=NUMBER,
                    similarity=NUMBER,
                    explained_variance={"type": "array"},
                    explained_variance_shuffled={"type": "array"},
                    coverage=COVERAGE,
                )
            },
        },
        "uncertainty": rows(
            question=TEXT,
            model=TEXT,
            median=NUMBER,
            low=NUMBER,
            high=NUMBER,
            level={"type": "number"},
            smallest={"type": "number"},
            p_above=NUMBER,
            p_equivalent=NUMBER,
            p_below=NUMBER,
            reason={"type": ["string", "null"]},
        ),
        "subjects": rows(
            name=TEXT, models={"type": "array", "items": TEXT}, role={"enum": ["audited", "second opinion"]}
        ),
        "error_rates": rows(
            subject=TEXT,
            null={"enum": ["relabeled", "matched", "frequency", "sizes", "near"]},
            together={"enum": ["all", "primary", "others"]},
            questions=rows(question=TEXT, found={"type": "integer"}, fails={"type": "boolean"}, why=TEXT, advice=TEXT),
            about=TEXT,
            audits={"type": "integer"},
            found={"type": "integer"},
            rate={"type": "number"},
            low={"type": "number"},
            high={"type": "number"},
            alpha={"type": "number"},
        ),
        "false_alarms": {
            "type": ["object", "null"],
            "required": ["rate", "low", "high", "kind", "kinds", "found", "audits", "alpha", "above"],
        },
        "date": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d$"},
        "breakdowns": rows(
            question=TEXT,
            model=TEXT,
            asked=TEXT,
            statement=TEXT,
            pairs=rows(name=TEXT, value=NUMBER),
            measures=rows(name=TEXT, value=NUMBER),
            replicates=rows(name=TEXT, value=NUMBER),
            words=rows(word=TEXT, set=TEXT, role={"enum": ["target", "attribute"]}, share=NUMBER, without=NUMBER),
        ),
        "chance": rows(
            question=TEXT,
            model=TEXT,
            contrast={"type": "number"},
            band={"type": "number"},
            edges={"type": "array"},
            counts={"type": "array"},
        ),
        "extrinsic": {
            "type": "object",
            "required": ["groups", "tasks"],
            "properties": {
                "groups": rows(
                    by={"type": "object"},
                    r=NUMBER,
                    low=NUMBER,
                    high=NUMBER,
                    n={"type": "integer"},
                    p=NUMBER,
                    power=NUMBER,
                    reliability={"type": ["object", "null"]},
                ),
                "tasks": rows(
                    task=TEXT,
                    vectors=TEXT,
                    metrics=rows(metric=TEXT, value=NUMBER, interval=INTERVAL),
                    gaps=rows(metric=TEXT, a=TEXT, b=TEXT, value=NUMBER, interval=INTERVAL, sd_interval=INTERVAL),
                    readings={"type": "array", "items": TEXT},
                ),
                "reason": TEXT,
            },
        },
        "coverage": COVERAGE,
        "warnings": {"type": "array", "items": TEXT},
        "version": TEXT,
    },
}  # fmt: skip


@pytest.mark.parametrize("lexicons", [["weat7", "religion", "du2021"], ["weat3"], ["occ16"], []])
def test_the_json_of_an_audit_has_its_shape(
    lexicons: list[str], shipped_audit: Callable[..., bg.audits.AuditResult]
) -> None:
    content = json.loads(json.dumps(shipped_audit(*lexicons).to_dict(), allow_nan=False))
    jsonschema.validate(content, SCHEMA)
    assert content["extrinsic"]["reason"].startswith("no points were given")


def test_points_and_tasks_have_their_shape() -> None:
    points = pd.DataFrame({"weat": [1.0, 2.0, 3.0, 4.0] * 2, "gap": [2.0, 1.0, 4.0, 3.5, 2.2, 1.1, 4.1, 3.4]})
    points = points.assign(name=list("abcd") * 2, seed=[0] * 4 + [1] * 4)
    sd = Estimate(value=0.02, low=0.0, high=0.2, method="percentile", resamples=100)
    gap = TaskGap(
        metric="recall", positive_class="toxic", a="men", b="women", value=0.1, low=0.0, high=0.2, method="percentile",
        resamples=100, sd=sd, values=(0.1,), n_a=5, n_b=6,
    )  # fmt: skip
    task = TaskResult("csv", "", "v", (), (gap,), (), {}, {}, {"level": 0.95}, ())
    vectors = bg.Embedding(("he", "she"), np.ones((2, 2)), name="toy")
    content = json.loads(json.dumps(bg.audit(vectors, lexicons=["weat3"], points=points, tasks=[task]).to_dict()))
    jsonschema.validate(content["extrinsic"], SCHEMA["properties"]["extrinsic"])  # type: ignore[index]
    assert content["extrinsic"]["groups"][0]["reliability"]["mean"]["value"] > 0.9
    assert content["verdicts"][-1]["question"] == "extrinsic"
    del content["extrinsic"]["tasks"][0]["gaps"][0]["interval"]
    with pytest.raises(jsonschema.ValidationError, match="'interval'"):
        jsonschema.validate(content["extrinsic"], SCHEMA["properties"]["extrinsic"])  # type: ignore[index]


def test_the_schema_can_fail(shipped_audit: Callable[..., bg.audits.AuditResult]) -> None:
    content = shipped_audit("weat3").to_dict()
    del content["verdicts"][0]["decision"]
    with pytest.raises(jsonschema.ValidationError, match="'decision'"):
        jsonschema.validate(json.loads(json.dumps(content)), SCHEMA)
