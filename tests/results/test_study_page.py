"""The page of a study: whole, self-contained, unmoved by hostile words; numbers stand with their intervals."""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from html import unescape
from typing import Any

import pytest

import biasgauge as bg
from biasgauge.core.estimate import Estimate
from biasgauge.results.page.rendering import summary_page
from biasgauge.study.findings import table_of, tidy
from biasgauge.study.page import study_summary

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>{{ 7 * 7 }}\u202e"


def summary(**more: Any) -> dict[str, Any]:  # noqa: ANN401 - what a summary holds
    vectors = bg.vectors.load_default()
    small = bg.vectors.load_default(4000)
    results = [
        {"name": f"science/{of}", "part": "analyses", "kind": "weat", "of": of, "key": key, "result": one.to_dict()}
        for of, key, one in (
            ("glove", "ab" * 32, bg.weat(vectors, "weat7")),
            ("family", "cd" * 32, bg.weat(vectors, "weat6b")),
            ("small", "ef" * 32, bg.weat(small, "weat7")),
        )
    ]
    about = {"name": "own", "title": "A study", "seed": 3, "vectors": {"glove": {"default": "glove"}}}
    return {**about, "results": results, **more}


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    return summary()


def study_page(content: dict[str, Any]) -> str:
    return summary_page(study_summary(content))


def number(value: float | None, low: float | None = None, high: float | None = None, **more: Any) -> Estimate:  # noqa: ANN401
    return Estimate(value=value, low=low, high=high, **{"level": 0.0, **more})


def texts(page: str) -> str:
    """What a reader sees, on one line."""
    visible = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", visible)).split())


def test_numbers_stand_with_interval_reason_and_lost_words(whole: dict[str, Any]) -> None:
    found = whole["results"][0]["result"]
    page = texts(study_page(whole))
    ends = found["interval"]
    assert f"{found['effect_size']:.3f} [{ends['low']:.3f}, {ends['high']:.3f}]" in page.replace("\u00a0", " ")
    assert "95 % bca" in page
    reason = whole["results"][2]["result"]["reason"]
    assert f"undefined {reason}" in page
    lost = whole["results"][2]["result"]["coverage"]["lost"]["x"]
    assert f"not in the vocabulary: {', '.join(lost[:2])}" in page


def test_the_page_says_how_to_repeat_it(whole: dict[str, Any]) -> None:
    page = texts(study_page({**whole, "toml": '[study]\nname = "own"\n'}))
    assert "biasgauge study run own.toml" in page
    assert '[study] name = "own"' in page
    assert "ab" * 32 in page
    assert f"biasgauge {bg.__version__}, seed 3" in page


def test_failures_are_told_and_what_hangs_on_them(whole: dict[str, Any]) -> None:
    failure = {"label": "train sgns/wiki/seed0", "step": "train", "error": "wiki.txt: is empty"}
    page = texts(study_page({**whole, "failures": [failure], "missing": ["trust/sgns/wiki"]}))
    assert "1 cell failed" in page
    assert "train sgns/wiki/seed0 train wiki.txt: is empty" in page
    assert "Not computed: trust/sgns/wiki" in page
    assert "What is missing" not in texts(study_page(whole))


def test_only_its_own_scripts_may_run_and_nothing_is_loaded(whole: dict[str, Any]) -> None:
    page = study_page(whole)
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == 3  # the figures', the drawings' and the page's own
    (held,) = re.findall(r'<script type="text/plain" id="plots-code">([^<]*)</script>', page)
    scripts.append(zlib.decompress(base64.b64decode(held)).decode())
    hashes = [base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in scripts]
    policy = unescape(re.findall(r'Content-Security-Policy" content="([^"]+)"', page)[0])
    assert policy.startswith("default-src 'none'")
    assert all(f"'sha256-{one}'" in policy for one in hashes)
    assert not re.search(r"<(link|img|iframe|object|embed)\b", page)
    assert not re.search(r"<[^>]+\b(src|href)=\"(?!#)", page)


def test_hostile_words_stay_words(whole: dict[str, Any]) -> None:
    row = {"word": HOSTILE, "value": 0.5, "low": 0.25, "high": 0.75, "reason": None}
    result = {"groups": [row, {**row, "word": "other"}], "sentences": [HOSTILE], "coverage": None}
    results = [
        {"name": HOSTILE, "part": "analyses", "kind": HOSTILE, "of": HOSTILE, "key": HOSTILE, "result": result},
    ]
    about = {"name": HOSTILE, "title": HOSTILE, "about": HOSTILE, "toml": HOSTILE, "missing": [HOSTILE]}
    failures = [{"label": HOSTILE, "step": HOSTILE, "error": HOSTILE}]
    corpora = {HOSTILE: {HOSTILE: HOSTILE}}
    page = study_page({**whole, **about, "failures": failures, "corpora": corpora, "results": results})
    plain = study_page({**whole, "failures": [], "results": []})
    assert "<img" not in page
    assert "alert(1)</script>" not in page
    bundle_figures_drawings_data = 4
    assert len(re.findall(r"<script\b", page)) == len(re.findall(r"<script\b", plain)) + bundle_figures_drawings_data
    assert "{{ 7 * 7 }}" in unescape(page)


