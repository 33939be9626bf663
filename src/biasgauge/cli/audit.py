"""`biasgauge audit`: the main job."""

from __future__ import annotations

import os
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from biasgauge.cli.from_function import Option, command
from biasgauge.cli.inputs import check_files, check_models
from biasgauge.cli.outcome import Outcome
from biasgauge.cli.outputs import Output
from biasgauge.cli.screen import console, progress
from biasgauge.cli.views import typed_layers, typed_pooling, typed_templates
from biasgauge.cli.words import typed_names
from biasgauge.core import JsonObject, check_choice
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from biasgauge.cli.options import Options

EXAMPLES = """\
Decides for each question whether its answer may be reported: one line per
question with the rule that it fails. Writes report.html, report.json,
verdicts.csv and effects.csv. --verbose prints all the evidence, --quiet only
the page's path.

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
  biasgauge audit models/*.safetensors --calibration calibration.json
  biasgauge audit vectors.bin --tasks hateval.json --tasks coref.json
  biasgauge audit vectors.bin --quiet --fail-on report,report-with-care
  biasgauge audit models/*.safetensors --corpus models/corpus
  biasgauge audit --encoder all-MiniLM-L6-v2 --lexicon weat7 --lexicon weat8
"""

FAILED_ON = 3
"""Exit code when a verdict is one that --fail-on names."""
_OF_VIEWS = ("templates", "layers", "pooling")
_OF_POINTS = ("points_x", "points_y", "points_by", "points_unit", "points_seed")


def run(arguments: JsonObject, options: Options) -> Outcome:
    """Audit the vectors, or those after a change; write the page."""
    from biasgauge.audits import DECISIONS, Rules, audit, audit_encoder, brief, next_step, stopped_by, track
    from biasgauge.results import print_summary

    vectors, before, after = list(arguments.pop("vectors")), arguments["before"], arguments.pop("after")
    verbose, stop_at = arguments.pop("verbose"), arguments.pop("fail_on")
    if stop_at:  # --fail-on DECISION DECISION: the second stands where vectors do
        stop_at += [str(path) for path in vectors if str(path) in DECISIONS]
        vectors = [path for path in vectors if str(path) not in DECISIONS]
    for decision in stop_at:
        check_choice(DECISIONS, fail_on=decision)
    if (before is None) != (after is None) or (after is not None and vectors):
        raise ParameterError("--before and --after go together, and without other vectors.")
    columns = [arguments.pop(name) for name in _OF_POINTS]
    if arguments["points"] is None and any(columns):
        raise ParameterError(
            "--points-x, --points-y and the like say which columns of --points to use. Got no --points."
        )
    if arguments["points"] is not None:
        arguments["points"] = track(arguments["points"], *columns, random_state=options.seed)
    out, encoder = arguments.pop("out"), arguments.pop("encoder")
    views = _views(encoder, arguments, vectors=bool(vectors) or after is not None)
    rules = Rules(**{rule.name: arguments.pop(rule.name) for rule in fields(Rules) if rule.name in arguments})
    lexicons = arguments.pop("lexicon") or None
    models = [after] if after is not None else vectors or None
    with progress(options, "auditing") as bar:
        told: JsonObject = {"progress": bar, "stage": None if bar is None else bar.stage}
        told |= {"lexicons": lexicons, "rules": rules, "random_state": options.seed}
        start = partial(audit, models) if encoder is None else partial(audit_encoder, encoder, **views)
        result = start(**told, **arguments)
        if bar is not None:
            bar.stage("page")
        out.mkdir(parents=True, exist_ok=True)
        page = result.save(out / "report.html")
    stopped = stopped_by(result, stop_at)
    if stopped:
        console(options, aside=True).print(f"biasgauge: {stopped}", markup=False, soft_wrap=True)

    def show(screen: Console) -> None:
        if options.quiet:
            screen.print(str(page.resolve()), markup=False, soft_wrap=True)
        else:
            print_summary(screen, result.summary() if verbose else brief(result), terms=verbose)

    return Outcome(
        result,
        extra={"page": str(page)},
        written={"page": page},
        then="" if verbose else next_step(result),
        show=show,
        exit_code=FAILED_ON if stopped else 0,
    )


def check_vectors(typed: Sequence[Path]) -> None:
    """Refuse vectors that are not there; of --fail-on DECISION DECISION the second stands among them."""
    from biasgauge.audits import DECISIONS

    check_files(path for path in typed if str(path) not in DECISIONS)


