"""`biasgauge bayes`: posterior of cosine distances between protected words and attributes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from biasgauge.cli.from_function import Option, command
from biasgauge.cli.outcome import Outcome
from biasgauge.cli.screen import console, progress
from biasgauge.core import JsonObject
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge.analyses.posterior import DistanceTable
    from biasgauge.cli.options import Options

EXAMPLES = """\
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
  biasgauge bayes vectors.bin --lexicon religion --by-group
"""
_NO_LEXICON = "--lexicon is missing: which words to compare, as in --lexicon religion"
_OF_DISTANCES = ("human", "neutral", "duplicates", "min_coverage", "case_fallback")
_BY_GROUP = ("interval", "prob", "draws", "priors", "rope")
"""Settings of the model in which attributes have an effect with each group."""


def _by_group(arguments: JsonObject, options: Options) -> Outcome:
    """The model by group, which is one of its own: crossed, drawn exactly, of one set of distances."""
    from biasgauge.analyses import posterior as uncertainty
    from biasgauge.vectors import several_models

    if arguments["variant"] not in ("per-connection", "crossed") or "sampler" in arguments:
        raise ParameterError("--by-group is a model of its own, and drawn exactly: leave --variant and sampler out.")
    for name in ("after", "band", "width", "word"):
        if arguments.pop(name) is not None:
            raise ParameterError(f"--{name} does not go with --by-group.")
    vectors = arguments["vectors"]
    if vectors is not None and several_models(vectors) is not None:
        raise ParameterError("--by-group is asked of one model; name one.")
    asked = {name: arguments.pop(name) for name in _OF_DISTANCES if name in arguments}
    (table,) = _tables(vectors, arguments["lexicon"], arguments["distances"], None, asked, options)
    settings = {name: value for name, value in arguments.items() if name in _BY_GROUP}
    result = uncertainty.bayes_by_group(table, random_state=options.seed, **settings)
    return Outcome(result, settings=result.settings)


def run(arguments: JsonObject, options: Options) -> Outcome:
    """The posterior of distances, or of their change; beside it the share within a band, and a plan."""
    from biasgauge.analyses import posterior as uncertainty
    from biasgauge.vectors import several_models

    if arguments.pop("by_group"):
        return _by_group(arguments, options)
    vectors, distances, after = (arguments.pop(name) for name in ("vectors", "distances", "after"))
    band, width, word = (arguments.pop(name) for name in ("band", "width", "word"))
    contrast: Any = tuple(arguments.pop("contrast", ("associated", "different")))
    if after is not None and width is not None:
        raise ParameterError("--width plans for one set of distances; it does not go with --after.")
    if word is not None and after is not None:
        raise ParameterError("--word draws one set of distances; it does not go with --after.")
    asked = {name: arguments.pop(name) for name in _OF_DISTANCES if name in arguments}
    if vectors is not None and after is None and (views := several_models(vectors)) is not None:
        if band is not None or width is not None or word is not None:
            raise ParameterError("--band, --width and --word are asked of one model; name one, or leave them out.")
        if arguments.get("lexicon") is None:
            raise ParameterError(_NO_LEXICON)
        each: Any = uncertainty.bayes
        return Outcome(each(views, arguments.pop("lexicon"), random_state=options.seed, **arguments, **asked))
    tables = _tables(vectors, arguments.pop("lexicon"), distances, after, asked, options)
    if (arguments["variant"] == "student" or arguments.get("sampler") == "nuts") and not options.quiet:
        console(options, aside=True).print("sampling with NUTS: a minute or more")
    compute: Any = uncertainty.bayes if after is None else uncertainty.bayes_change
    result: Any = compute(*tables, random_state=options.seed, **arguments)
    also: JsonObject = {}
    if band is not None:
        size = None if band == "mac" else float(band)
        both: JsonObject = {"after": tables[1]} if len(tables) > 1 else {}
        also["within_band"] = uncertainty.within_band(tables[0], band=size, random_state=options.seed, **both)
    if width is not None:
        also["plan"] = uncertainty.plan_attributes(result, width=width, contrast=contrast)
    return Outcome(
        result,
        also=also,
        settings=(result if after is None else result.after).settings,
        charts={} if word is None else {"word": word},
    )


def _tables(
    vectors: Path | None,
    lexicon: str | None,
    distances: Path | None,
    after: Path | None,
    asked: JsonObject,
    options: Options,
) -> list[DistanceTable]:
    """The distances to fit, and those after a change where there are any."""
    from biasgauge.analyses import posterior as uncertainty

    if (vectors is None) == (distances is None):
        raise ParameterError("Name a vector file and --lexicon, or --distances FILE; one of them, not both.")
    if vectors is None:
        if lexicon is not None:
            raise ParameterError("--lexicon goes with vectors; the rows of --distances say how words are connected.")
        files = [path for path in (distances, after) if path is not None]
        return [uncertainty.read_distances(path, duplicates=asked["duplicates"]) for path in files]
    if lexicon is None:
        raise ParameterError(_NO_LEXICON)
    files = [path for path in (vectors, after) if path is not None]
    with progress(options, "reading vectors") as report:
        return [uncertainty.distances(path, lexicon, progress=report, **asked) for path in files]


app = command(
    "analyses.posterior:bayes",
    arguments="vectors",
    options="lexicon distances after variant interval prob duplicates draws min_coverage case_fallback band width word "
    "by_group",
    examples=EXAMPLES,
    terms="contrast MAC HPDI ROPE",
    sources=("analyses.posterior:plan_attributes",),
    changes={
        "vectors": Option(type=Path | None, default=None),
        "lexicon": Option('a lexicon of kind "stereotypes" or "test", or your own TOML file'),
        "distances": Option(
            "a file of cosine distances instead of vectors, as the paper's authors published them",
            type=Path | None,
            default=None,
        ),
        "after": Option(
            "vectors (or distances) after a change, such as debiasing: what did it do, on the same words?",
            type=Path | None,
            default=None,
        ),
        "variant": Option("the model; crossed adds an effect of each attribute, student has heavier tails"),
        "band": Option(
            "share of similarities within this much of 0, by connection; mac takes 1 − MAC, as the paper does",
            type=Literal["mac"] | float | None,
            default=None,
        ),
        "width": Option(
            "how many attribute words until the interval of a contrast is narrower than this?",
            type=float | None,
            default=None,
        ),
        "by_group": Option(
            "the crossed model in which an attribute may also lie nearer to one group than to another: wider intervals "
            "that hold where attributes do so",
            type=bool,
            default=False,
        ),
        "word": Option("with --figures: draw the distances of this protected word too", type=str | None, default=None),
    },
    call=run,
    figures=True,
    fixed="posterior words assurance",
)
