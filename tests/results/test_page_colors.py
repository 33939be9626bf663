"""Colors of charts become variables of the page, and show on light and on dark."""

from __future__ import annotations

import re
from typing import Any

import pytest

from biasgauge.results.page.colors import THEME, on_dark, style_sheet, themed


def luminance(color: str) -> float:
    """Relative luminance after WCAG 2.2."""
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_that_of_the_guidelines() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)  # the gray that just passes


def test_colors_become_variables_and_data_stay() -> None:
    spec = {
        "datasets": {"d": [{"color": "#16324a"}]},
        "mark": {"type": "bar", "color": "#16324a", "stroke": "white"},
        "encoding": {
            "y": {"field": "word", "sort": ["#16324a"]},
            "color": {"scale": {"range": ["#B3402A"], "domain": ["#b3402a"]}, "value": "red"},
        },
    }
    found: dict[str, Any] = themed(spec)
    assert found["datasets"] == spec["datasets"]
    assert found["mark"] == {"type": "bar", "color": "var(--c16324a)", "stroke": "var(--cffffff)"}
    assert found["encoding"]["y"]["sort"] == ["#16324a"]
    assert found["encoding"]["color"]["scale"] == {"range": ["var(--cb3402a)"], "domain": ["#b3402a"]}
    assert found["encoding"]["color"]["value"] == "red"
    assert spec["mark"]["color"] == "#16324a"  # type: ignore[index]  # what was given is as it was


def test_colors_that_are_mixed_by_number_stay_as_they_are() -> None:
    """A variable cannot be mixed with another; what is written on such colors must go on showing on them."""
    heat = {
        "layer": [
            {
                "mark": {"type": "rect", "stroke": "white"},
                "encoding": {"color": {"type": "quantitative", "scale": {"range": ["#b2423f", "#1f6f8b"]}}},
            },
            {"mark": "text", "encoding": {"color": {"condition": {"value": "white"}, "value": "#22303a"}}},
        ]
    }
    found = themed(heat)
    assert found["layer"][0]["encoding"] == heat["layer"][0]["encoding"]  # type: ignore[index]
    assert found["layer"][1] == heat["layer"][1]
    assert found["layer"][0]["mark"]["stroke"] == "var(--cffffff)"


def test_a_continuous_scheme_keeps_to_what_shows_on_both() -> None:
    assert themed({"scale": {"scheme": "viridis"}})["scale"]["scheme"]["extent"] == [0.2, 0.85]
    assert themed({"scale": {"scheme": "dark2"}}) == {"scale": {"scheme": "dark2"}}


@pytest.mark.parametrize("color", ["#16324a", "#5c6470", "#b3402a", "#a3262a", "#3f7d6e", "#5b6b8c", "#d9962f"])
def test_marks_show_on_dark(color: str) -> None:
    assert contrast(on_dark(color), THEME["paper"][1]) >= 2.9  # 3 is what graphics should have
    assert contrast(color, THEME["paper"][0]) >= 2.4


@pytest.mark.parametrize("band", ["#e4e6e2", "#dfe6ea", "#ffffff"])
def test_bands_stay_in_the_background(band: str) -> None:
    assert contrast(on_dark(band), THEME["paper"][1]) < 1.7


@pytest.mark.parametrize("name", ["ink", "soft", "link", "good", "part", "bad"])
@pytest.mark.parametrize("place", [0, 1])
def test_text_is_readable_on_paper_and_on_cards(name: str, place: int) -> None:
    for ground in ("paper", "card"):
        assert contrast(THEME[name][place], THEME[ground][place]) >= 4.5


def test_the_style_sheet_declares_what_is_used_for_light_and_dark() -> None:
    style = style_sheet('{"color":"var(--c16324a)"}')
    values = re.findall(r"--c16324a: (#\w{6});", style)
    assert values == ["#16324a", on_dark("#16324a"), on_dark("#16324a")]
    assert style.count("@media screen") == 2  # paper is always light
