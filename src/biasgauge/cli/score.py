"""`biasgauge score`: a score tensor into a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts import App

from biasgauge.cli.options import DEFAULTS, Options
from biasgauge.cli.screen import console, print_json, print_table, progress

if TYPE_CHECKING:
    from rich.console import Console

    from biasgauge.scores import ScoreStore

EPILOGUE = """\
Writes a folder with one file a model. Run again after an interruption, it
computes only the models that are not there yet.

Examples:
  biasgauge score vectors.bin --pairs du2021 --words occ16
  biasgauge score seed1.bin seed2.bin --words full --measures nbm --k 100
  biasgauge score vectors.bin --words nurse,surgeon --pairs my_pairs.toml
  biasgauge score vectors.bin --as-published du2021 --out published
  biasgauge score vectors.bin --words full --device cuda
"""

app = App(name="score", help_epilogue=EPILOGUE)


@app.default
def score(
    models: Path,
    /,
    *more: Path,
    out: Path = Path("biasgauge-scores"),
    pairs: str = "du2021",
    words: str = "occ16",
    measures: str = "dbwa,ripa,nbm",
    k: int = 100,
    pool: str | None = None,
    as_published: str | None = None,
    case_fallback: bool = False,
    device: str = "cpu",
    jobs: int | None = None,
    options: Options = DEFAULTS,
) -> None:
    """Score every word against every pair with every measure, on every model.

    Args:
        models: a vector file
        more: further vector files: replicates, or models to compare
        out: folder for the scores
        pairs: a lexicon of pairs, or your own TOML file
        words: a lexicon, NAME:SET, words separated by commas, a file with one word a line, or "full"
        measures: measures separated by commas: dbwa, ripa, ripa_unit, nbm, nbm_du2021, nbm_zhang2020
        k: how many neighbours vote
        pool: which words may be neighbours: as for words; all by default
        as_published: du2021 or zhang2020: the measures as that paper's code computed them
        case_fallback: look a lost word up in lower case, then capitalised
        device: cpu, or cuda for a GPU through PyTorch
        jobs: threads; all cores by default
        options: those of every command
    """
    import biasgauge as bg  # noqa: PLC0415 - numpy is imported only by commands that compute
    from biasgauge.cli.words import asked_words  # noqa: PLC0415 - as above

    with progress(options, "scoring") as report:
        store = bg.score_to_store(
            out,
            [models, *more],
            pairs=pairs,
            words=asked_words(words),
            measures=measures.split(","),
            k=k,
            pool=asked_words(pool),
            as_published=as_published,
            case_fallback=case_fallback,
            device=device,
            n_jobs=jobs,
            progress=report,
        )
    if options.json:
        shape = store.to_dict()
        provenance = shape.pop("provenance")
        lost = {name: one["coverage"] for name, one in provenance["models"].items()}
        print_json(options, {**shape, "coverage": lost, "path": str(out)}, settings=provenance)
    else:
        _show(store, console(options))
    if not options.quiet:
        console(options).print(f"\nThe scores: {out.resolve()}", soft_wrap=True)


def _show(store: ScoreStore, screen: Console) -> None:
    import numpy as np  # noqa: PLC0415 - as in score

    about = store.to_dict()
    screen.print(" × ".join(f"{size:,} {axis}{'s' * (size != 1)}" for axis, size in about["shape"].items()))
    model = store.models[0]
    rows: list[tuple[str | int, ...]] = []
    for name in store.measures:
        scores = store.read(measure=[name], model=[model])
        values = scores.values[scores.undefined == 0].astype(np.float64)
        middle = [f"{one:.3f}" for one in np.quantile(values, [0.05, 0.5, 0.95])] if len(values) else ["–"] * 3
        rows.append((name, int(values.size), int(scores.undefined.size - values.size), *middle))
    screen.print(f"\n{model}", markup=False)
    print_table(screen, ("measure", "scores", "undefined", "5 %", "median", "95 %"), rows)
    for reason, count in about["undefined"].items():
        screen.print(f"{count:,} undefined in all: {reason}")
    for name, one in store.provenance["models"].items():
        if "recomputed" in one:
            screen.print(f"computed again: {one['recomputed']}", markup=False)
        for part, lost in one["coverage"]["lost"].items():
            screen.print(f"lost from {name} ({part}): {', '.join(lost)}", markup=False)
