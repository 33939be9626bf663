"""`biasgauge factors`: which properties of words, algorithms and corpora go with reliable scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cyclopts import App

from biasgauge.cli.options import DEFAULTS, Options
from biasgauge.cli.screen import console, print_json, print_table, progress
from biasgauge.errors import InputError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console

    from biasgauge.reliability import FactorsResult
    from biasgauge.scores import Interval, ScoreStore

EPILOGUE = """\
Each store holds the scores of replicates of one algorithm on one corpus, and is
named ALGORITHM:CORPUS=FOLDER. Features of words are taken from the models that
were scored, from WordNet and from the Brown corpus; how often a word occurs,
from the models if they hold counts, or from --counts, a file with a word and
its count a line.

Examples:
  biasgauge factors sgns:wiki=s1 glove:wiki=s2 sgns:news=s3 glove:news=s4
  biasgauge factors sgns:wiki=s1 glove:wiki=s2 --counts wiki=vocab.txt
  biasgauge factors sgns:wiki=s1 sgns:news=s2 --outcome inter-rater --json
"""

_SMALLEST = 1e-99

app = App(name="factors", help_epilogue=EPILOGUE)


@app.default
def factors(
    stores: str,
    /,
    *more: str,
    outcome: Literal["test-retest", "inter-rater"] = "test-retest",
    counts: tuple[str, ...] = (),
    models_in: Path | None = None,
    standardise: bool = False,
    level: float = 0.95,
    refits: int = 200,
    out: Path | None = None,
    jobs: int | None = None,
    options: Options = DEFAULTS,
) -> None:
    """Regress the reliability of words on their properties.

    Args:
        stores: scores of replicates, as ALGORITHM:CORPUS=FOLDER
        more: further ones, of other algorithms or corpora
        outcome: what is explained: agreement over replicates, or over measures
        counts: CORPUS=FILE with a word and its count a line; repeat for several
        models_in: folder with the models, if they are no longer where they were scored
        standardise: for inter-rater, bring measures to one standard deviation first
        level: of the intervals
        refits: fits behind the intervals of the R² drops; fewer are faster
        out: a CSV file for the rows of the regression
        jobs: threads; all cores by default
        options: those of every command
    """
    import biasgauge as bg  # noqa: PLC0415 - numpy is imported only by commands that compute

    given = [_named_store(one) for one in (stores, *more)]
    files = dict(_corpus_and_file(one) for one in counts)
    unknown = sorted(files.keys() - {corpus for _, corpus, _ in given})
    if unknown:
        raise ParameterError(f"--counts names the corpus {unknown[0]!r}, but no store is of it.")
    tables = {corpus: read_counts(path) for corpus, path in files.items()}
    sources = []
    for algorithm, corpus, folder in given:
        store = bg.ScoreStore.open(folder)
        known = tables.get(corpus) or stored_counts(_model_files(store, models_in))
        sources.append(bg.FactorSource(algorithm, corpus, store, models_in=models_in, counts=known))
    kind: Any = outcome.replace("-", "_")
    with progress(options, "finding features") as report:
        table = bg.factor_table(sources, outcome=kind, standardise=standardise, n_jobs=jobs, progress=report)
    found = bg.factors(
        table, outcome=kind, standardise=standardise, level=level, refits=refits, random_state=options.seed
    )
    if out is not None:
        part = out.with_name(f".{out.name}.part")
        table.to_csv(part, index=False)
        part.replace(out)
    if options.json:
        content = found.to_dict()
        settings = {**content.pop("settings"), "sources": [f"{a}:{c}={folder}" for a, c, folder in given]}
        warnings = content.pop("warnings")
        print_json(options, content, settings=settings, warnings=warnings)
    else:
        _show(found, console(options))


def _named_store(typed: str) -> tuple[str, str, Path]:
    names, equals, folder = typed.partition("=")
    algorithm, colon, corpus = names.partition(":")
    if not (equals and colon and algorithm and corpus and folder):
        raise ParameterError(f"A store must be named ALGORITHM:CORPUS=FOLDER, such as sgns:wiki=scores. Got {typed!r}.")
    return algorithm, corpus, Path(folder)


def _corpus_and_file(typed: str) -> tuple[str, Path]:
    corpus, equals, path = typed.partition("=")
    if not (equals and corpus and path):
        raise ParameterError(f"--counts takes CORPUS=FILE, such as wiki=vocab.txt. Got {typed!r}.")
    return corpus, Path(path)


def read_counts(path: Path) -> dict[str, float]:
    """Read a word and its count from each line, as GloVe's `vocab.txt` has them.

    Raises:
        InputError: the file cannot be read, or a line holds something else.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as problem:
        raise InputError(f"{path}: cannot be read: {problem.strerror}") from problem
    except UnicodeDecodeError as problem:
        raise InputError(f"{path}: is not UTF-8 text ({problem.reason})") from problem
    found: dict[str, float] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        word, _, count = line.rstrip().rpartition("\t" if "\t" in line else " ")
        word = word.strip()
        if not word or not count.isdecimal() or int(count) < 1:
            raise InputError(f"{path}, line {number}: expected a word and a count of at least 1, found {line[:60]!r}")
        if word in found:
            raise InputError(f"{path}, line {number}: the word {word!r} has a count already")
        found[word] = float(count)
    if not found:
        raise InputError(f"{path}: holds no counts; write a word and its count a line")
    return found


