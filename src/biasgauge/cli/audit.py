"""`biasgauge audit`: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts import App

from biasgauge.cli.options import DEFAULTS, Options
from biasgauge.cli.screen import console, print_json, print_table, print_title, progress, shorten
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from biasgauge.audit import AuditResult


EPILOGUE = """\
Says which word lists can be measured and which words were lost, how biased the
vectors are about each concept (with interval and p), and what is odd about the
files. Writes report.html, report.json and report.csv.

--points is a table with a row for each embedding that was measured and applied
(see correlate): do the intrinsic numbers track the application? --tasks takes
what extrinsic --json printed.

Examples:
  biasgauge audit
  biasgauge audit GoogleNews-vectors-negative300.bin.gz --limit 500000
  biasgauge audit seed1.bin seed2.bin seed3.bin --out replicates
  biasgauge audit vectores.vec --language es
  biasgauge audit glove.txt --lexicon weat7 --lexicon my_words.toml
  biasgauge audit --before vectors.bin --after debiased.bin
  biasgauge audit --points points.csv --points-x weat --points-y gap
  biasgauge audit vectors.bin --tasks hateval.json --tasks coref.json
"""

STYLES = {
    "rely": "green",
    "care": "yellow",
    "do not report": "red",
    "nothing found": "dim",
    "undecided": "dim",
}

app = App(name="audit", help_epilogue=EPILOGUE)


@app.default
def audit(
    *vectors: Path,
    before: Path | None = None,
    after: Path | None = None,
    out: Path = Path("biasgauge-audit"),
    lexicon: tuple[str, ...] = (),
    language: str = "en",
    min_coverage: float = 0.8,
    case_fallback: bool = False,
    limit: int | None = None,
    alpha: float = 0.05,
    agreement: float = 0.9,
    reliability: float = 0.5,
    points: Path | None = None,
    points_x: str | None = None,
    points_y: str | None = None,
    points_by: str | None = None,
    points_unit: str | None = None,
    points_seed: str | None = None,
    tasks: tuple[Path, ...] = (),
    options: Options = DEFAULTS,
) -> None:
    """Say what can be measured with some vectors, and write a page.

    Args:
        vectors: vector files, one or several replicates: word2vec, GloVe, fastText .vec, .npz, .npy, safetensors,
            gzipped or not; without any, the vectors that ship with biasgauge
        before: vectors before something was done to them, with --after
        after: the vectors after it: the audit is of these, and says also what the change did
        out: folder for the page and its tables; made if it is not there
        lexicon: a lexicon's name or your own TOML file, repeat for several; without any, all shipped ones of the
            language
        language: language of the shipped lexicons to look at
        min_coverage: share of each set's words that must be found
        case_fallback: look a lost word up in lower case, then capitalised
        limit: read only the first so many rows of each file
        alpha: verdicts: largest corrected p that counts as an effect
        agreement: verdicts: smallest share of base pairs that must give the same direction
        reliability: verdicts: smallest reliability over replicates, and of the gap over task seeds
        points: a table of intrinsic and extrinsic numbers, one row for each embedding
        points_x: its column of the intrinsic number; "weat" by default
        points_y: its column of the extrinsic number; "gap" by default
        points_by: columns whose values make strata, separated by commas; test, metric, method and the like by default
        points_unit: column that says which rows belong together; "variant", "name" or "embedding" by default
        points_seed: column with the seed of the task model; "seed" by default
        tasks: JSON of biasgauge extrinsic, repeat for several
        options: those of every command
    """
    import biasgauge as bg  # noqa: PLC0415 - numpy is imported only by commands that compute
    from biasgauge.audit import track  # noqa: PLC0415 - as above

    chosen = None
    if points is None and any((points_x, points_y, points_by, points_unit, points_seed)):
        raise ParameterError(
            "--points-x, --points-y and the like say which columns of --points to use. Got no --points."
        )
    if points is not None:
        by = None if points_by is None else [name.strip() for name in points_by.split(",") if name.strip()]
        columns = (points_x, points_y, by, points_unit, points_seed)
        chosen = track(points, *columns, random_state=options.seed)
    with progress(options, "auditing") as report:
        result = bg.audit(
            _models(vectors, before, after),
            before=before,
            lexicons=lexicon or None,
            language=language,
            min_coverage=min_coverage,
            case_fallback=case_fallback,
            limit=limit,
            rules=bg.Rules(alpha, agreement, reliability),
            points=chosen,
            tasks=tasks,
            random_state=options.seed,
            progress=report,
        )
    out.mkdir(parents=True, exist_ok=True)
    page = result.save(out / "report.html")
    if options.json:
        content = result.to_dict()
        print_json(options, {**content, "page": str(page)}, settings=content["settings"], warnings=result.warnings)
    else:
        _show(result, console(options))
    if not options.quiet:
        console(options).print(f"\nThe page: {page.resolve()}", soft_wrap=True)


def _models(vectors: tuple[Path, ...], before: Path | None, after: Path | None) -> list[Path] | None:
    """What to audit: the vectors named, or those after a change."""
    if (before is None) != (after is None) or (after is not None and vectors):
        raise ParameterError("--before and --after go together, and without other vectors.")
    return [after] if after is not None else list(vectors) or None


def _show(result: AuditResult, screen: Console) -> None:
    from rich.text import Text  # noqa: PLC0415 - only those who look at tables pay for them

    for model in result.models:
        screen.print(
            f"{model.name}: {model.words:,} words × {model.dim}, {model.format}, {model.precision}", markup=False
        )
    for warning in result.warnings:
        screen.print(f"  note: {warning}", markup=False)
    styles = {"measurable": "green", "partly": "yellow", "undefined": "red"}
    several = len(result.models) > 1
    rows: list[list[str | int | Text]] = []
    for one in result.lexicons:
        lost = [word for words in one.coverage.lost.values() for word in words]
        verdict = Text(one.verdict, styles[one.verdict])
        name = [one.model] if several else []
        rows.append([one.lexicon, *name, one.coverage.found, one.coverage.asked, verdict, shorten(lost, 2)])
    columns = ["lexicon", *(["model"] if several else []), "found", "of", "verdict", "lost words"]
    screen.print()
    print_table(screen, columns, rows)
    screen.print(
        f"\n{result.count('measurable')} can be measured, {result.count('partly')} in part, "
        f"{result.count('undefined')} cannot; the page says why, and lists all lost words."
    )
    if rescued := sum(one.case_to_blame for one in result.lexicons):
        screen.print(f"{rescued} lose words only to upper and lower case: look again with --case-fallback.")
    if result.bias and not several:
        screen.print()
        _show_bias(result, screen)
    if result.spread:
        screen.print()
        _show_spread(result, screen)
    if result.change is not None:
        print_title(screen, "What did the change do?", "")
        _show_sentences((*result.change.warnings, *result.change.sentences), screen)
    print_title(screen, "Can the measurement be trusted?", "")
    _show_sentences(result.reliability.headlines, screen)
    print_title(screen, "Do conclusions survive another choice?", "")
    _show_sentences(result.robustness.headlines, screen)
    if result.seeds is not None:
        print_title(screen, "Are the word lists fit for it?", "")
        _show_sentences(result.seeds.verdicts, screen)
    if result.uncertainty:
        print_title(screen, "How sure are the associations?", "")
        _show_sentences([sentence for one in result.uncertainty for sentence in one.sentences], screen)
    _show_extrinsic(result, screen)
    _show_verdicts(result, screen)


def _show_extrinsic(result: AuditResult, screen: Console) -> None:
    if result.extrinsic is None and not result.tasks:
        return
    print_title(screen, "Do the intrinsic numbers track the application?", "")
    _show_sentences(() if result.extrinsic is None else result.extrinsic.readings, screen)
    _show_sentences([f"{one.task}, {one.vectors}: {told}" for one in result.tasks for told in one.readings], screen)


def _show_sentences(sentences: Sequence[str], screen: Console) -> None:
    for sentence in sentences:
        screen.print(f"- {sentence}", markup=False)


def _show_verdicts(result: AuditResult, screen: Console) -> None:
    """What it all comes to, last, where the reader's eye is; what cannot be measured is only counted."""
    from rich.text import Text  # noqa: PLC0415 - only those who look at tables pay for them

    print_title(screen, "Verdicts", "may the answers be relied on?")
    for one in result.verdicts:
        if one.decision != "undefined":
            of = f" ({one.model})" if len(result.models) > 1 else ""
            screen.print(
                Text.assemble((f"{one.decision:<14}", STYLES[one.decision]), f"{one.question}: {one.title}{of}")
            )
            screen.print(f"  {one.why}.", markup=False)
    skipped = [one for one in result.verdicts if one.decision == "undefined"]
    for one in skipped:
        if one.question == "extrinsic":  # it asks points, not words
            screen.print(one.sentence, markup=False)
    if words := sum(one.question != "extrinsic" for one in skipped):
        told = "1 question" if words == 1 else f"{words} questions"
        screen.print(f"{told} cannot be answered: too few of {'its' if words == 1 else 'their'} words are here.")