def _views(encoder: str | None, arguments: JsonObject, *, vectors: bool) -> JsonObject:
    """How the transformer is to be seen, taken out of what was typed; the libraries below are told of no hub."""
    typed = {name: arguments.pop(name) for name in _OF_VIEWS}
    given = {name: value for name, value in typed.items() if value is not None}
    if encoder is None and given:
        raise ParameterError("--templates, --layers and --pooling say how --encoder is used. Got no --encoder.")
    if encoder is not None and vectors:
        raise ParameterError("--encoder goes without vectors, --before and --after.")
    if encoder is not None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    return given


def _column(about: str, **more: Any) -> Option:  # noqa: ANN401 - fields of Option
    return Option(about, type=str | None, default=None, **more)


app = command(
    "audits:audit",
    arguments="vectors",
    options="before after encoder templates layers pooling out lexicon language min_coverage case_fallback limit "
    "replicates alpha smallest points points_x points_y points_by points_unit points_seed tasks corpus calibration "
    "fail_on verbose",
    examples=EXAMPLES,
    terms="contrast replicate",
    sources=("audits:Rules",),
    changes={
        "vectors": Option(
            "vector files, one or several replicates: word2vec, GloVe, fastText .vec, .npz, .npy, safetensors, gzipped "
            "or not; without any, the vectors that ship with biasgauge",
            type=list[Path],
            default=(),
            check=check_vectors,
        ),
        "before": Option("vectors before something was done to them, with --after"),
        "after": Option(
            "the vectors after it, which are audited; the page also reports what the change did",
            type=Path | None,
            default=None,
        ),
        "encoder": Option(
            "a transformer in the place of vectors: its folder, or a GGUF file; all its layers, poolings and templates "
            "are asked together",
            type=str | None,
            default=None,
            check=check_models,
        ),
        "templates": Option(
            "with --encoder: sentences with {}, a set or a file, as in encode; repeat for several",
            type=tuple[str, ...],
            default=(),
            read=typed_templates,
        ),
        "layers": _column("with --encoder: all, or numbers separated by commas", read=typed_layers),
        "pooling": _column("with --encoder: mean, first, last, sentence, cls, or all", read=typed_pooling),
        "out": Option(
            "folder for the page and its tables; made if it does not exist", type=Path, default=Path("biasgauge-audit")
        ),
        "lexicon": Option(
            "a lexicon's name, your own TOML file, or a .txt file, one word per line; repeat for several; all shipped "
            "ones of the language by default",
            type=tuple[str, ...],
            default=(),
        ),
        "corpus": Option(
            "the text that the vectors were trained on, or its tokenized corpus: what does the text itself say?",
            type=Path | None,
            default=None,
        ),
        "language": Option(
            "language of the lexicons to look at: its code (en, es), or the file of a language of your own; English by "
            "default",
            type=str | None,
            default=None,
        ),
        "case_fallback": Option(
            "look a word up in another case too: yes, no, or auto, where the whole vocabulary is in lower case",
            type=Literal["auto", "yes", "no"],
            default="auto",
            read=lambda typed: {"auto": None, "yes": True, "no": False}[typed],
        ),
        "replicates": Option("the files are replicates, although no recipe beside them says so"),
        "alpha": Option(
            "verdicts: error rate of the whole audit: how often it may find an association of meaningless lists"
        ),
        "smallest": Option(
            "verdicts: smallest contrast that matters, in cosine units; by default what unrelated lists give in these "
            "vectors"
        ),
        "points": Option(
            "a table of intrinsic and extrinsic numbers, one row for each embedding", type=Path | None, default=None
        ),
        "points_x": _column('its column of the intrinsic number; "weat" by default'),
        "points_y": _column('its column of the extrinsic number; "gap" by default'),
        "points_by": _column(
            "columns whose values make strata, separated by commas; test, metric, method and the like by default",
            read=typed_names,
        ),
        "points_unit": _column(
            'column that says which rows belong together; "variant", "name" or "embedding" by default'
        ),
        "points_seed": _column('column with the random seed of the task model; "seed" by default'),
        "calibration": Option(
            "JSON of biasgauge calibrate: scores are then also told as planted odds ratios, beside the limit of "
            "detection",
            type=Path | None,
            default=None,
        ),
        "fail_on": Option(
            "for CI: leave with exit code 3 when a verdict is one of these, separated by commas, as in "
            "report,report-with-care",
            type=tuple[str, ...],
            default=(),
            read=lambda typed: [name for each in typed for name in typed_names(each)],
        ),
        "verbose": Option("print everything that was found, not only the verdicts", type=bool, default=False),
        "tasks": Option("JSON of biasgauge extrinsic, repeat for several", type=tuple[Path, ...], default=()),
    },
    call=run,
    saves=False,
    outputs=(Output("out", "folder", ("report.html", "report.json", "verdicts.csv", "effects.csv")),),
    fixed="lexicons rules",
)