def _model_files(store: ScoreStore, folder: Path | None) -> list[Path]:
    paths = [Path(about.get("source", "")) for about in store.provenance["models"].values()]
    return paths if folder is None else [folder / path.name for path in paths]


def stored_counts(paths: Iterable[Path]) -> dict[str, float] | None:
    """Mean counts of words over the models that hold counts; None when none does."""
    sums: dict[str, float] = {}
    times: dict[str, int] = {}
    for path in paths:
        for word, count in _counts_of_model(path):
            sums[word] = sums.get(word, 0.0) + count
            times[word] = times.get(word, 0) + 1
    return {word: total / times[word] for word, total in sums.items()} or None


def _counts_of_model(path: Path) -> Iterator[tuple[str, int]]:
    """Words and counts of a model that `biasgauge train` wrote; nothing from other files."""
    import biasgauge as bg  # noqa: PLC0415 - as in factors

    if path.suffix != ".safetensors" or not path.is_file():
        return
    from safetensors import SafetensorError, safe_open  # noqa: PLC0415 - only for such files

    try:
        with safe_open(path, "np") as file:
            counts = file.get_tensor("counts").tolist() if "counts" in file.keys() else []  # noqa: SIM118 - no mapping
    except SafetensorError as problem:
        raise InputError(f"{path}: cannot be read ({problem})") from problem
    words = bg.load(path).words
    if len(words) == len(counts):
        yield from ((word, count) for word, count in zip(words, counts, strict=True) if count > 0)


def _show(found: FactorsResult, screen: Console) -> None:
    level = f"{found.settings['level']:.0%}"
    screen.print(f"{found.rows:,} rows of {found.words:,} words; {sum(found.lost.values()):,} left out", markup=False)
    rows = []
    for one in found.fixed:
        if one.estimate is None:
            rows.append((one.name, "–", one.effect.reason or "", "–", "–"))
        else:
            chances = (_chance(one.effect.p), _chance(one.p_words))
            rows.append((one.name, f"{one.estimate:.4f}", _ends(one.effect.interval), *chances))
    print_table(screen, ("factor", "estimate", level, "p", "p by words"), rows)
    screen.print()
    levels = {one.name: f"{one.levels} levels" for one in found.random}
    shares = {"fixed": found.r2.fixed, **found.r2.groups, "total": found.r2.total}
    lines = [(name, f"{one.value:.4f}", _ends(one.interval), levels.get(name, "")) for name, one in shares.items()]
    print_table(screen, ("R²", "share", level, ""), lines)
    screen.print()
    drops = [
        (name, f"{one.fixed.value:.4f}", _ends(one.fixed.interval), f"{one.total.value:.4f}")
        for name, one in found.drops.items()
    ]
    print_table(screen, ("R² lost without", "of fixed", level, "of total"), drops)
    screen.print()
    for reason, count in found.lost.items():
        screen.print(f"left out: {count:,} rows: {reason}", markup=False)
    for note in found.warnings:
        screen.print(f"note: {note}", markup=False)


def _ends(interval: Interval) -> str:
    return f"[{interval.low:.4f}, {interval.high:.4f}]"


def _chance(p: float | None) -> str:
    if p is None:
        return "–"
    return f"{p:.2g}" if p >= _SMALLEST else f"< {_SMALLEST:g}"
