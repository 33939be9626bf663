"""In a notebook results show themselves: every public result class has an HTML form."""

from __future__ import annotations

import inspect

import biasgauge as bg

SHOW_NOTHING = {
    "Descent", "Distances", "Interval", "Lookup", "Mitigation", "Notice", "Priors", "Recovery", "Recipe", "Resampling",
    "Rules", "ScoreStore", "Settings", "Spreads", "Subwords", "TokenCorpus",
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
