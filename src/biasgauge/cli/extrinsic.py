"""`biasgauge extrinsic`: train a downstream task on vectors, and say how differently groups of people fare."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cyclopts import App

from biasgauge.cli.options import DEFAULTS, Options
from biasgauge.cli.screen import console, print_json, print_table, print_title, progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from biasgauge.extrinsic import TaskGap, TaskMetric, TaskResult

EPILOGUE = """\
Tasks of text classification: hateval-en, hateval-es, davidson, edos, mlma,
founta, csv (a table of your own with text, label and group). hatecheck-en and
hatecheck-es judge a classifier that learnt from one of these. coref is
coreference, judged by WinoBias. --data is the folder with the files as they are
given out, or one file.

Data that names no groups can be given words: a text that mentions words of one
group is about it. Models that are finished are kept in --cache and used again.
The positive class is the hateful (sexist) one unless --positive names another.

Examples:
  biasgauge extrinsic hateval-en --vectors vectors.bin --data hateval2019
  biasgauge extrinsic hateval-es --vectors es.vec --data hateval2019 --seeds 5
    --cache cells
  biasgauge extrinsic davidson --vectors vectors.bin --data labeled_data.csv
    --group-words bolukbasi2016
  biasgauge extrinsic csv --vectors vectors.bin --data texts.csv
    --positive toxic
  biasgauge extrinsic hatecheck-en --vectors vectors.bin --data hatecheck
    --train-data hateval2019 --json
  biasgauge extrinsic coref --vectors vectors.bin --data conll --winobias wino
  biasgauge extrinsic csv --vectors vectors.bin --data texts.csv --seeds 5
    --figures figures