def _show_bias(result: AuditResult, screen: Console) -> None:
    rows = []
    for one in result.bias:
        if one.value is None:
            rows.append([one.name, one.test, "–", "–", "–", one.reason or ""])
            continue
        spread = one.interval
        ends = "–" if spread is None or spread.low is None else f"{spread.low:5.2f} to {spread.high:5.2f}"
        p = one.to_dict().get("p_value")
        sets = ", ".join(one.sets.values()) if one.test == "weat" else ""
        rows.append([one.name, one.test, f"{one.value:5.2f}", ends, "–" if p is None else f"{p:.2g}", sets])
    print_table(screen, ["concept", "test", "value", "95 % interval", "p", "sets"], rows)
    screen.print(
        "\nweat: 0 is no difference, two-sided p; mac: 1 is no association. Intervals are over words, not over corpora."
    )


def _show_spread(result: AuditResult, screen: Console) -> None:
    count = len(result.replicates)
    whose = "that ship with biasgauge and differ only by their seed" if result.settings["shipped"] else "given"
    screen.print(f"Over the {count} models {whose}:")
    rows = [
        [one.name, one.test, "–", "–", "–", "–", one.reason or ""]
        if one.mean is None
        else [
            one.name,
            one.test,
            f"{one.mean:5.2f}",
            f"{one.low:5.2f} to {one.high:5.2f}",
            f"{one.sd:.3f}",
            f"{one.least:5.2f} to {one.most:5.2f}",
            f"{one.agree} of {one.models}",
        ]
        for one in result.spread
    ]
    print_table(screen, ["concept", "test", "mean", "95 % interval", "sd", "range", "same side"], rows)
    screen.print("\nsame side: models on the mean's side of no bias. The page and the JSON have every model.")
