"""`biasgauge compare`: by how much a contrast differs between groups of models, and its trend."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from biasgauge import analyses
from biasgauge.cli.command import DRAW, FigureOptions, Level, Outcome, command
from biasgauge.cli.files import Output, check_files
from biasgauge.cli.option_groups import Rare
from biasgauge.cli.screen import progress
from biasgauge.cli.typed_values import LOOKUP, NO_SETS, TypedSets, WordLookup, typed_field, typed_names, typed_numbers
from biasgauge.core import JsonObject
from biasgauge.errors import ParameterError

EXAMPLES = """\
--group FOLDER alone takes the year of each file's name as its group and position
(HistWords: 1990-w.npy with 1990-vocab.pkl beside it).

The difference is that of the second group less the first, in cosine units, over
the words that every model has. --corpus takes equal amounts of text of each
corpus, trains models on disjoint parts of it and compares these: its verdict
speaks of the corpora. --group compares models that are there. Random seeds
answer only whether the same files, trained again, would differ. Settings by
--set: smallest (the smallest difference that matters); and of --corpus documents
(what is a document: the unit that the verdict generalizes over), parts, draws,
by, tokens, algorithm, dim, window, epochs, min_count, layout, tokenizer, field.

Examples:
  biasgauge compare --corpus 1950s=1950s.txt --corpus 1990s=1990s.txt --test weat7
  biasgauge compare --corpus a=a.txt --corpus b=b.txt --set documents=blank-line \\
      --test weat7 --models kept --set dim=50 --set draws=8
  biasgauge compare --group 1950s=kept/1950s --group 1990s=kept/1990s --test weat7
  biasgauge compare --group a=a1.bin,a2.bin --group b=b1.bin,b2.bin --test weat7
  biasgauge compare --group 1950s=50 --group 1970s=70 --group 1990s=90 \\
      --at 1955,1975,1995 --test weat7 --test weat6b --out trend.html
  biasgauge compare --group sgns --test weat7 --out trend.html
"""
TRAINING: dict[str, Any] = {
    "parts": int, "draws": int, "by": str, "tokens": int, "algorithm": str, "dim": int, "window": int, "epochs": int,
    "min_count": int, "layout": str, "documents": str, "tokenizer": str, "field": typed_field, "n_jobs": int,
    "device": str,
}  # fmt: skip


def check_corpora(typed: tuple[str, ...]) -> None:
    """Refuse corpora that are not typed as such, and missing files of theirs.

    Raises:
        InputError: one of them.
    """
    texts = _read_named(typed, "corpus", _text_files).values()
    check_files(file for files in texts for file in ([files] if isinstance(files, Path) else files))


def check_groups(typed: tuple[str, ...]) -> None:
    """Refuse groups that are not typed as such, and missing files of theirs.

    Raises:
        InputError: one of them.
    """
    groups = _read_groups(typed)
    if not isinstance(groups, Path):
        check_files(Path(file) for files in groups.values() for file in files)


@command(
    examples=EXAMPLES,
    terms="contrast replicate WEAT",
    checks={"group": check_groups, "corpus": check_corpora},
    settings={"smallest": float, **TRAINING},
    open_ended=True,
    outputs=(Output("models", "continued"),),
)
def compare(
    *,
    corpus: tuple[str, ...] = (),
    group: tuple[str, ...] = (),
    test: tuple[str, ...] = (),
    sets: TypedSets = NO_SETS,
    order: bool = False,
    at: str | None = None,
    measure: Rare[Literal["contrast", "effect_size"]] = "contrast",
    replicates: Literal["auto", "seeds", "samples", "texts"] = "auto",
    level: Level = 0.95,
    models: Path | None = None,
    lookup: WordLookup = LOOKUP,
    options: FigureOptions = DRAW,
    **further: Any,
) -> Outcome:
    """Compare corpora, or groups of models: the difference of a contrast, and its trend.

    Args:
        corpus: NAME=FILES, repeat for each corpus: text files or a tokenized corpus; models are trained on equal
            amounts of text of each
        group: NAME=FILES, repeat for each group: a folder, a pattern, or files separated by commas, all models of one
            corpus, period or recipe; or one folder of files by year, such as 1990-w.npy
        test: a lexicon of kind "test" or "stereotypes", or your own TOML file; repeat for several
        order: groups are in the order of time, size or the like: tell the trend
        at: positions of the groups in their order, such as 1955,1995: tell the trend per unit
        measure: contrast: in cosine units; effect_size: WEAT's d
        replicates: what sets the models of a group apart: random seeds, bootstrap samples of one text, or texts of
            their own; auto reads it from the recipes beside the files
        models: of corpora, folder that keeps the models, so that a later run goes on; by default none are kept
    """
    positions = None if at is None else typed_numbers(at, "--at")
    if corpus and group:
        raise ParameterError("Give either --corpus, or --group with models of corpora; not both.")
    smallest = further.pop("smallest", None)
    training: JsonObject = {**further, "random_state": options.seed}
    if group and further:
        raise ParameterError(f"The setting {min(further)!r} is for --corpus; models are compared as they are.")
    with progress(options, "training" if corpus else "comparing") as report:
        training |= {"progress": report} | ({} if models is None else {"out": models})
        result = analyses.compare.compare(
            _read_named(corpus, "corpus", _text_files) or _read_groups(group),
            list(test) or None,
            **sets.read(),
            order=order,
            positions=positions,
            measure=measure,
            replicates=replicates,
            smallest=smallest,
            level=level,
            policy=lookup.policy(),
            training=training if corpus else None,
        )
    return Outcome(result, written={} if models is None else {"models": models})


def _read_groups(typed: tuple[str, ...]) -> JsonObject | Path:
    """Files of each group by name, or the folder of files by year that was typed instead."""
    if len(typed) == 1 and "=" not in typed[0] and Path(typed[0]).is_dir():
        return Path(typed[0])
    return _read_named(typed, "group", analyses.compare.files_of)


def _text_files(typed: str) -> Path | list[Path]:
    files = [Path(name) for name in typed_names(typed)]
    return files[0] if len(files) == 1 else files


def _read_named(typed: tuple[str, ...], option: str, read: Callable[[str], Any]) -> JsonObject:
    """Files of each group or corpus, by name."""
    groups: JsonObject = {}
    for text in typed:
        name, equals, files = text.partition("=")
        name = name.strip()
        if not equals or not name:
            raise ParameterError(f"--{option} takes NAME=FILES, such as 1950s=models/1950s. Got {text!r}.")
        if name in groups:
            raise ParameterError(
                f"Two {'groups' if option == 'group' else 'corpora'} are called {name!r}; give all files of a {option} "
                "at once, separated by commas."
            )
        groups[name] = read(files)
    return groups