"""
MOST_GAPS = 40
MOST_GROUPS = 4

app = App(name="extrinsic", help_epilogue=EPILOGUE)


@app.default
def extrinsic(
    task: str,
    /,
    *,
    vectors: Path,
    data: Path,
    seeds: int = 1,
    cache: Path | None = None,
    positive: str | None = None,
    order: str | None = None,
    group_words: str | None = None,
    text_column: str | None = None,
    label_column: str | None = None,
    group_column: str | None = None,
    train_on: str | None = None,
    train_data: Path | None = None,
    split_seed: int | None = None,
    tokeniser: str | None = None,
    retweets: Literal["drop", "keep"] | None = None,
    unknown: Literal["zero", "subwords"] | None = None,
    epochs: int | None = None,
    patience: int | None = None,
    monitor: Literal["loss", "accuracy"] | None = None,
    winobias: Path | None = None,
    device: str | None = None,
    as_published: bool = False,
    level: float = 0.95,
    resamples: int = 2000,
    figures: Path | None = None,
    options: Options = DEFAULTS,
) -> None:
    """Train a downstream task on frozen vectors; report metrics and gaps between groups, with intervals.

    Args:
        task: name of the task
        vectors: a vector file
        data: folder or file of the task's data
        seeds: models to train; metrics and gaps are means over them
        cache: a folder for finished models
        positive: the class that counts as positive
        order: groups in the order in which they are subtracted, separated by commas; others are left out
        group_words: a lexicon, or NAME:SET,SET, whose sets are words of groups
        text_column: column of the text, for csv; "text" by default
        label_column: column of the label; "label" by default
        group_column: column of the group; "group" by default
        train_on: task to learn from before a challenge set; hateval by default
        train_data: its data
        split_seed: of the split, where the data comes in one part
        tokeniser: twitter by default; as in train
        retweets: drop them, as in the paper, or keep them
        unknown: words without a vector: zero, or composed of subwords where the file has them
        epochs: most passes over the texts
        patience: evaluations without improvement before training stops
        monitor: what has to improve on the dev texts
        winobias: folder of WinoBias, for coref
        device: cpu or cuda, for coref
        as_published: train and average as the released code of Goldfarb-Tarrant et al. 2021
        level: of the intervals
        resamples: bootstrap samples
        figures: a folder for figures, SVG and PNG
        options: those of every command
    """
    import biasgauge as bg  # noqa: PLC0415 - numpy is imported only by commands that compute

    asked: dict[str, Any] = {
        "positive": positive,
        "order": None if order is None else [name.strip() for name in order.split(",")],
        "group_words": group_words,
        "text_column": text_column,
        "label_column": label_column,
        "group_column": group_column,
        "train_on": train_on,
        "train_data": train_data,
        "split_seed": split_seed,
        "tokeniser": tokeniser,
        "retweets": retweets,
        "unknown": unknown,
        "epochs": epochs,
        "patience": patience,
        "monitor": monitor,
        "winobias": winobias,
        "device": device,
        "as_published": as_published or None,
    }
    settings = {name: value for name, value in asked.items() if value is not None}
    with progress(options, f"training {task}") as report:
        found = bg.extrinsic(
            task,
            vectors,
            data,
            seeds=seeds,
            cache=cache,
            level=level,
            resamples=resamples,
            random_state=options.seed,
            progress=report,
            **settings,
        )
    if figures is not None:
        bg.save_figures(bg.figures(found), figures)
    if options.json:
        content = found.to_dict()
        recorded = {"vectors": str(vectors), "data_path": str(data), **content.pop("settings")}
        print_json(options, content, settings=recorded, warnings=content.pop("warnings"))
    else:
        _show(found, console(options))


def _show(found: TaskResult, screen: Console) -> None:
    for warning in found.warnings:
        screen.print(f"note: {warning}", markup=False)
    several = len(found.seeds) > 1
    over = "items and seeds; sd: over seeds" if several else "items"
    screen.print(f"{found.task}: {found.about}", markup=False, soft_wrap=True)
    screen.print(f"low and high: {found.settings['level']:.0%} intervals over {over}", markup=False)
    print_title(screen, "Metrics", "how well is the task done?")
    overall = [one for one in found.metrics if one.group is None]
    print_table(
        screen,
        ("metric", "of", "value", "low", "high", "items"),
        [(_name(one.metric), one.of or "", *_numbers(one), one.n) for one in overall],
    )
    _reasons(overall, screen)
    _by_group(found, screen)
    if found.no_gaps is not None:
        screen.print(f"\nNo gaps: {found.no_gaps}", markup=False, soft_wrap=True)
        return
    print_title(screen, "Gaps", "by how much does the first group have more than the second?")
    rows = [
        (
            _name(one.metric),
            one.of or "",
            *_numbers(one),
            _number(one.sd) if several else _p(one.p_value),
            f"{one.a} − {one.b}",
        )
        for one in found.gaps
    ]
    columns = ("metric", "of", "gap", "low", "high", "sd" if several else "p", "groups")
    print_table(screen, columns, rows[:MOST_GAPS])
    if len(rows) > MOST_GAPS:
        screen.print(f"… and {len(rows) - MOST_GAPS:,} more: see --json, or name groups with --order")
    _reasons(found.gaps, screen)
    screen.print()
    for sentence in found.readings:
        screen.print(f"- {sentence}", markup=False, soft_wrap=True)


def _by_group(found: TaskResult, screen: Console) -> None:
    """The rates that gaps are differences of, where groups are few."""
    groups = list(dict.fromkeys(one.group for one in found.metrics if one.group is not None))
    if not 1 < len(groups) <= MOST_GROUPS:
        return
    rates: dict[tuple[str, str], dict[str | None, float | None]] = {}
    for one in found.metrics:
        if one.group is not None:
            rates.setdefault((_name(one.metric), one.of or ""), {})[one.group] = one.value
    print_title(screen, "By group", "the rates that the gaps are differences of")
    rows = [(*about, *(_number(own.get(group)) for group in groups)) for about, own in rates.items()]
    print_table(screen, ("metric", "of", *groups), rows)


def _reasons(rows: Sequence[TaskMetric | TaskGap], screen: Console) -> None:
    """Why numbers or intervals are undefined, each reason once."""
    told = [f"undefined: {one.reason}" for one in rows if one.reason]
    told += [f"no interval: {one.interval.reason}" for one in rows if one.interval is not None and one.interval.reason]
    for line in dict.fromkeys(told):
        screen.print(line, markup=False, soft_wrap=True)


def _name(metric: str) -> str:
    return metric.removesuffix("_rate").replace("_", " ")


def _numbers(one: TaskMetric | TaskGap) -> tuple[str, str, str]:
    low, high = (None, None) if one.interval is None else (one.interval.low, one.interval.high)
    return _number(one.value), _number(low), _number(high)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _p(value: float | None) -> str:
    return "–" if value is None else "< .001" if value < 0.001 else f"{value:.3f}"  # noqa: PLR2004 - as tables print p
