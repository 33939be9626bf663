"""`biasgauge mitigate`: debias or overbias vectors, and say what that did."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge.cli.from_function import NONE, Option, command
from biasgauge.cli.outcome import Outcome
from biasgauge.cli.outputs import Output
from biasgauge.cli.screen import progress
from biasgauge.cli.words import typed_words
from biasgauge.core import JsonObject

if TYPE_CHECKING:
    from biasgauge.cli.options import Options
    from biasgauge.vectors import Embedding

EXAMPLES = """\
Methods: hard, double_hard, half_sibling, ran (along a direction of pairs),
multiclass_hard, multiclass_soft (several classes), attract_repel (the words of
a test). Each vector keeps its length unless --norms unit. Strength 0 changes
nothing, 1 is the whole method. With --effect: bias before and after, what else
moved, and whether the bias can still be recovered, which it often can. Settings
of one method alone go by --set, as in --set components=2.

Examples:
  biasgauge mitigate vectors.bin --out debiased.bin
  biasgauge mitigate vectors.bin --strength 0.5 --effect
  biasgauge mitigate vectors.bin --direction overbias --strength 2
  biasgauge mitigate vectors.bin --method attract_repel --lexicon weat6b,weat7
  biasgauge mitigate vectors.bin --method multiclass_hard --lexicon religion
  biasgauge mitigate views:minilm --out debiased   views of a transformer
  biasgauge mitigate --effect --json      the vectors that ship with the package
"""
_OF_METHODS = ("lexicon", "equalize", "specific", "words", "as_published")


def run(arguments: JsonObject, options: Options) -> Outcome:
    """Change the vectors; of the settings that only some methods have, those that were typed are given."""
    from biasgauge.mitigation import mitigate_to_file
    from biasgauge.vectors import several_models

    typed = {name: arguments.pop(name) for name in _OF_METHODS}
    given: JsonObject = {
        name: None if value == NONE else value for name, value in typed.items() if value not in (None, False)
    }
    views = None if arguments["vectors"] is None else several_models(arguments["vectors"])
    if views is not None:
        return _views(views, arguments, given)
    with progress(options, arguments["method"]) as report:
        result = mitigate_to_file(random_state=options.seed, progress=report, **arguments, **given)
    before = "" if arguments["vectors"] is None else f" --before {arguments['vectors']} --after {result.path}"
    then = "" if arguments["effect"] or not before else f"did it work? biasgauge audit{before}"
    return Outcome(result, written={"vectors": Path(result.path)}, then=then)


def _views(views: list[Embedding], arguments: JsonObject, given: JsonObject) -> Outcome:
    """Change every view of a transformer by itself, into a folder of views."""
    from biasgauge.errors import ParameterError
    from biasgauge.mitigation import mitigate
    from biasgauge.vectors.encoders import save_views

    if arguments["effect"]:
        raise ParameterError("--effect compares one model; of views, score those before and those after.")
    common = {name: arguments[name] for name in ("method", "direction", "strength", "norms")}
    result = save_views(mitigate(views, **common, **given), arguments["out"].with_suffix(""))
    return Outcome(result, written={"views": Path(result.folder)})


def _own(about: str, *, words: bool = False) -> Option:
    """An option of some methods; "none" is for them to understand."""
    read = (lambda typed: typed if typed == NONE else typed_words(typed)) if words else (lambda typed: typed)
    return Option(about, type=str | None, default=None, read=read)


app = command(
    "mitigation:mitigate_to_file",
    name="mitigate",
    arguments="vectors",
    options="method out direction strength norms lexicon equalize specific words as_published effect compare",
    examples=EXAMPLES,
    changes={
        "vectors": Option("a vector file; those that ship with the package by default", type=Path | None, default=None),
        "out": Option(type=Path, default=Path("biasgauge-mitigated.safetensors")),
        "lexicon": _own(
            "what the method works with: pairs, stereotypes, words, or tests separated by commas", words=True
        ),
        "equalize": _own('equality pairs of hard and double_hard; "none" for none'),
        "specific": _own(
            'words that carry the bias by meaning and stay; "none" for those of the lexicon alone', words=True
        ),
        "words": _own("which words ran moves: as in score; all by default", words=True),
        "as_published": Option("what the released code of the method does", type=bool, default=False),
        "compare": Option("tests and stereotypes to compare, separated by commas"),
    },
    call=run,
    saves=False,
    outputs=(Output("out"),),
)
