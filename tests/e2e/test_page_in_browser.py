"""The page of an audit in a real browser, opened from disk: no error, no request, and everything on it works.

One page is opened once for all tests that only look at it or leave it as they found it; a test that needs another
width, another medium or no scripts opens its own. Its policy lets nothing evaluate text as a script, so tests wait for
elements: `wait_for_function` would pass or fail by whether its first look came early.
"""

from __future__ import annotations

import re
import time
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import biasgauge as bg
from biasgauge.audits.parts.extrinsic import Extrinsic
from biasgauge.audits.tracking import answer_points, track
from biasgauge.audits.verdicts import DECISIONS, Rules
from biasgauge.lexicons import lexicon, parse_lexicon
from biasgauge.results import Summary, chart_of_rows
from biasgauge.results.page.rendering import summary_page
from biasgauge.results.wording import number_text
from biasgauge.scores import Weat
from biasgauge.vectors import load_default_replicates

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.e2e

HOSTILE = [
    "<img src=x onerror=document.title='pwned'>",
    "</script><script>document.title='pwned'</script>",
    "\u202elow",
]


def points() -> pd.DataFrame:
    """Twelve embeddings by two methods and two tests, two task seeds each."""
    random = np.random.default_rng(0)
    return pd.DataFrame(
        [
            {"name": f"e{at}", "method": method, "strength": at, "test": test, "seed": seed, "weat": weat, "gap": gap}
            for method, sign in (("pre", -1), ("post", 1))
            for at, bias in enumerate(random.standard_normal(12))
            for test in (6, 7)
            for weat in [bias + 0.2 * random.standard_normal()]
            for seed, gap in enumerate(sign * bias + 0.3 * random.standard_normal(2))
        ]
    )


@pytest.fixture(scope="module")
def audited(shipped_audit: Callable[..., bg.audits.AuditResult]) -> bg.audits.AuditResult:
    """The default audit, with points of intrinsic against extrinsic."""
    default, tracked = shipped_audit(), track(points(), random_state=0)
    return replace(
        default,
        parts={**default.parts, "extrinsic": Extrinsic(tracked)},
        verdicts=(*default.verdicts, answer_points(tracked, Rules())),
    )


