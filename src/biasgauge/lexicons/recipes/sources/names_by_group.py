"""First names by the share of bearers who report to belong to a group."""

from __future__ import annotations

from collections.abc import Iterator

from biasgauge.core import did_you_mean
from biasgauge.lexicons import shown
from biasgauge.lexicons.recipes.word_source import Candidate, SourceRequest, StandardFile, WordSource

FILE = StandardFile(
    "tzioumis2018_race_given_first_name.csv",
    "CC0 1.0",
    "Tzioumis (2018), Demographic aspects of first names, Scientific Data 5:180025",
)
_NAME = "name"


def _names(request: SourceRequest) -> Iterator[Candidate]:
    """Names, those with the largest share first."""
    group = request.settings.text("group")
    low, high = request.settings.bounds("share", 0, 1)
    rows = []
    for row, line in request.rows(FILE, [_NAME]):
        if group not in row or group == _NAME:
            groups = [column for column in row if column != _NAME]
            hint = did_you_mean(group, groups) or f"; it has {', '.join(groups)}"
            request.settings.fail(
                f"'{request.settings.key('group')}' must be a column of {request.path.name}, found {shown(group)}{hint}"
            )
        share = request.number(row, group, line)
        if low <= share <= high:
            name = row[_NAME].title() if row[_NAME].isupper() else row[_NAME]
            rows.append((-share, name, f"share {group} {share:.3f}"))
    for _, name, evidence in sorted(rows):
        yield Candidate(name, evidence)


SOURCE = WordSource(
    "names_by_group",
    "First names by self-reported group (Tzioumis 2018, or a CSV file with a column `name` and one of shares for each "
    "group): group; share, from and to; file.",
    _names,
)
