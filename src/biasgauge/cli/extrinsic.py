"""`biasgauge extrinsic`: train a downstream task on vectors, and say how differently groups of people fare."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgauge.cli.from_function import Option, command
from biasgauge.cli.outputs import Output
from biasgauge.cli.screen import progress
from biasgauge.cli.words import typed_names
from biasgauge.core import JsonObject

if TYPE_CHECKING:
    from biasgauge.cli.options import Options

EXAMPLES = """\
Tasks of text classification: hateval-en, hateval-es, davidson, edos, mlma,
founta, csv (a table of your own with text, label and group). hatecheck-en and
hatecheck-es judge a classifier that learned from one of these. coref is
coreference, judged by WinoBias. --data is the folder with the files as they are
given out, or one file.

Data that names no groups can be given words: a text that mentions words of one
group is about it. Models that are finished are kept in --cache and used again.
The positive class is the hateful (sexist) one unless --positive names another.
Settings of the task and of its training go by --set: text_column, label_column,
group_column, split_seed, tokenizer, retweets, unknown, epochs, patience,
monitor, device; one that a task does not have is refused, with those it has.

Examples:
  biasgauge extrinsic hateval-en --vectors vectors.bin --data hateval2019
  biasgauge extrinsic hateval-es --vectors es.vec --data hateval2019 --seeds 5
    --cache cells
  biasgauge extrinsic davidson --vectors vectors.bin --data labeled_data.csv
    --group-words bolukbasi2016
  biasgauge extrinsic csv --vectors vectors.bin --data texts.csv
    --positive toxic --set epochs=5
  biasgauge extrinsic hatecheck-en --vectors vectors.bin --data hatecheck
    --train-data hateval2019 --json
  biasgauge extrinsic coref --vectors vectors.bin --data conll --winobias wino
  biasgauge extrinsic csv --vectors vectors.bin --data texts.csv --seeds 5
    --figures figures
"""
_OF_TASKS = ("positive", "order", "group_words", "train_on", "train_data", "winobias", "as_published")


def run(arguments: JsonObject, options: Options) -> Any:  # noqa: ANN401 - a result
    """Train; of the settings that only some tasks have, those that were typed are given."""
    from biasgauge.applications import extrinsic

    typed = {name: arguments.pop(name) for name in _OF_TASKS}
    given = {name: value for name, value in typed.items() if value not in (None, False)}
    with progress(options, f"training {arguments['task']}") as report:
        return extrinsic(random_state=options.seed, progress=report, **arguments, **given)


def _own(about: str, kind: Any = str | None, **more: Any) -> Option:  # noqa: ANN401 - a type, and fields of Option
    return Option(about, type=kind, default=None, **more)


app = command(
    "applications:extrinsic",
    arguments="task",
    options="vectors data seeds cache positive order group_words train_on train_data winobias as_published level",
    examples=EXAMPLES,
    changes={
        "task": Option("name of the task", type=str),
        "data": Option("folder or file of the task's data"),
        "seeds": Option("models to train; metrics and gaps are means over them"),
        "positive": _own("the class that counts as positive"),
        "order": _own(
            "groups in the order in which they are subtracted, separated by commas; others are left out",
            read=typed_names,
        ),
        "group_words": _own("a lexicon, or NAME:SET,SET, whose sets are words of groups"),
        "train_on": _own("task to learn from before a challenge set; hateval by default"),
        "train_data": _own("its data", Path | None),
        "winobias": _own("folder of WinoBias, for coref", Path | None),
        "as_published": Option(
            "train and average as the released code of Goldfarb-Tarrant et al. 2021", type=bool, default=False
        ),
    },
    call=run,
    recorded="vectors data_path=data",
    figures=True,
    outputs=(Output("cache", "continued"),),
)