@pytest.fixture(scope="module")
def path(audited: bg.audits.AuditResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return audited.save(tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(scope="module")
def every_decision(audited: bg.audits.AuditResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page with each decision in turn on its rows."""
    decisions = list(DECISIONS)
    verdicts = [replace(one, decision=decisions[at % len(decisions)]) for at, one in enumerate(audited.verdicts)]
    page = tmp_path_factory.mktemp("decisions") / "report.html"
    page.write_text(replace(audited, verdicts=tuple(verdicts)).page(), encoding="utf-8")
    return page


@pytest.fixture(scope="module")
def shared(open_shared: Callable[..., Any], path: Path) -> Any:  # noqa: ANN401 - a page of the browser
    """The page, opened once."""
    return open_shared(path)


@pytest.fixture
def page(shared: Any) -> Any:  # noqa: ANN401 - a page of the browser
    """The shared page with its appendix open and everything else folded, in light colors and on a screen."""
    shared.emulate_media(media="screen", color_scheme="light")
    shared.evaluate(
        "() => { document.querySelectorAll('main details').forEach((one) => (one.open = one.id === 'content')); "
        "document.documentElement.removeAttribute('data-theme'); document.activeElement?.blur(); scrollTo(0, 0); }"
    )
    return shared


@pytest.fixture
def opened(open_page: Callable[..., Any], path: Path) -> Callable[..., Any]:
    """Opens the page of the audit, or another one."""
    return lambda file=path, **settings: open_page(file, **settings)


def texts(page: Any, selector: str) -> list[str]:  # noqa: ANN401 - a page of the browser
    return [one.strip() for one in page.locator(selector).all_text_contents()]


def unfold(page: Any, selector: str) -> None:  # noqa: ANN401 - a page of the browser
    """Open every fold above an element."""
    page.locator(selector).first.evaluate(
        "one => { for (let box = one.closest('details'); box; box = box.parentElement.closest('details')) "
        "box.open = true; one.scrollIntoView(); }"
    )


# --- the first screen -------------------------------------------------------------------------------------------------


def test_the_first_screen_gives_the_answer(page: Any, audited: bg.audits.AuditResult) -> None:  # noqa: ANN401
    """Headline, counts, caveat and the first rows stand above the fold of a small laptop, before any script drew."""
    for selector in (".lead", ".tiles", ".caveat", ".forest .row >> nth=1"):
        box = page.locator(selector).bounding_box()
        assert box["y"] + box["height"] <= 900, selector
    assert page.locator(".lead").inner_text() == audited.summary().headline
    assert re.search(r"\d+ \w+ 20\d\d", page.locator("header time").inner_text())
    assert "None shows that a system is fair or unfair" in page.locator(".caveat").inner_text()
    counts = [int(text) for text in texts(page, ".tile b") if "%" not in text]
    assert sum(counts) == sum(one.family != "sanity" for one in audited.verdicts)
    assert "of meaningless lists" in page.locator(".tile").last.inner_text()


def test_rows_stand_by_family_with_shape_word_claim_and_numbers(page: Any, audited: bg.audits.AuditResult) -> None:  # noqa: ANN401
    groups = texts(page, ".forest .group h3 > span:first-child")
    assert groups[0] == "Gender"
    assert groups[-1] == "Positive controls"
    rows = page.locator(".forest .row")
    assert rows.count() == len(audited.verdicts)
    by_id = {one.get_attribute("id"): one for one in rows.all()}
    for verdict in audited.verdicts:
        row = by_id[f"verdicts-{anchor(verdict.question)}"] if verdict.test == "contrast" else None
        if row is None:
            continue
        assert row.locator(".decision").inner_text().lower() == verdict.decision.replace("-", " ")
        assert row.locator(".decision use").count() == 1
        value = verdict.contrast.value
        shown = row.locator(".numbers b")
        assert (shown.inner_text() if shown.count() else None) == (
            None if value is None else f"{value:+.3f}".replace("-", "−")
        )
        assert row.locator("summary .interval .reach").count() == (value is not None)


def anchor(question: str) -> str:
    """Name of a question in the anchor of its row."""
    return question.partition(":")[0].replace("_", "-")


AXIS_AND_MARKS = """() => {
  const center = (box) => box.x + box.width / 2;
  const shown = (one) => one.getClientRects().length && getComputedStyle(one).visibility === "visible";
  return {
    ticks: [...document.querySelectorAll(".forest .head .ticks span, .forest h3 .ticks span")].filter(shown)
      .map((one) => [Number(one.textContent.replace("−", "-")), center(one.getBoundingClientRect())]),
    zeros: [...document.querySelectorAll(".forest h3 .zero, .row > summary > .interval .zero")].filter(shown)
      .map((one) => center(one.getBoundingClientRect())),
    rows: Object.fromEntries([...document.querySelectorAll(".forest .row")]
      .filter((row) => row.querySelector("summary > .interval .reach"))
      .map((row) => {
        const reach = row.querySelector("summary > .interval .reach").getBoundingClientRect();
        const mark = row.querySelector("summary > .interval use").getBoundingClientRect();
        return [row.id.replace("verdicts-", ""), [reach.x, center(mark), reach.x + reach.width]];
      })),
    room: document.documentElement.clientWidth,
  };
}"""


@pytest.mark.parametrize(("width", "medium"), [(1280, "screen"), (760, "screen"), (390, "screen"), (703, "print")])
def test_marks_and_ticks_share_one_axis_at_every_width(
    opened: Callable[..., Any], audited: bg.audits.AuditResult, width: int, medium: str
) -> None:
    """Every tick, zero line, interval end and point lies on one straight line over its number, inside the page."""
    page = opened(width=width)  # 703 pixels are a sheet of A4 within its margins
    page.emulate_media(media=medium)
    drawn = page.evaluate(AXIS_AND_MARKS)
    numbers, pixels = map(list, zip(*drawn["ticks"], strict=True))
    assert len(set(numbers)) >= 3
    slope, start = np.polyfit(numbers, pixels, 1)
    np.testing.assert_allclose(np.array(numbers) * slope + start, pixels, atol=0.75)
    assert max(pixels) - min(pixels) > 100
    zeros = drawn["zeros"]
    np.testing.assert_allclose(zeros, [start] * len(zeros), atol=0.75)
    contrasts = {anchor(one.question): one.contrast for one in audited.verdicts if one.test == "contrast"}
    bounded = {name: one for name, one in contrasts.items() if one.low is not None}
    assert set(bounded) <= set(drawn["rows"])
    for name, estimate in bounded.items():
        ends = np.array([estimate.low, estimate.value, estimate.high]) * slope + start
        np.testing.assert_allclose(drawn["rows"][name], ends, atol=1.5, err_msg=name)  # ends are rounded to .01 %
        assert 0 <= ends[0] <= ends[2] <= drawn["room"]


@pytest.mark.parametrize(("width", "medium"), [(1280, "screen"), (760, "screen"), (390, "screen"), (703, "print")])
def test_nothing_of_a_row_covers_anything_else(
    opened: Callable[..., Any], every_decision: Path, width: int, medium: str
) -> None:
    """Whatever the verdict: each of them is as long as it is on some row."""
    page = opened(every_decision, width=width)
    page.emulate_media(media=medium)
    covered = page.evaluate(
        """() => [...document.querySelectorAll(".forest .row")].flatMap((row) => {
          const texts = [".decision b", ".claim", ".numbers > b", ".certainty > span:last-of-type"]
            .map((part) => row.querySelector(part)).filter((one) => one?.getClientRects().length);
          const boxes = texts.map((one) => one.getBoundingClientRect());
          return boxes.flatMap((one, at) => boxes.slice(at + 1)
            .filter((next) => one.left < next.right - 1 && next.left < one.right - 1 &&
                              one.top < next.bottom - 1 && next.top < one.bottom - 1)
            .map(() => `${row.id}: ${texts[at].textContent}`));
        })"""
    )
    assert covered == []


def test_the_page_is_short_and_its_appendix_folded_behind_an_index(page: Any, audited: bg.audits.AuditResult) -> None:  # noqa: ANN401
    content = page.locator("#content")
    content.evaluate("one => (one.open = false)")
    assert page.evaluate("document.documentElement.scrollHeight") <= 9_000
    links = page.locator("#appendix .index a")
    appendix = [part for part in audited.summary().parts if part.appendix]
    assert [one.strip() for one in links.all_text_contents()][: len(appendix)] == [part.title for part in appendix]
    links.nth(1).click()
    page.wait_for_selector("#reliability", state="visible")
    assert content.evaluate("one => one.open")


def test_headings_are_noun_phrases(page: Any) -> None:  # noqa: ANN401
    heads = texts(page, "main h2")
    assert len(heads) > 12
    for head in heads:
        assert not re.search(r"[?.:!]|\b(is|are|do|does|did|may|can|you|it|how|what|why)\b", head, re.IGNORECASE), head


def test_footnotes_of_the_findings_explain_every_letter(page: Any) -> None:  # noqa: ANN401
    letters = {one for text in texts(page, ".forest sup") for one in text.split(", ")}
    assert letters == set(texts(page, ".footnotes b"))
    assert all(re.match(r"(Imprecision|Inconsistency|Indirectness|Confounding): ", one) for one in
               texts(page, ".footnotes span"))  # fmt: skip
    for row in page.locator(".forest .certainty:has(.points)").all():
        level = row.locator("span:not(.unseen)").first.evaluate("one => one.firstChild.textContent")
        points = {"Very low": 1, "Low": 2, "Moderate": 3, "High": 4}[level]
        assert row.locator("circle.filled").count() == points


def test_a_row_opens_by_keyboard_to_its_panel(page: Any) -> None:  # noqa: ANN401
    row = page.locator("#verdicts-gender-math")
    row.locator("summary").first.focus()
    page.keyboard.press("Enter")
    panel = row.locator(".panel")
    assert panel.is_visible()
    for part in ("chance", "replicates", "words"):
        assert panel.locator(f"#verdicts-gender-math-{part} svg").first.is_visible(), part
    page.keyboard.press("Enter")
    assert not panel.is_visible()


def test_base_pairs_are_drawn_where_attributes_are_ends_of_pairs(opened: Callable[..., Any], tmp_path: Path) -> None:
    page = opened(bg.audit(bg.vectors.load_default(), lexicons=["weat7"]).save(tmp_path / "report.html"))
    page.locator("#verdicts-weat7 summary").first.click()
    pairs = page.locator("#verdicts-weat7-pairs")
    assert pairs.locator("circle").count() == 23
    assert pairs.locator("text").count() == min(pairs.locator("circle.apart").count(), 6)


def test_evidence_links_to_where_it_can_be_seen(page: Any) -> None:  # noqa: ANN401
    links = page.locator(".panel table a")
    targets = {one.get_attribute("href") for one in links.all()}
    assert all(page.locator(f"[id='{target[1:]}']").count() == 1 for target in targets)
    link = ".panel table a[href$='-replicates']"
    unfold(page, link)
    target = page.locator(link).first.get_attribute("href")
    page.locator(link).first.click()
    assert page.locator(f"[id='{target[1:]}']").evaluate("one => one.matches(':target')")


def test_a_link_into_a_folded_part_opens_it(page: Any) -> None:  # noqa: ANN401
    page.evaluate("location.hash = '#verdicts-gender-career-words'")
    page.wait_for_selector("#verdicts-gender-career-words", state="visible")
    assert page.locator("#verdicts-gender-career").evaluate("one => one.open")


def test_sentences_are_copied(shared: Any, page: Any) -> None:  # noqa: ANN401
    shared.context.grant_permissions(["clipboard-read", "clipboard-write"])
    quote = page.locator("#write .quote").first
    quote.locator("button").click()
    quote.locator("button", has_text=re.compile("^Copied$")).wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == quote.locator("blockquote").inner_text().strip()
    unfold(page, "#write .listing:last-child pre")
    assert page.locator("#write .listing pre").last.inner_text().startswith("@")
    assert page.locator("#write .listing pre").first.text_content().startswith("We audited ")


# --- figures, tables, words -------------------------------------------------------------------------------------------


def test_every_chart_is_drawn_named_and_walked_by_keyboard(page: Any) -> None:  # noqa: ANN401
    told = page.evaluate(
        """() => [...document.querySelectorAll("figure[data-chart]")].map((figure) => {
          const plot = figure.querySelector(".plot");
          return {
            title: figure.querySelector("h3").textContent,
            drawn: figure.querySelector(".plot [role='graphics-document']")?.getAttribute("aria-label"),
            rows: figure.querySelectorAll("details table tbody tr").length,
            away: figure.classList.contains("away"),
            tab: plot.getAttribute("tabindex"),
            label: plot.getAttribute("aria-label"),
          };
        })"""
    )
    assert len(told) >= 12
    for one in told:
        assert one["drawn"] == one["title"]
        assert one["rows"] > 0, one["title"]
        assert one["tab"] == "0", one["title"]
        assert re.search(r": \d+ points?; arrow keys go from one to the next$", one["label"])


def test_points_are_reached_by_keyboard(page: Any) -> None:  # noqa: ANN401
    plot = page.locator("figure[data-chart='extrinsic-points'] .plot")
    plot.focus()
    said = page.locator("[role=status].unseen")
    seen = []
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "End", "ArrowRight", "Home"):
        page.keyboard.press(key)
        assert page.locator("#tip").is_visible()
        assert plot.locator(".at").count() == 1
        seen.append(said.text_content().split(":")[0])
    assert seen == ["1 of 48", "2 of 48", "1 of 48", "48 of 48", "48 of 48", "1 of 48"]
    tip = dict(zip(*[iter(page.locator("#tip").inner_text().split("\n"))] * 2, strict=True))
    assert all(f"{name} {value}" in said.text_content() for name, value in tip.items())
    page.keyboard.press("Escape")
    assert page.locator("#tip").is_hidden()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")  # to the numbers of the figure
    assert page.locator("#tip").is_hidden()
    assert plot.locator(".at").count() == 0


def test_hovering_a_point_shows_its_numbers(page: Any, audited: bg.audits.AuditResult) -> None:  # noqa: ANN401
    page.locator("figure[data-chart='bias-weat'] .mark-symbol path").first.hover()
    page.wait_for_selector("#tip:not([hidden])")
    tip = page.locator("#tip").inner_text()
    contrasts = [bias.contrast for bias in audited.bias if isinstance(bias, Weat) and bias.contrast is not None]
    shown = {f"{(contrast.adjusted or contrast).value:.4g}" for contrast in contrasts}
    assert any(number in tip for number in shown)
    assert "concept" in tip
    page.mouse.move(1, 1)
    page.wait_for_selector("#tip", state="hidden")


def test_points_of_intrinsic_against_extrinsic_tell_what_they_are(page: Any, audited: bg.audits.AuditResult) -> None:  # noqa: ANN401
    chart = page.locator("figure[data-chart='extrinsic-points']")
    assert chart.locator(".mark-symbol path").count() == 2 * 12 * 2  # the mean over seeds is a point
    assert chart.locator(".mark-line path").count() == 4  # a line for each panel
    chart.locator(".mark-symbol path").nth(3).hover()
    page.wait_for_selector("#tip:not([hidden])")
    told = page.locator("#tip").inner_text().split("\n")
    assert told[::2] == ["weat", "gap", "test", "method", "name", "strength", "seed"]
    assert told[-1] == "0, 1"
    assert audited.extrinsic.correlation is not None
    rows = page.locator("#extrinsic table", has_text="Pearson").first.locator("tbody tr")
    if rows.count():
        assert f"{audited.extrinsic.correlation.groups[1].r:.2f}" in rows.nth(1).inner_text().replace("−", "-")


def test_tables_are_sorted_by_number_and_back(page: Any, audited: bg.audits.AuditResult) -> None:  # noqa: ANN401
    table = "#bias > details > .scroll table"
    unfold(page, table)
    head = page.locator(table).locator("thead th", has_text="value")
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    column = texts(page, f"{table} tbody tr td:nth-child(4)")
    values = [float(one.split("[")[0].replace("−", "-")) for one in column if not one.startswith("undefined")]
    assert values == sorted(values)
    assert len(values) == sum(bias.value is not None for bias in audited.bias)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert texts(page, f"{table} tbody tr td:nth-child(4)")[0].startswith(f"{max(values):.3f}")


def test_rows_are_filtered(page: Any) -> None:  # noqa: ANN401
    box = page.locator("#reliability article", has=page.locator(".controls input")).first
    unfold(page, "#reliability article .controls input")
    box.locator(".controls input").first.fill("occ18")
    visible = box.locator(".controls + .scroll").first.locator("tbody tr:visible")
    assert visible.count() > 0
    assert all("occ18" in one for one in visible.all_text_contents())
    assert "rows" in box.locator(".controls [role=status]").first.inner_text()


def test_one_group_of_charts_is_shown_at_a_time(open_page: Callable[..., Any], tmp_path: Path) -> None:
    charts = tuple(
        replace(chart_of_rows("gap", f"Gap of {group}", "", "gap", [{"what": "all", "value": 1.0}]), group=group)
        for group in ("one", "two")
        for _ in range(2)
    )
    tasks = Summary("Tasks", "Two tasks.", name="tasks", charts=charts)
    file = tmp_path / "groups.html"
    file.write_text(summary_page(Summary("Groups", "", parts=(tasks,))), encoding="utf-8")
    page = open_page(file)
    page.select_option("select[data-groups=tasks]", "two")
    shown = page.locator("#tasks figure:visible")
    assert {one.get_attribute("data-group") for one in shown.all()} == {"two"}
    assert shown.count() == 2


def test_a_word_is_looked_up_under_every_measure_and_pair(page: Any, audited: bg.audits.AuditResult) -> None:  # noqa: ANN401
    page.fill("#word", "engineer")
    page.locator("#word-title", has_text="engineer").wait_for()
    vectors = load_default_replicates()[0]
    expected = bg.score(vectors, pairs="du2021", words=["engineer"]).to_numpy()[:, :, 0, 0].astype(float)
    unfold(page, "#word-pairs tbody tr")
    rows = page.locator("#word-pairs tbody tr")
    for place in (0, 7, 22):
        cells = [one.split("\n")[0] for one in rows.nth(place).locator("td").all_inner_texts()]
        found = [float(one.replace("−", "-")) for one in cells]
        np.testing.assert_allclose(found, expected[:, place], atol=8e-4)
    assert rows.count() == 24
    means = [float(one.replace("−", "-")) for one in texts(page, "#word-measures tbody tr td:nth-child(2)")]
    np.testing.assert_allclose(means, expected.mean(axis=1), atol=8e-4)
    assert audited.explorer is not None
    over = audited.explorer.over_replicates
    assert over is not None
    assert audited.explorer.scores is not None
    at = audited.explorer.scores.words.index("engineer")
    held = [float(one.replace("−", "-")) for one in texts(page, "#word-measures tbody tr td:nth-child(4)")]
    np.testing.assert_allclose(held, over.mean[:, at], atol=8e-4)


def test_the_explorer_answers_to_the_keyboard_and_to_choices(page: Any) -> None:  # noqa: ANN401
    page.focus("#word")
    page.keyboard.press("Control+A")
    page.keyboard.type("enginer")
    page.keyboard.press("Tab")
    assert "not among the 2,500 words" in page.locator("#word-problem").inner_text()
    page.locator("#word-problem button", has_text=re.compile("^engineer$")).click()
    assert page.locator("#word").input_value() == "engineer"
    page.fill("#word", "Nur")
    assert "nurse" in [one.get_attribute("value") for one in page.locator("#suggestions option").all()]
    page.select_option("#measure", label="RIPA")
    page.select_option("#pair", label="he – she")
    page.select_option("#side", label="second")
    assert page.locator("#list-title").inner_text() == "Words with the largest scores: RIPA, he – she"
    scores = [float(one.replace("−", "-")) for one in texts(page, "#list tbody tr td:nth-child(2)")]
    assert scores == sorted(scores)
    assert max(scores) < 0
    page.fill("#list-filter", "wom")
    words = texts(page, "#list tbody th")
    assert "woman" in words
    assert all("wom" in word for word in words)
    page.locator("#list .word", has_text="woman").first.press("Enter")
    assert page.locator("#word-title").inner_text() == "“woman” on every pair: RIPA"
    page.click("#next")
    assert page.locator("#word-title").inner_text() != "“woman” on every pair: RIPA"
    page.click("#previous")
    assert page.locator("#word-title").inner_text() == "“woman” on every pair: RIPA"


def test_a_word_and_its_choices_are_in_the_link(page: Any, opened: Callable[..., Any]) -> None:  # noqa: ANN401
    page.fill("#word", "judge")
    page.select_option("#pair", label="mean of all pairs")
    page.select_option("#measure", label="NBM")
    assert page.evaluate("location.hash") == "#explorer?word=judge&measure=nbm"
    again = opened()
    again.evaluate("location.hash = '#explorer?word=nurse&measure=ripa&pair=he%20%E2%80%93%20she'")
    again.locator("#word-title", has_text="nurse").wait_for()
    assert again.locator("#word-title").inner_text() == "“nurse” on every pair: RIPA"
    assert again.locator("#list-title").inner_text().endswith("RIPA, he – she")


# --- looks, print, reach ----------------------------------------------------------------------------------------------


def test_a_phone_shows_all_of_it_and_axe_finds_nothing_serious(
    opened: Callable[..., Any], serious_findings: Callable[..., list[str]]
) -> None:
    page = opened(width=390)
    rows = "#verdicts-gender-math, #verdicts-gender-science"
    page.evaluate(f"document.querySelectorAll('{rows}').forEach((one) => (one.open = true))")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    too_wide = page.evaluate(
        "() => [...document.querySelectorAll('figure:not(.away) .plot, .forest')]"
        ".filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth).map((one) => one.textContent)"
    )
    assert too_wide == []
    assert serious_findings(page) == []


def test_contrast_is_enough_on_a_dark_page(page: Any, serious_findings: Callable[..., list[str]]) -> None:  # noqa: ANN401
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    unfold(page, "#verdicts-gender-math .panel svg")
    assert serious_findings(page, "color-contrast") == []


def test_dark_pages_are_dark_and_so_are_their_charts(page: Any) -> None:  # noqa: ANN401
    def brightness(selector: str, style: str) -> float:
        color = page.locator(selector).first.evaluate(f"one => getComputedStyle(one).{style}")
        return float(np.mean([float(part) for part in color[color.index("(") + 1 : -1].split(",")[:3]]))

    label = "#bias .role-axis-label text"
    assert brightness("body", "backgroundColor") > 200
    assert brightness(label, "fill") < 100
    page.click("#theme")
    assert brightness("body", "backgroundColor") < 60
    assert brightness(label, "fill") > 150
    page.click("#theme")
    assert brightness("body", "backgroundColor") > 200
    page.emulate_media(color_scheme="dark")
    page.evaluate("document.documentElement.removeAttribute('data-theme')")
    assert brightness("body", "backgroundColor") < 60
    page.emulate_media(color_scheme="dark", media="print")
    assert brightness("body", "backgroundColor") > 200
    assert brightness(label, "fill") < 100


def test_it_prints_on_few_sheets_with_every_figure(page: Any) -> None:  # noqa: ANN401
    page.emulate_media(media="print")
    sheets = len(re.findall(rb"/Type\s*/Page[^s]", page.pdf(format="A4")))
    assert 5 <= sheets <= 9  # this audit has points too, which take a sheet
    assert page.locator("nav:visible, .controls:visible, #theme:visible, .copy:visible").count() == 0
    assert page.locator("details:not(.row, .fold, .more-figures):not([open]):visible").count() == 0
    assert page.locator(".forest .row > summary:visible").count() == page.locator(".forest .row > summary").count()
    assert page.locator(".panel:visible").count() == 0
    missing = page.evaluate(
        """() => [...document.querySelectorAll("#content figure[data-chart]:not(article figure)")].filter((figure) => {
          const box = figure.querySelector(".plot svg").getBoundingClientRect();
          return !(box.width > 50 && box.height > 30 && box.right <= document.documentElement.clientWidth);
        }).map((figure) => figure.id)"""
    )
    assert missing == []


def test_motion_is_left_out_where_it_is_not_wanted(page: Any) -> None:  # noqa: ANN401
    smooth = "getComputedStyle(document.documentElement).scrollBehavior"
    page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate(smooth) == "smooth"
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(smooth) == "auto"


def test_the_page_is_light_and_shows_its_first_chart_at_once(browser: Any, path: Path) -> None:  # noqa: ANN401
    """The forest plot needs no script; the work of the processor until it is painted is what a quiet core takes."""
    assert path.stat().st_size <= 4_200_000  # 26 questions of 0.15 million each; the points take 70,000
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    started = time.process_time()
    page.goto(path.as_uri(), wait_until="commit")
    page.wait_for_selector(".forest .row .reach", state="attached")
    assert time.process_time() - started < 1
    context.close()


def text_shown(pdf: bytes) -> int:
    """How many pieces of text the pages of a PDF show."""
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    return sum(len(re.findall(rb"\bT[jJ]\b", _inflated(one))) for one in streams)


def _inflated(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return b""


def test_heads_of_tables_are_repeated_on_each_sheet(opened: Callable[..., Any], tmp_path: Path) -> None:
    """Held against the same page whose heads cannot be: a head with a button in it, shown as one, is not repeated."""
    words = tuple(f"word{number}" for number in range(400))
    own = parse_lexicon({"name": "own", "kind": "words", "words": ["cat"]}, path="own.toml")
    vectors = bg.Embedding(words, np.random.default_rng(0).standard_normal((400, 3)), name="toy")
    page = opened(bg.audit(vectors, lexicons=[own], points=points()).save(tmp_path / "report.html"))
    page.evaluate("document.querySelectorAll('#extrinsic details').forEach((one) => (one.open = true))")
    repeated = text_shown(page.pdf(format="A5"))
    assert page.evaluate("[...document.querySelectorAll('#extrinsic thead button')].length") > 5
    page.add_style_tag(content="@media print { thead button { display: inline-block !important } }")
    assert repeated > text_shown(page.pdf(format="A5")) > 500


def test_without_scripts_every_number_is_still_there(
    opened: Callable[..., Any], audited: bg.audits.AuditResult
) -> None:
    page = opened(java_script_enabled=False)
    assert page.locator("noscript").count() == 2
    assert page.locator("button:visible, select:visible, input:visible").count() == 0
    text = page.locator("main").text_content()
    for one in audited.bias:
        assert one.value is None or number_text(one.value) in text
    assert isinstance(audited.reliability, bg.analyses.reliability.ReliabilityResult)
    drawn = audited.reliability.to_frame().query("of == 'pair' and reliability == 'test_retest' and list == 'occ16'")
    assert len(drawn) == 3 * 23
    for record in drawn.itertuples():
        assert f"{record.value:.4g}" in text


def test_one_small_model_has_intervals_over_pairs_and_says_what_is_undefined(
    opened: Callable[..., Any], tmp_path: Path
) -> None:
    words = ("he", "she", "man", "woman", "boy", "girl", "nurse", "judge")
    tiny = bg.Embedding(words, np.random.default_rng(3).standard_normal((8, 5)), name="tiny")
    result = bg.audit(tiny)
    page = opened(result.save(tmp_path / "report.html"))
    unfold(page, "#list")
    assert result.explorer is not None
    means = result.explorer.over_pairs
    assert means is not None
    row = page.locator("#list tbody tr", has=page.get_by_role("button", name=result.explorer.packed()["words"][0]))
    shown = [float(end.replace("−", "-")) for end in row.locator("td").nth(1).inner_text().split(" to ")]
    expected = [means.mean[0, 0] + side * means.reach[0, 0] for side in (-1, 1)]
    np.testing.assert_allclose(shown, expected, atol=1.5e-3)
    page.select_option("#measure", label="NBM")
    assert "fewer than k neighbors exist" in page.locator("#word-measures").inner_text()
    assert page.locator("#list tbody tr").count() == 0
    assert page.locator("#word-plot").inner_text() == "Undefined: fewer than k neighbors exist."


def test_hostile_words_are_shown_as_text(opened: Callable[..., Any], tmp_path: Path) -> None:
    ends = tuple(dict.fromkeys(end for pair in lexicon("du2021").sets.values() for end in pair))
    words = (*ends, *HOSTILE, "x1", "y1", "a1", "b1", *(f"word{number}" for number in range(120)))
    vectors = np.random.default_rng(5).standard_normal((len(words), 8))
    sets = {
        role: {"name": name, "words": [f"{role}1", other]}
        for role, name, other in zip("xyab", [*HOSTILE, "plain"], [*HOSTILE, "word1"], strict=True)
    }
    own = parse_lexicon({"name": "own", "kind": "test", "title": HOSTILE[0], **sets}, path="own.toml")
    models = [
        bg.Embedding(words, vectors + shift, name=name) for shift, name in zip((0, 0.1), HOSTILE[:2], strict=True)
    ]
    page = opened(bg.audit(models, lexicons=[own]).save(tmp_path / "report.html"))
    unfold(page, "figure[data-chart='bias-weat']")
    page.locator("figure[data-chart='bias-weat'] .mark-symbol path").first.hover()
    page.wait_for_selector("#tip:not([hidden])")
    assert page.title() == f"biasgauge: Bias audit of {HOSTILE[0]}, {HOSTILE[1]}"
    assert page.locator("img").count() == 0
    for row in page.locator(".forest .row").all():
        row.locator("summary").first.click()
        assert row.locator(".panel").is_visible()
    assert page.locator("img").count() == 0


def test_a_phone_shows_the_share_beside_its_lists_and_footnotes_in_one_column(opened: Callable[..., Any]) -> None:
    page = opened(width=390)
    table = page.locator("#error-rates table").first
    assert table.evaluate("table => table.getBoundingClientRect().right <= innerWidth")
    headings = page.locator(".quote h3, .quote h4").all()
    assert headings
    for heading in headings:  # the mark stands on the line of its title
        tops = heading.evaluate("""heading => {
          const range = document.createRange();
          range.selectNodeContents(heading);
          const mark = heading.querySelector("svg").getBoundingClientRect();
          const title = [...range.getClientRects()].find((rect) => rect.left > mark.right - 1);
          return [mark.top, title.bottom, title.top, mark.bottom];
        }""")
        assert tops[0] < tops[1]
        assert tops[2] < tops[3]
    assert page.locator(".footnotes").first.evaluate("list => getComputedStyle(list).columnCount") in {"1", "auto"}
