"""`biasgauge reliability`: do the scores in a store agree with themselves?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import App

from biasgauge.cli.options import DEFAULTS, Options
from biasgauge.cli.reliability_tables import show
from biasgauge.cli.screen import console, print_json, progress
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge.reliability import DecisionStudy, VarianceComponents
    from biasgauge.scores import ScoreStore

EPILOGUE = """\
STORE is a folder that `biasgauge score` made of several replicates: models
trained alike but for the seed or the sample of the corpus.

Test-retest says whether scores hold when the model is trained again, inter-rater
whether measures agree, internal consistency whether the words of a query (and
the pairs) measure one thing. 1 is perfect, about 0 no better than chance. Bands:
Koo & Li 2016 for ICCs (.5 moderate, .75 good, above .9 excellent), Nunnally 1978
for alpha (.7 acceptable). Components say what scores vary with, and how many
replicates and pairs would be enough for --target.

Examples:
  biasgauge score seed*.bin --words google10k --out scores
  biasgauge reliability scores
  biasgauge reliability scores --lists occ16,occ18 --queries du2021_queries
  biasgauge reliability scores --figures figures
  biasgauge reliability scores --json > reliability.json
"""

app = App(name="reliability", help_epilogue=EPILOGUE)


@app.default
def reliability(
    store: Path,
    /,
    *,
    lists: str | None = None,
    queries: str | None = None,
    min_coverage: float = 0.8,
    level: float = 0.95,
    target: float = 0.8,
    figures: Path | None = None,
    options: Options = DEFAULTS,
) -> None:
    """Say how far scores agree over replicates, over measures, and within queries and pairs.

    Args:
        store: a folder of scores
        lists: word lists, separated by commas; by default the shipped ones that the scores cover
        queries: lexicons whose sets stand for one concept each, or NAME:SET, separated by commas
        min_coverage: share of the words of a list or query that must have scores
        level: nominal coverage of the intervals
        target: reliability of a word's mean score that a design should reach
        figures: a folder for figures, SVG and PNG
        options: those of every command
    """
    import biasgauge as bg  # noqa: PLC0415 - numpy is imported only by commands that compute

    scores = bg.ScoreStore.open(store)
    with progress(options, "agreement") as report:
        found = bg.reliability(
            scores,
            lists=_names(lists),
            queries=_names(queries),
            min_coverage=min_coverage,
            level=level,
            random_state=options.seed,
            progress=report,
        )
        studies = [_study(scores, name, level, target, options.seed) for name in _analyses(scores)]
    if figures is not None:
        drawn = bg.figures(found)
        for one in studies:
            if not isinstance(one, dict):
                kind = one[0].measure or "all"
                for part in one:
                    drawn |= {f"{name}-{kind}": chart for name, chart in bg.figures(part).items()}
        bg.save_figures(drawn, figures)
    if options.json:
        content = found.to_dict()
        settings = {**content.pop("settings"), "target": target, "store": str(store)}
        content["components"] = [one if isinstance(one, dict) else one[0].to_dict() for one in studies]
        content["design"] = [one if isinstance(one, dict) else one[1].to_dict() for one in studies]
        print_json(options, content, settings=settings, warnings=content.pop("warnings"))
    else:
        screen = console(options)
        sizes = {"measure": scores.measures, "pair": scores.pairs, "word": scores.words, "model": scores.models}
        screen.print(" × ".join(f"{len(one):,} {axis}{'s' * (len(one) != 1)}" for axis, one in sizes.items()))
        show(found, studies, screen)


def _analyses(scores: ScoreStore) -> list[str | None]:
    """Every measure alone; all of them together where there are several."""
    return [*scores.measures, *([None] if len(scores.measures) > 1 else [])]


def _study(
    scores: ScoreStore, measure: str | None, level: float, target: float, seed: int
) -> tuple[VarianceComponents, DecisionStudy] | dict[str, Any]:
    """Components and the designs that follow from them; or why there are none."""
    import biasgauge as bg  # noqa: PLC0415 - as in reliability

    try:
        components = bg.variance_components(scores, measure=measure, level=level, random_state=seed)
        return components, bg.decision_study(components, target=target)
    except ParameterError as problem:
        if not 0 < target < 1:
            raise
        return {"measure": measure, "components": None, "designs": None, "reason": str(problem)}


def _names(typed: str | None) -> list[str] | None:
    return None if typed is None else [name.strip() for name in typed.split(",") if name.strip()]
