"""In a notebook results show themselves: every public result class has an HTML form."""

from __future__ import annotations

import inspect

import biasgauge as bg

SHOW_NOTHING = {
    "Descent", "Distances", "Interval", "Lookup", "Mitigation", "Notice", "Priors", "Recovery", "Recipe", "Resampling",
    "Rules", "ScoreStore", "Settings", "Spreads", "Study", "Subwords", "TokenCorpus",
}  # fmt: skip
"""Settings and handles: their own names and values are all there is to show."""


def test_every_result_has_an_html_form() -> None:
    classes = [
        value
        for name in bg.__all__
        if inspect.isclass(value := getattr(bg, name)) and not issubclass(value, BaseException)
    ]
    results = [one for one in classes if hasattr(one, "to_frame") or hasattr(one, "to_dict")]
    assert len(results) > 20
    without = [one.__name__ for one in results if not hasattr(one, "_repr_html_") and one.__name__ not in SHOW_NOTHING]
    assert without == []


def test_direct_bias_shows_its_value_and_its_interval() -> None:
    vectors = bg.load_default(3_000)
    found = bg.direct_bias(vectors, pairs="bolukbasi2016", words=["nurse", "teacher", "judge"], min_coverage=0)
    shown = found._repr_html_()
    assert f"<b>{found.value:.3f}</b>" in shown
    assert found.interval is not None
    assert f"[{found.interval.low:.3f}, {found.interval.high:.3f}]" in shown
    lost = bg.direct_bias(vectors, pairs="bolukbasi2016", words=["<b>nobody"])
    assert lost._repr_html_().startswith("<p>direct bias: undefined: ")
    assert "<b>nobody" not in lost._repr_html_()
