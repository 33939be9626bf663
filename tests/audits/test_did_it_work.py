"""Did it work? Tiles say what the verdict's numbers say; slopes hold every question."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import biasgauge as bg
from biasgauge.audits.change import OUTCOMES, ContrastChange, did_it_work, headline_of_change, slope_charts, tiles
from biasgauge.audits.verdicts import Evidence, Verdict
from biasgauge.core.estimate import Estimate

if TYPE_CHECKING:
    from biasgauge.audits.result import AuditResult


def verdict(*evidence: Evidence) -> Verdict:
    return Verdict("change", "t", "a → b", "change", "do-not-report", "", "why", evidence)


def reduced(agree: int, of: int) -> Evidence:
    return Evidence("reduced", {"agree": agree, "of": of, "share": agree / of}, 1.0, agree == of, "prose")


def turned(count: int) -> Evidence:
    return Evidence("not overcorrected", float(count), 0.0, not count, "prose")


def recovered(accuracy: float, low: float, *, passes: bool) -> Evidence:
    return Evidence("not recoverable", {"accuracy": accuracy, "low": low, "high": 1.0}, 0.5, passes, "prose")


def damaged(worse: int) -> Evidence:
    return Evidence("no damage", {"worse": float(worse), "of": 3.0}, 0.0, not worse, "prose")


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (
            (reduced(2, 2), turned(0), recovered(0.52, 0.45, passes=True), damaged(0)),
            [("reduced", "2 of 2", "good"), ("not recoverable", "52 %", "good"), ("no damage seen", "0 of 3", "good")],
        ),
        (
            (reduced(1, 2), turned(0), recovered(0.92, 0.88, passes=False), damaged(1)),
            [
                ("reduced in part", "1 of 2", "bad"),
                ("hidden but recoverable", "92 %", "bad"),
                ("damage done", "1 of 3", "bad"),
            ],
        ),
        (
            (reduced(2, 2), turned(1)),
            [("overcorrected", "2 of 2", "bad"), ("unknown", None, "caution"), ("unknown", None, "caution")],
        ),
        ((reduced(0, 4), turned(0)), [("not reduced", "0 of 4", "bad"), *[("unknown", None, "caution")] * 2]),
        (
            (recovered(0.9, 0.8, passes=False), damaged(0)),
            [
                ("nothing to remove", "0", "caution"),
                ("recoverable", "90 %", "bad"),
                ("no damage seen", "0 of 3", "good"),
            ],
        ),
        ((), [("nothing to remove", "0", "caution"), *[("unknown", None, "caution")] * 2]),
    ],
)
def test_tiles_say_what_the_evidence_says(evidence: tuple[Evidence, ...], expected: list[tuple[str, str, str]]) -> None:
    made = tiles(verdict(*evidence))
    assert [tile.name for tile in made] == ["Bias measured", "Bias recoverable", "Damage"]
    assert [(tile.word, tile.number, tile.tone) for tile in made] == expected


def change(question: str, before: float, after: float, *, shown: bool) -> ContrastChange:
    return ContrastChange(
        question=question, title="", family="own", before=Estimate(value=before), after=Estimate(value=after),
        change=Estimate(value=after - before), shown=shown, reduced=None, flipped=before * after < 0,
        overcorrected=False,
    )  # fmt: skip


def test_slopes_put_flips_first_and_count_them() -> None:
    (chart,) = slope_charts((change("a", 0.2, 0.1, shown=True), change("b", 0.1, -0.1, shown=False)))
    assert "1 of 2 change their sign" in chart.title
    spec = chart.draw().to_dict()
    labels = [row["label"] for rows in spec["datasets"].values() for row in rows if "label" in row]
    assert labels == ["+0.100 → −0.100  b", "+0.200 → +0.100  a *"]
    assert slope_charts(()) == ()


@pytest.fixture(scope="module")
def audited() -> AuditResult:
    before = bg.vectors.load_default()
    return bg.audit(
        bg.mitigate(before, "hard"),
        before=before,
        lexicons=["weat7", "weat6"],
        policy=bg.core.WordPolicy(case="fallback"),
    )


def test_it_stands_first_on_the_page(audited: AuditResult) -> None:
    section = did_it_work(audited, audited.verdicts[0])
    assert section.title == "Effect of the change"
    assert section.more[0] == audited.verdicts[0].sentence
    assert all(tile.word in section.headline for tile in tiles(audited.verdicts[0]))
    assert audited.summary().parts[0].name == section.name == "did-it-work"
    assert section.charts[0].name == "slopes"


def test_an_audit_of_a_change_starts_with_what_it_did(audited: AuditResult) -> None:
    (verdict,) = [verdict for verdict in audited.verdicts if verdict.test == "change"]
    said = audited.summary().headline
    if verdict.decision in OUTCOMES:
        assert said.startswith(f"{OUTCOMES[verdict.decision]}: {tiles(verdict)[0].number} ")
    else:
        assert said.startswith("No bias was found before the change")
    assert all(tile.word in said for tile in tiles(verdict)[1:] if tile.number)


def test_a_headline_without_an_association_hides_nothing() -> None:
    evidence = (recovered(0.9, 0.8, passes=False), damaged(0))
    nothing = Verdict("change", "t", "a → b", "change", "inconclusive", "", "why", evidence)
    assert headline_of_change(nothing) == (
        "No bias was found before the change, so there was none to remove. "
        "Side of the most biased words: recoverable (90 %); no damage seen."
    )


def test_flowers_may_stay_pleasant() -> None:
    one = change("weat1", 0.2, 0.2, shown=True)
    assert one.biased
    assert not replace(one, family="sanity").biased


def test_contrasts_are_the_two_audits(audited: AuditResult) -> None:
    before = bg.audit(
        bg.vectors.load_default(), lexicons=["weat7", "weat6"], policy=bg.core.WordPolicy(case="fallback")
    )
    for one in audited.change.contrasts:
        verdicts = [
            next(verdict for verdict in result.verdicts if verdict.question == one.question)
            for result in (before, audited)
        ]
        assert one.before.value == pytest.approx(verdicts[0].contrast.value)
        assert one.after.value == pytest.approx(verdicts[1].contrast.value)
        found = [verdict.decision in {"report", "report-with-care", "do-not-report"} for verdict in verdicts]
        assert one.shown == found[0]
        assert one.overcorrected == (one.flipped and found[1])
        assert one.change is not None
        assert one.change.value == pytest.approx((one.after.value or 0) - (one.before.value or 0))
        assert one.flipped == ((one.before.value or 0) * (one.after.value or 0) < 0)


def test_contrasts_are_numbers_in_json_and_come_back(audited: AuditResult) -> None:
    written = audited.to_dict()
    contrasts = written["change"]["contrasts"]
    assert [one["question"] for one in contrasts] == ["weat7", "weat6"]
    assert {"before", "before_interval", "after", "change", "change_interval", "reduced", "flipped"} <= set(
        contrasts[0]
    )
    assert all(isinstance(one["before"], float) for one in contrasts)
    assert type(audited).from_dict(written).to_dict() == written
