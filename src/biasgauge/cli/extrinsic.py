"""`biasgauge extrinsic`: train a downstream task on vectors, and measure how differently groups of people fare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from biasgauge import applications
from biasgauge.cli.command import DRAW, FigureOptions, Level, Outcome, VectorFile, command
from biasgauge.cli.files import Output
from biasgauge.cli.option_groups import Rare
from biasgauge.cli.screen import progress
from biasgauge.cli.typed_values import typed_names

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


@command(examples=EXAMPLES, settings={"resamples": int}, open_ended=True, outputs=(Output("cache", "continued"),))
def extrinsic(
    task: str,
    /,
    *,
    vectors: VectorFile,
    data: Path,
    seeds: int = 1,
    cache: Path | None = None,
    positive: str | None = None,
    order: Rare[str | None] = None,
    group_words: str | None = None,
    train_on: Rare[str | None] = None,
    train_data: Rare[Path | None] = None,
    winobias: Rare[Path | None] = None,
    as_published: Rare[bool] = False,
    level: Level = 0.95,
    options: FigureOptions = DRAW,
    **further: Any,
) -> Outcome:
    """Train a task on vectors, and measure gaps between groups of people.

    Args:
        task: name of the task
        data: folder or file of the task's data
        seeds: models to train; metrics and gaps are means over them
        cache: folder of finished models: what is there for the same vectors, data, settings and seed is used again
        positive: the class that counts as positive
        order: groups in the order in which they are subtracted, separated by commas; others are left out
        group_words: a lexicon, or NAME:SET,SET, whose sets are words of groups
        train_on: task to learn from before a challenge set; hateval by default
        train_data: its data
        winobias: folder of WinoBias, for coref
        as_published: train and average as the released code of Goldfarb-Tarrant et al. 2021
    """
    # Only some tasks have these: those that were not typed are not passed on.
    of_task = {
        "positive": positive,
        "order": None if order is None else typed_names(order),
        "group_words": group_words,
        "train_on": train_on,
        "train_data": train_data,
        "winobias": winobias,
        "as_published": as_published or None,
    }
    further |= {name: value for name, value in of_task.items() if value is not None}
    with progress(options, f"training {task}") as report:
        result = applications.extrinsic(
            task,
            vectors,
            data,
            seeds=seeds,
            cache=cache,
            level=level,
            random_state=options.seed,
            progress=report,
            **further,
        )
    return Outcome(result, settings={"vectors": vectors, "data_path": data})
