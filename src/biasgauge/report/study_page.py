"""The page of a study: one HTML file that needs nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgauge.report.page.document import whole_page
from biasgauge.report.page.study import study_sections

if TYPE_CHECKING:
    from collections.abc import Mapping


def study_page(summary: Mapping[str, Any]) -> str:
    """The whole page as HTML. Everything that comes from files is escaped; only the page's own scripts may run.

    Args:
        summary: what the study was and what it found, as JSON holds it:

            - `name`, `title`, `about`, `seed`;
            - `corpora`, `models`, `vectors`, `mitigations`, `scores`: the tables of the study's file, name → settings;
            - `results`: a list of `{"name": "trust/sgns/wiki", "part": "analyses" or "tasks", "kind": "reliability",
              "of": "sgns/wiki", "key", "result": the result's to_dict}`;
            - `failures`: a list of `{"label", "step", "error"}`; `missing`: names of results that are not there;
            - `toml`: the study's file itself.

            All but `name` and `results` may be left out.
    """
    whole = {"title": "", "about": "", "seed": 0, "failures": [], "missing": [], "toml": "", **summary}
    return whole_page("study.html", whole, study_sections(summary))
