"""The shape of `biasgauge audit --json` is a contract: keys may be added, none may go or change its kind."""

from __future__ import annotations

import json

import jsonschema
import pytest

import biasgauge as bg

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
        "replicates", "nulls", "settings", "warnings", "version",
    ],
    "properties": {
        "verdicts": rows(
            question=TEXT,
            title=TEXT,
            model=TEXT,
            decision={"enum": ["rely", "care", "do not report", "nothing found", "undecided", "undefined"]},
            sentence=TEXT,
            evidence=rows(name=TEXT, value=TEXT, rule=TEXT, passed={"type": ["boolean", "null"]}, link=TEXT),
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
            model=TEXT,
            lexicon=TEXT,
            groups=rows(connection=TEXT, mean=NUMBER, low=NUMBER, high=NUMBER, sd=NUMBER),
            contrasts=rows(a=TEXT, b=TEXT, mean=NUMBER, low=NUMBER, high=NUMBER, p_direction=NUMBER),
        ),
        "nulls": rows(name=TEXT, model=TEXT, observed={"type": "number"}, share={"type": "number"}),
        "coverage": COVERAGE,
        "warnings": {"type": "array", "items": TEXT},
        "version": TEXT,
    },
}  # fmt: skip


@pytest.mark.parametrize("lexicons", [["weat7", "religion", "du2021"], ["weat3"], ["occ16"]])
def test_the_json_of_an_audit_has_its_shape(lexicons: list[str]) -> None:
    content = json.loads(json.dumps(bg.audit(lexicons=lexicons).to_dict(), allow_nan=False))
    jsonschema.validate(content, SCHEMA)


def test_the_schema_can_fail() -> None:
    content = bg.audit(lexicons=["weat3"]).to_dict()
    del content["verdicts"][0]["decision"]
    with pytest.raises(jsonschema.ValidationError, match="'decision' is a required property"):
        jsonschema.validate(json.loads(json.dumps(content)), SCHEMA)
