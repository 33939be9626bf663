"""`biasgauge audit`: the main job."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from biasgauge import audits
from biasgauge.cli.command import WRITE, MinCoverage, Outcome, WriteOptions, command
from biasgauge.cli.files import FIGURES, Output, check_files, check_models
from biasgauge.cli.option_groups import Rare
from biasgauge.cli.screen import console, progress
from biasgauge.cli.typed_values import typed_layers, typed_names, typed_pooling, typed_templates
from biasgauge.core import JsonObject, WordPolicy, check_choice
from biasgauge.errors import ParameterError
from biasgauge.results import print_summary

if TYPE_CHECKING:
    from rich.console import Console

EXAMPLES = """\
Decides for each question whether its answer may be reported: one line per
question with the rule that it fails. Writes report.html, report.json,
verdicts.csv and effects.csv; a tab of the page measures your own word lists.
--verbose prints all the evidence, --quiet only the page's path.

--points is a table with a row for each embedding that was measured and applied
(see correlate): do the intrinsic numbers track the application? --tasks takes
what extrinsic --json printed.

Examples:
  biasgauge audit
  biasgauge audit GoogleNews-vectors-negative300.bin.gz --limit 500000
  biasgauge audit seed1.bin seed2.bin seed3.bin --out replicates
  biasgauge audit vectores.vec --language es
  biasgauge audit glove.txt --lexicon weat7 --lexicon my_words.toml
  biasgauge audit vectors.bin --primary weat7
  biasgauge audit --before vectors.bin --after debiased.bin
  biasgauge audit --points points.csv --points-x weat --points-y gap
  biasgauge audit models/*.safetensors --calibration calibration.json
  biasgauge audit vectors.bin --tasks hateval.json --tasks coref.json
  biasgauge audit vectors.bin --quiet --fail-on report,report-with-care
  biasgauge audit models/*.safetensors --corpus models/corpus
  biasgauge audit --encoder FOLDER --lexicon weat7 --lexicon weat8
"""

FAILED_ON = 3
"""Exit code when a verdict is one that --fail-on names."""


def check_vectors(typed: Sequence[Path]) -> None:
    """Refuse missing vectors; of --fail-on DECISION DECISION the second stands among them."""
    check_files(path for path in typed if str(path) not in audits.DECISIONS)


@command(
    examples=EXAMPLES,
    terms="contrast replicate",
    settings={"agreement": float, "reliability": float},
    checks={"vectors": check_vectors, "encoder": check_models},
    outputs=(FIGURES, Output("out", "folder", ("report.html", "report.json", "verdicts.csv", "effects.csv"))),
)
def audit(
    vectors: Sequence[Path] = (),
    /,
    *,
    before: Path | None = None,
    after: Path | None = None,
    encoder: str | None = None,
    templates: tuple[str, ...] = (),
    layers: str | None = None,
    pooling: str | None = None,
    out: Path = Path("biasgauge-audit"),
    lexicon: tuple[str, ...] = (),
    language: str | None = None,
    min_coverage: MinCoverage = 0.8,
    case_fallback: Literal["auto", "yes", "no"] = "auto",
    limit: int | None = None,
    replicates: bool = False,
    alpha: float = 0.05,
    smallest: float | None = None,
    primary: tuple[str, ...] = (),
    correction: Rare[Literal["fdr", "familywise"]] = "fdr",
    points: Path | None = None,
    points_x: Rare[str | None] = None,
    points_y: Rare[str | None] = None,
    points_by: Rare[str | None] = None,
    points_unit: Rare[str | None] = None,
    points_seed: Rare[str | None] = None,
    tasks: tuple[Path, ...] = (),
    corpus: Path | None = None,
    calibration: Path | None = None,
    fail_on: tuple[str, ...] = (),
    figures: Path | None = None,
    verbose: bool = False,
    options: WriteOptions = WRITE,
    **further: Any,
) -> Outcome:
    """Audit vectors: how biased are they, and what may be reported? Writes a page.

    Args:
        vectors: vector files, one or several replicates: word2vec, GloVe, fastText .vec, .npz, .npy, safetensors,
            gzipped or not; without any, the vectors that ship with biasgauge
        before: vectors before a change, such as debiasing, with --after
        after: the vectors after it, which are audited; the page also reports what the change did
        encoder: a transformer instead of vectors, with all its layers, poolings and templates: folder or GGUF file
        templates: with --encoder: sentences with {}, a set or a file, as in encode; repeat for several
        layers: with --encoder: all, or numbers separated by commas
        pooling: with --encoder: mean, first, last, sentence, cls, or all
        out: folder for the page and its tables; made if it does not exist
        lexicon: a lexicon's name, your own TOML file, or a .txt file, one word per line; repeat for several; all
            shipped ones of the language by default
        language: of the lexicons: its code (en, es), or the file of a language of your own; English by default
        case_fallback: look a word up in another case too: yes, no, or auto, where the whole vocabulary is in lower case
        limit: read only this many rows of each file
        replicates: the files are replicates, although no recipe beside them says so
        alpha: verdicts: error rate of all questions together: how often the audit may find an association of lists that
            mean nothing
        smallest: verdicts: smallest contrast that matters, in cosine units; by default that of unrelated lists
        primary: verdicts: names of questions or lexicons to judge at alpha apart from all others, separated by commas;
            the others are corrected among themselves
        correction: verdicts: of p for many questions: fdr (false discovery rate) or familywise (stricter: Holm)
        points: a table of intrinsic and extrinsic numbers, one row for each embedding
        points_x: its column of the intrinsic number; "weat" by default
        points_y: its column of the extrinsic number; "gap" by default
        points_by: columns whose values make strata, separated by commas; test, metric, method and the like by default
        points_unit: column that says which rows belong together; "variant", "name" or "embedding" by default
        points_seed: column with the random seed of the task model; "seed" by default
        tasks: JSON of biasgauge extrinsic, repeat for several
        corpus: the text that the vectors were trained on, or its tokenized corpus: what does the text itself say?
        calibration: JSON of biasgauge calibrate: scores are also given as odds ratios, with the limit of detection
        fail_on: for CI: exit with code 3 when a verdict is one of these, separated by commas, as in
            report,report-with-care
        figures: folder for the figures of the page, as SVG, PNG and PDF
        verbose: print everything that was found, not only the verdicts
    """
    decisions = [name for names in fail_on for name in typed_names(names)]
    if decisions:  # --fail-on DECISION DECISION: the second stands where vectors do
        decisions += [str(path) for path in vectors if str(path) in audits.DECISIONS]
        vectors = [path for path in vectors if str(path) not in audits.DECISIONS]
    for decision in decisions:
        check_choice(audits.DECISIONS, fail_on=decision)
    columns = (points_x, points_y, None if points_by is None else typed_names(points_by), points_unit, points_seed)
    views = _read_views(templates, layers, pooling)
    models = vectors if after is None else [*vectors, after]
    _check_combination(len(models), before, after, encoder, views, None if points is not None else columns)
    with progress(options, "auditing") as bar:
        settings: JsonObject = {
            "before": before,
            "lexicons": lexicon or None,
            "language": language,
            "policy": WordPolicy.from_options(min_coverage, {"auto": None, "yes": True, "no": False}[case_fallback]),
            "limit": limit,
            "replicates": replicates,
            "rules": audits.Rules(alpha=alpha, smallest=smallest, correction=correction, **further),
            "primary": [name for names in primary for name in typed_names(names)],
            "points": None if points is None else audits.track(points, *columns, random_state=options.seed),
            "tasks": tasks,
            "corpus": corpus,
            "calibration": calibration,
            "random_state": options.seed,
            "progress": bar,
            "stage": None if bar is None else bar.stage,
        }
        if encoder is None:
            result = audits.audit(models or None, workbench=True, **settings)
        else:
            os.environ.setdefault("HF_HUB_OFFLINE", "1")
            result = audits.audit_encoder(encoder, **views, **settings)
        if bar is not None:
            bar.stage("page")
        out.mkdir(parents=True, exist_ok=True)
        page = result.save(out / "report.html")
    failure = audits.stopped_by(result, decisions)
    if failure:
        console(options, aside=True).print(f"biasgauge: {failure}", markup=False, soft_wrap=True)

    def show(screen: Console) -> None:
        if options.quiet:
            screen.print(str(page.resolve()), markup=False, soft_wrap=True)
        else:
            print_summary(screen, result.summary() if verbose else audits.brief(result), terms=verbose)

    return Outcome(
        result,
        extra={"page": str(page)},
        written={"page": page},
        then="" if verbose else audits.next_step(result),
        show=show,
        figures=figures,
        exit_code=FAILED_ON if failure else 0,
    )


def _check_combination(
    models: int,
    before: Path | None,
    after: Path | None,
    encoder: str | None,
    views: JsonObject,
    unused_columns: Sequence[object] | None,
) -> None:
    """Refuse options that do not go together."""
    if (before is None) != (after is None) or (after is not None and models > 1):
        raise ParameterError("--before and --after must be given together, without other vectors.")
    if any(unused_columns or ()):
        raise ParameterError(
            "--points-x, --points-y and the like say which columns of --points to use. Got no --points."
        )
    if encoder is None and views:
        raise ParameterError("--templates, --layers and --pooling say how --encoder is used. Got no --encoder.")
    if encoder is not None and models:
        raise ParameterError("--encoder goes without vectors, --before and --after.")


def _read_views(templates: Sequence[str], layers: str | None, pooling: str | None) -> JsonObject:
    """The views of a transformer that were typed."""
    views = {
        "templates": typed_templates(templates) if templates else None,
        "layers": None if layers is None else typed_layers(layers),
        "pooling": None if pooling is None else typed_pooling(pooling),
    }
    return {name: value for name, value in views.items() if value is not None}