def test_an_empty_study_is_a_page_too() -> None:
    page = texts(study_page({"name": "nothing", "results": []}))
    assert "What was studied" in page
    assert "How to repeat" in page


def test_results_of_one_analysis_stand_side_by_side_and_are_drawn(whole: dict[str, Any]) -> None:
    page = study_page(whole)
    assert len(re.findall(r"<figure\b", page)) == 1
    rows = re.findall(r'<th scope="row"[^>]*>(\w+)', page)
    assert rows.count("glove") == 3  # among the vectors, in the figure's numbers, in the table
    assert rows.count("family") == 2
    assert rows.count("small") == 1  # undefined: no dot


def test_replicates_stand_one_by_one_and_their_spread_first(whole: dict[str, Any]) -> None:
    found = whole["results"][0]["result"]
    spread = {"name": "weat7", "test": "weat", "models": 2, "mean": 1.25, "interval": {"low": 1.0, "high": 1.5}}
    models = [{"model": f"sgns/wiki/seed{seed}", "result": found} for seed in (0, 1)]
    result = {"kind": "weat", "of": "sgns/wiki", "models": models, "spread": [spread]}
    one = {"name": "science/sgns/wiki", "part": "analyses", "kind": "weat", "of": "sgns/wiki", "key": "k"}
    page = texts(study_page({**whole, "results": [{**one, "result": result}]}))
    whole_table = page.rindex("as a whole")
    assert page.index("over replicates: mean") < page.index("1.250 [1.000, 1.500]") < whole_table
    rows = page[whole_table:]
    assert rows.index("sgns/wiki/seed0") < rows.index("sgns/wiki/seed1")


def test_the_order_of_two_intervals_of_one_row_does_not_matter() -> None:
    row = tidy({"name": "a", "value": 1.0, "p_value": 0.5, "p_interval": {"low": 0.4, "high": 0.6}, "n": 3})
    assert row["p_value"] == number(0.5, 0.4, 0.6)
    assert row["value"] == 1.0
    assert row["n"] == 3


@pytest.mark.parametrize(
    ("row", "name", "expected"),
    [
        ({"value": 1.0, "low": 0.5, "high": 2.0}, "value", number(1.0, 0.5, 2.0)),
        ({"mean": 1.0, "agree": 8, "interval": {"low": 0.5, "high": 2.0}}, "mean", number(1.0, 0.5, 2.0)),
        ({"gap": None, "gap_reason": "no positives"}, "gap", number(None, reason="no positives")),
        ({"n": 4, "r": 0.5, "low": 0.25, "high": 0.75, "p": 0.1}, "r", number(0.5, 0.25, 0.75)),
        ({"x": 1, "y": 2.0, "y_low": 1.5, "y_high": 2.5}, "y", number(2.0, 1.5, 2.5)),
        (
            {"mean": 1.0, "interval": {"low": 0.0, "high": 2.0, "level": 0.95, "method": "t"}},
            "mean",
            number(1.0, 0.0, 2.0, level=0.95, method="t"),
        ),
        ({"value": float("nan"), "low": None, "high": None}, "value", number(None)),
    ],
)
def test_an_interval_belongs_to_its_number(row: dict[str, Any], name: str, expected: Estimate) -> None:
    assert tidy(row)[name] == expected


def test_nested_tables_and_long_lists_are_no_cells() -> None:
    assert tidy({"a": {"b": 1}, "c": list(range(100)), "d": ["x", "y"]}) == {"d": ["x", "y"]}


def test_what_all_rows_say_alike_stands_in_the_caption() -> None:
    made = table_of(
        "bias", [{"test": "weat7", "model": "a", "value": 1.0}, {"test": "weat7", "model": "b", "value": 2.0}]
    )
    assert made.title == "bias (test weat7)"
    assert [(column.name, column.kind) for column in made.columns] == [("model", "text"), ("value", "number")]


def test_a_long_table_is_cut_and_says_so(whole: dict[str, Any]) -> None:
    rows = [{"word": f"w{place}", "value": float(place)} for place in range(1000)]
    result = {"name": "a/b", "part": "analyses", "kind": "own", "of": "b", "key": "k", "result": {"rows": rows}}
    page = texts(study_page({**whole, "results": [result]}))
    assert "the first 300 of 1,000 rows, all are in the files" in page
    assert "w299" in page
    assert "w300" not in page


def test_an_interval_that_is_the_name_of_a_method_keeps_both_ends() -> None:
    found = tidy({"mean": 1.5, "low": 1.0, "high": 2.0, "interval": "hpdi"})
    assert found == {"mean": number(1.5, low=1.0, high=2.0, method="hpdi")}
    assert tidy({"high": 2.0, "interval": "hpdi", "low": 1.0, "mean": 1.5}) == found
