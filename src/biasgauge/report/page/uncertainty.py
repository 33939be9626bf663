"""How sure the associations of stereotypes are: posteriors of distances, a group of charts for each lexicon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.report.figures import figures
from biasgauge.report.page.section import Cell, Chart, Section, Table, between, cell, charts_of, number, undefined

if TYPE_CHECKING:
    from biasgauge.audit import AuditResult
    from biasgauge.audit.uncertainty import AuditPosterior

ABOUT = (
    "Cosine distances of each protected word from the attributes of the stereotype about it, from those of other "
    "stereotypes, and from control words, in one hierarchical model (after Dobrzeniecka & Urbaniak 2023, with an "
    "effect of each attribute, which the published model lacks). 1 is unrelated, less is closer. A difference is "
    "called undecided when its interval neither leaves the region of differences too small to matter nor lies within "
    "it (Kruschke 2018)."
)
CHARTS = ("groups", "contrasts", "words")


def uncertainty_section(result: AuditResult) -> Section | None:
    """Posteriors with their intervals; charts of the first model alone, numbers of all."""
    if not result.uncertainty:
        return None
    several = len(result.models) > 1
    first = result.models[0].name
    charts: list[Chart] = []
    for one in result.uncertainty:
        if one.model == first and one.posterior is not None:
            charts += charts_of("uncertainty", figures(one.posterior), one.lexicon, CHARTS)
    model = ("Model",) if several else ()
    sentences = tuple(
        f"{sentence} ({one.model})" if several else sentence for one in result.uncertainty for sentence in one.sentences
    )
    return Section(
        title="How sure are the associations?",
        about=ABOUT + (f" The charts are of {first}." if several else ""),
        sentences=sentences,
        charts=tuple(charts),
        tables=(
            Table(
                "Mean cosine distance: posterior mean, interval and standard deviation",
                ("Lexicon", *model, "Connection", "Mean", "Interval", "Standard deviation"),
                tuple(row for one in result.uncertainty for row in _rows(one, several=several)),
                frozenset({"Mean", "Interval", "Standard deviation"}),
            ),
        ),
    )


def _rows(one: AuditPosterior, *, several: bool) -> list[tuple[Cell, ...]]:
    start = (cell(one.lexicon), *((cell(one.model),) if several else ()))
    if one.posterior is None:
        return [(*start, cell(None), *undefined(one.reason, 3))]
    return [
        (*start, cell(group.connection), *undefined(group.reason, 3))
        if group.mean is None
        else (
            *start,
            cell(group.connection),
            number(group.mean, 3),
            between(group.low, group.high, 3),
            number(group.sd, 3),
        )
        for group in one.posterior.groups
    ]
