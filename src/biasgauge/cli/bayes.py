"""`biasgauge bayes`: Dobrzeniecka & Urbaniak's published model of cosine distances."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from biasgauge import vectors as embeddings
from biasgauge.analyses import posterior
from biasgauge.cli.command import DRAW, CaseFallback, FigureOptions, MinCoverage, Outcome, VectorFile, command
from biasgauge.cli.option_groups import Rare
from biasgauge.cli.screen import console, progress
from biasgauge.cli.typed_values import typed_names, typed_words
from biasgauge.core import JsonObject, WordPolicy
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge.analyses.posterior import DistanceTable

EXAMPLES = """\
The model of Dobrzeniecka & Urbaniak (2023) as published, with variants. For the
contrast of a test, with an interval that covers: biasgauge posterior.
1 means unrelated, less means closer. Associated: a word and an attribute of the
stereotype about its own group; different: of another group's; human, neutral:
control words. Intervals are the narrowest that hold 89 % of the posterior.
Priors, control words and the sampler are further settings, as in
--set 'priors.group=normal(1, 0.3)' --set human=none --set sampler=nuts.

Examples:
  biasgauge bayes vectors.bin --lexicon religion
  biasgauge bayes vectors.bin --lexicon weat7 --variant crossed
  biasgauge bayes --distances religion_reddit.csv.gz --json
  biasgauge bayes --distances race.csv --duplicates keep --interval percentile
  biasgauge bayes before.bin --lexicon gender --after debiased.bin
  biasgauge bayes vectors.bin --lexicon religion --band mac --width 0.05
  biasgauge bayes vectors.bin --lexicon religion --figures figures --word imam
"""
NO_LEXICON = "--lexicon is missing: which words to compare, as in --lexicon religion"
SETTINGS = {
    "priors": str,
    "human": typed_words,
    "neutral": typed_words,
    "rope": float | None,
    "sampler": str,
    "contrast": typed_names,
}


@command(examples=EXAMPLES, terms="contrast MAC HPDI ROPE", settings=SETTINGS)
def bayes(
    vectors: VectorFile | None = None,
    /,
    *,
    lexicon: str | None = None,
    distances: Path | None = None,
    after: Path | None = None,
    variant: Literal["per-connection", "single-sigma", "intercept", "student", "crossed"] = "per-connection",
    interval: Rare[Literal["hpdi", "percentile"]] = "hpdi",
    prob: float = 0.89,
    duplicates: Rare[Literal["drop", "keep"]] = "drop",
    draws: Rare[int] = 4000,
    min_coverage: MinCoverage = 0.8,
    case_fallback: CaseFallback = False,
    band: Rare[Literal["mac"] | float | None] = None,
    width: Rare[float | None] = None,
    word: str | None = None,
    options: FigureOptions = DRAW,
    **further: Any,
) -> Outcome:
    """Fit Dobrzeniecka & Urbaniak's published model of the distances of words from stereotypes.

    Args:
        lexicon: a lexicon of kind "stereotypes" or "test", or your own TOML file
        distances: a file of cosine distances instead of vectors, as the paper's authors published them
        after: vectors (or distances) after a change, such as debiasing: what did it do, on the same words?
        variant: the model; crossed adds an effect of each attribute, student has heavier tails
        interval: "hpdi", or "percentile" as in the published figures
        prob: probability inside the intervals
        duplicates: "drop" counts repeated rows once, "keep" as often as they stand there, as published
        draws: how many draws
        band: share of similarities within this much of 0, by connection; mac takes 1 − MAC, as the paper does
        width: how many attribute words until the interval of a contrast is narrower than this?
        word: with --figures: draw the distances of this protected word too
    """
    contrast: Any = tuple(further.pop("contrast", ("associated", "different")))
    lookup: JsonObject = {name: further.pop(name) for name in ("human", "neutral") if name in further}
    lookup |= {"duplicates": duplicates, "policy": WordPolicy.from_options(min_coverage, case_fallback)}
    model: JsonObject = {"interval": interval, "prob": prob, "draws": draws, "random_state": options.seed, **further}
    views = None if vectors is None or after is not None else embeddings.several_models(vectors)
    extras = {"after": after, "band": band, "width": width, "word": word}
    if views is not None:
        _refuse(extras, "is asked of one model; name one, or leave it out")
        if lexicon is None:
            raise ParameterError(NO_LEXICON)
        each_view: Any = posterior.bayes
        return Outcome(each_view(views, lexicon, variant=variant, **model, **lookup))
    if after is not None:
        _refuse({"width": width, "word": word}, "is about one set of distances; it does not go with --after")
    tables = _read_tables(vectors, lexicon, distances, after, lookup, options)
    if (variant == "student" or further.get("sampler") == "nuts") and not options.quiet:
        console(options, aside=True).print("sampling with NUTS: a minute or more")
    fit: Any = posterior.bayes if after is None else posterior.bayes_change
    result = fit(*tables, variant=variant, **model)
    also: JsonObject = {}
    if band is not None:
        size = None if band == "mac" else float(band)
        changed: JsonObject = dict(zip(["after"], tables[1:], strict=False))
        also["within_band"] = posterior.within_band(tables[0], band=size, random_state=options.seed, **changed)
    if width is not None:
        also["plan"] = posterior.plan_attributes(result, width=width, contrast=contrast)
    settings = (result if after is None else result.after).settings
    return Outcome(result, also=also, settings=settings, charts={} if word is None else {"word": word})


def _refuse(typed: JsonObject, reason: str) -> None:
    """Refuse options that do not go with another one."""
    for name, value in typed.items():
        if value is not None:
            raise ParameterError(f"--{name} {reason}.")


def _read_tables(
    vectors: Path | None,
    lexicon: str | None,
    distances: Path | None,
    after: Path | None,
    lookup: JsonObject,
    options: FigureOptions,
) -> list[DistanceTable]:
    """Read the distances to fit, and those after a change where there are any."""
    if (vectors is None) == (distances is None):
        raise ParameterError("Name a vector file and --lexicon, or --distances FILE; one of them, not both.")
    files = [path for path in (vectors or distances, after) if path is not None]
    if vectors is None:
        if lexicon is not None:
            raise ParameterError("--lexicon goes with vectors; the rows of --distances say how words are connected.")
        return [posterior.read_distances(path, duplicates=lookup["duplicates"]) for path in files]
    if lexicon is None:
        raise ParameterError(NO_LEXICON)
    with progress(options, "reading vectors") as report:
        return [posterior.distances(path, lexicon, progress=report, **lookup) for path in files]
