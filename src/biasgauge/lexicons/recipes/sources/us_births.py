"""Names in US birth records, by share of boys and by median year of birth."""

from __future__ import annotations

from collections.abc import Iterator

from biasgauge.lexicons.recipes.word_source import Candidate, SourceRequest, StandardFile, WordSource

FILE = StandardFile("ssa_births_1880_2016.csv", "CC0 1.0", "US Social Security Administration, births 1880-2016")
_COLUMNS = ("name", "births", "male_share", "year_p25", "year_median", "year_p75")


def _names(request: SourceRequest) -> Iterator[Candidate]:
    """Names, the most frequent first."""
    share = request.settings.bounds("male_share", 0, 1)
    years = request.settings.bounds("year_median", 0, 3000)
    middle = request.settings.bounds("middle_half", 0, 3000)
    births = request.settings.number("births", default=0)
    rows = []
    for row, line in request.rows(FILE, _COLUMNS):
        count, boys, early, median, late = (request.number(row, column, line) for column in _COLUMNS[1:])
        inside = share[0] <= boys <= share[1] and years[0] <= median <= years[1] and count >= births
        if inside and middle[0] <= early and late <= middle[1]:
            rows.append(
                (-count, row["name"], f"{count:,.0f} births, share of boys {boys:.3f}, median year {median:.0f}")
            )
    for _, name, evidence in sorted(rows):
        yield Candidate(name, evidence)


SOURCE = WordSource(
    "us_births",
    "First names of US birth records: male_share, year_median, middle_half (years of the 25 % and 75 % points), each "
    "from and to; births, at least; file.",
    _names,
)
