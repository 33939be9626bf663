"""The page of an audit in a real browser, opened from disk: no error, no request, and everything on it works."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import biasgauge as bg
from biasgauge.embeddings import load_default_replicates
from biasgauge.lexicons import lexicon, parse_lexicon
from biasgauge.scores import Weat

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
def audited() -> bg.AuditResult:
    return bg.audit(load_default_replicates()[:2], points=points())


@pytest.fixture(scope="module")
def path(audited: bg.AuditResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return audited.save(tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture
def opened(open_page: Callable[..., Any], path: Path) -> Callable[..., Any]:
    """Opens the page of the audit, or another one."""
    return lambda file=path, **settings: open_page(file, **settings)


def texts(page: Any, selector: str) -> list[str]:  # noqa: ANN401 - a page of the browser
    return [one.strip() for one in page.locator(selector).all_text_contents()]


def test_every_chart_is_drawn_and_named(opened: Callable[..., Any]) -> None:
    page = opened()
    figures = page.locator("figure[data-chart]")
    assert figures.count() >= 12
    for figure in figures.all():
        title = figure.locator("h3").text_content()
        assert figure.locator("svg[aria-label], svg [aria-label]").count() > 0, title
        assert title == figure.locator(".plot [role='graphics-document']").get_attribute("aria-label")
        assert figure.locator("details table tbody tr").count() > 0, title


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_screen(opened: Callable[..., Any], width: int, scheme: str) -> None:
    page = opened(width=width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for plot in page.locator("figure:not(.away) .plot").all():
        assert plot.evaluate("one => one.scrollWidth - one.clientWidth") <= 0, plot.text_content()


def test_hovering_a_point_shows_its_numbers(opened: Callable[..., Any], audited: bg.AuditResult) -> None:
    page = opened()
    one = next(one for one in audited.bias if one.name == "weat7")
    points = page.locator("figure[data-chart='bias-weat'] .mark-symbol path")
    points.nth(1 if audited.bias[0].name == "weat1" else 0).hover()
    page.wait_for_selector("#tip:not([hidden])")
    tip = page.locator("#tip").inner_text()
    assert "concept" in tip
    assert one.value is not None
    contrasts = [bias.contrast for bias in audited.bias if isinstance(bias, Weat) and bias.contrast is not None]
    shown = {f"{contrast.value:.4g}" for contrast in contrasts}
    assert any(number in tip for number in shown)
    assert "model" in tip
    page.mouse.move(1, 1)
    page.wait_for_selector("#tip", state="hidden")


def test_points_of_intrinsic_against_extrinsic_tell_what_they_are(
    opened: Callable[..., Any], audited: bg.AuditResult
) -> None:
    page = opened()
    chart = page.locator("figure[data-chart='extrinsic-points']")
    assert chart.locator(".mark-symbol path").count() == 2 * 12 * 2  # the mean over seeds is a point
    assert chart.locator(".mark-line path").count() == 4  # a line for each panel
    chart.locator(".mark-symbol path").nth(3).hover()
    page.wait_for_selector("#tip:not([hidden])")
    told = page.locator("#tip").inner_text().split("\n")
    assert told[::2] == ["weat", "gap", "test", "method", "name", "strength", "seed"]
    assert told[-1] == "0, 1"
    assert audited.extrinsic is not None
    rows = page.locator("#extrinsic > .scroll").first.locator("tbody tr")
    assert rows.count() == len(audited.extrinsic.groups)
    assert f"{audited.extrinsic.groups[1].r:.2f}" in rows.nth(1).inner_text().replace("−", "-")


def test_points_of_every_chart_are_reached_by_keyboard(opened: Callable[..., Any]) -> None:
    page = opened()
    for figure in page.locator("figure:not(.away) .plot").all():
        assert figure.get_attribute("tabindex") == "0", figure.text_content()
        assert re.search(r": \d+ points?; arrow keys go from one to the next$", figure.get_attribute("aria-label"))
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
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.keyboard.press("Enter")
    assert page.locator("figure[data-chart='extrinsic-points'] details table").first.is_visible()


def test_tables_are_sorted_by_number_and_back(opened: Callable[..., Any], audited: bg.AuditResult) -> None:
    page = opened()
    table = page.locator("#bias > .scroll table")
    head = table.locator("thead th", has_text="value")
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    column = texts(page, "#bias > .scroll table tbody tr td:nth-child(4)")
    values = [float(one.split("[")[0].replace("−", "-")) for one in column if not one.startswith("undefined")]
    assert values == sorted(values)
    assert len(values) == sum(bias.value is not None for bias in audited.bias)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert texts(page, "#bias > .scroll table tbody tr td:nth-child(4)")[0].startswith(f"{max(values):.3f}")


def test_rows_are_filtered(opened: Callable[..., Any]) -> None:
    page = opened()
    page.locator("#reliability article > .controls input").first.fill("occ18")
    visible = page.locator("#reliability article").first.locator(".scroll").first.locator("tbody tr:visible")
    assert visible.count() > 0
    assert all("occ18" in one for one in visible.all_text_contents())
    assert "rows" in page.locator("#reliability article > .controls [role=status]").first.inner_text()


def test_one_group_of_charts_is_shown_at_a_time(opened: Callable[..., Any]) -> None:
    page = opened()
    page.select_option("select[data-groups=uncertainty]", "religion")
    shown = page.locator("#uncertainty figure:visible")
    assert {one.get_attribute("data-group") for one in shown.all()} == {"religion"}
    assert shown.count() == 3


def test_a_word_is_looked_up_under_every_measure_and_pair(opened: Callable[..., Any], audited: bg.AuditResult) -> None:
    page = opened()
    page.fill("#word", "engineer")
    assert "engineer" in page.locator("#word-title").inner_text()
    vectors = load_default_replicates()[0]
    expected = bg.score(vectors, pairs="du2021", words=["engineer"]).to_numpy()[:, :, 0, 0].astype(float)
    page.locator("#word-pairs").evaluate("table => (table.closest('details').open = true)")
    rows = page.locator("#word-pairs tbody tr")
    for place in (0, 7, 22):
        cells = [one.split("\n")[0] for one in rows.nth(place).locator("td").all_inner_texts()]
        found = [float(one.replace("−", "-")) for one in cells]
        np.testing.assert_allclose(found, expected[:, place], atol=6e-4)
    assert rows.count() == 24
    means = [float(one.replace("−", "-")) for one in texts(page, "#word-measures tbody tr td:nth-child(2)")]
    np.testing.assert_allclose(means, expected.mean(axis=1), atol=6e-4)
    assert audited.explorer is not None
    over = audited.explorer.over_replicates
    assert over is not None
    assert audited.explorer.scores is not None
    at = audited.explorer.scores.words.index("engineer")
    held = [float(one.replace("−", "-")) for one in texts(page, "#word-measures tbody tr td:nth-child(4)")]
    np.testing.assert_allclose(held, over.mean[:, at], atol=6e-4)


def test_the_explorer_answers_to_the_keyboard_and_to_choices(opened: Callable[..., Any]) -> None:
    page = opened()
    page.focus("#word")
    page.keyboard.press("Control+A")
    page.keyboard.type("zzzz")
    page.keyboard.press("Tab")
    assert "not among the 2,500 words" in page.locator("#word-problem").inner_text()
    page.fill("#word", "Nur")
    assert "nurse" in [one.get_attribute("value") for one in page.locator("#suggestions option").all()]
    page.select_option("#measure", label="ripa")
    page.select_option("#pair", label="he – she")
    page.select_option("#side", label="second")
    assert page.locator("#list-title").inner_text() == "Words with the largest scores: ripa, he – she"
    scores = [float(one.replace("−", "-")) for one in texts(page, "#list tbody tr td:nth-child(2)")]
    assert scores == sorted(scores)
    assert max(scores) < 0
    page.fill("#list-filter", "wom")
    words = texts(page, "#list tbody th")
    assert "woman" in words
    assert all("wom" in word for word in words)
    page.locator("#list .word", has_text="woman").first.press("Enter")
    assert page.locator("#word-title").inner_text() == "“woman” on every pair: ripa"
    page.click("#next")
    assert page.locator("#word-title").inner_text() != "“woman” on every pair: ripa"
    page.click("#previous")
    assert page.locator("#word-title").inner_text() == "“woman” on every pair: ripa"
    page.locator("#word-plot .mark-symbol path").first.hover()
    page.wait_for_selector("#tip:not([hidden])")
    assert page.locator("#tip").inner_text().split("\n")[:2] == ["word", "woman"]


def test_one_small_model_has_intervals_over_pairs_and_says_what_is_undefined(
    opened: Callable[..., Any], tmp_path: Path
) -> None:
    words = ("he", "she", "man", "woman", "boy", "girl", "nurse", "judge")
    tiny = bg.Embedding(words, np.random.default_rng(3).standard_normal((8, 5)), name="tiny")
    result = bg.audit(tiny)
    page = opened(result.save(tmp_path / "report.html"))
    assert result.explorer is not None
    means = result.explorer.over_pairs
    assert means is not None
    low, high = (means.mean[0, 0] + side * means.reach[0, 0] for side in (-1, 1))
    row = page.locator("#list tbody tr", has=page.get_by_role("button", name=result.explorer.packed()["words"][0]))
    assert row.locator("td").nth(1).inner_text() == f"{low:.3f} to {high:.3f}".replace("-", "−")
    page.select_option("#measure", label="nbm")
    assert "fewer than k neighbors exist" in page.locator("#word-measures").inner_text()
    assert page.locator("#list tbody tr").count() == 0
    assert page.locator("#word-plot").inner_text() == "Undefined: fewer than k neighbors exist."


def test_dark_pages_are_dark_and_so_are_their_charts(opened: Callable[..., Any]) -> None:
    page = opened(color_scheme="light")

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


def test_print_shows_every_table_and_no_controls(opened: Callable[..., Any]) -> None:
    page = opened()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("details:not([open])").count() == 0
    assert page.locator("nav:visible, .controls:visible, #theme:visible").count() == 0
    hidden = [one for one in page.locator("main table").all() if not one.is_visible()]
    assert hidden == []
    assert page.locator("#uncertainty figure:visible").count() == page.locator("#uncertainty figure").count() >= 6
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("main details[open]").count() == 0
    assert len(page.pdf(format="A4")) > 50_000


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
    repeated = text_shown(page.pdf(format="A4"))
    assert page.evaluate("[...document.querySelectorAll('#extrinsic thead button')].length") > 5
    page.add_style_tag(content="@media print { thead button { display: inline-block !important } }")
    assert repeated > text_shown(page.pdf(format="A4")) > 500


def test_without_scripts_every_number_is_still_there(opened: Callable[..., Any], audited: bg.AuditResult) -> None:
    page = opened(java_script_enabled=False)
    assert page.locator("noscript").count() == 2
    assert page.locator("button:visible, select:visible, input:visible").count() == 0
    text = page.locator("main").text_content()
    for one in audited.bias:
        assert one.value is None or f"{one.value:.2f}" in text
    assert isinstance(audited.reliability, bg.agreement.ReliabilityResult)
    drawn = audited.reliability.to_frame().query("of == 'pair' and reliability == 'test_retest' and list == 'occ16'")
    assert len(drawn) == 3 * 23
    for record in drawn.itertuples():
        assert f"{record.value:.4g}" in text


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
    for word in HOSTILE:
        page.fill("#word", word)
        page.locator("#word").press("Tab")
        assert page.locator("#word-title").text_content() == f"“{word}” on every pair: dbwa"
        page.locator("#word-plot .mark-symbol path").first.hover()
        page.wait_for_selector("#tip:not([hidden])")
        assert word in page.locator("#tip bdi").all_text_contents()
    page.locator("figure[data-chart='bias-weat'] .mark-symbol path").first.hover()
    page.wait_for_selector("#tip:not([hidden])")
    assert page.title() == f"biasgauge: Bias audit of {HOSTILE[0]}, {HOSTILE[1]}"
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 5
