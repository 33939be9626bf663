"""`biasgauge regress`: the use of words by covariates of documents, in three readings of the same occurrences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from biasgauge import analyses
from biasgauge.cli.command import DRAW, FigureOptions, Outcome, VectorFile, command
from biasgauge.cli.corpus_bias import read_words
from biasgauge.cli.files import Output, check_nothing
from biasgauge.cli.option_groups import Rare
from biasgauge.cli.screen import progress
from biasgauge.cli.typed_values import typed_names
from biasgauge.core import JsonObject, WordPolicy
from biasgauge.errors import ParameterError

EXAMPLES = """\
CORPUS is a table with a column of text (.csv, .tsv, .jsonl, .parquet,
.rds), or a folder of texts with --metadata. On the left of the formula
stand target words, joined by + to count as one, or the name of a list
(--targets); on the right covariates: factors, numbers, interactions (party
* year), C(party), log(n), center(year), poly(year, 2). With --a and --b the
association is read twice, from the projection on the axis from B to A and
from counts; the verdict says which of them answers and whether the others
agree. Name authors or outlets by --cluster: documents of one author are no
independent evidence. --at and --against choose values of covariates to set
against each other: differences, neighbors that differ; --at alone lists the
nearest words. --detection 20 plants differences of known size in random
halves: which would this text have shown? Settings by --set: remove (stop
words), min_count, save_transform (file for the matrix that was estimated on
the corpus), permutations, smallest (difference that matters), most
(neighbors of a side), show_text (of typical contexts), file (column of the
metadata that names files).

Examples:
  biasgauge regress speeches.csv --formula "immigration ~ party + gender" \\
      --vectors glove.300d.txt --transform A.npy --cluster speaker
  biasgauge regress speeches.jsonl \\
      --formula "immigrant + immigrants ~ party * year" --vectors glove.txt \\
      --a family,children --b illegal,border \\
      --at party=R,year=2010 --against party=D,year=2010 --detection 20
  biasgauge regress texts/ --metadata texts.csv --formula "jobs ~ decade" \\
      --targets jobs=bls2015 --vectors glove.txt \\
      --a he,his,man --b she,her,woman
"""
Table = Annotated[Path, Parameter(help="a table with a column of text, a folder of texts, or a tokenized corpus")]
TextColumn = Annotated[str, Parameter(name=("--text", "--field"))]
SETTINGS = {
    "min_count": int, "permutations": int, "smallest": float, "level": float, "tokenizer": str, "file": str,
    "remove": str, "most": int, "show_text": bool, "save_transform": Path, "min_coverage": float,
    "case_fallback": bool | None,
}  # fmt: skip


@Parameter(name="*")
@dataclass(frozen=True)
class AttributeLists:
    """Two groups of attributes.

    Attributes:
        a: first group of attributes: words separated by commas, a file, or NAME:SET
        b: second group
    """

    a: str | None = None
    b: str | None = None


NO_LISTS = AttributeLists()


@command(
    examples=EXAMPLES,
    settings=SETTINGS,
    outputs=(Output("tokens", "continued"),),
    checks=dict.fromkeys(("formula", "targets", "cluster", "at", "against", "text"), check_nothing),
)
def regress(
    corpus: Table,
    /,
    *,
    formula: str,
    vectors: VectorFile,
    transform: Path | None = None,
    lists: AttributeLists = NO_LISTS,
    targets: tuple[str, ...] = (),
    cluster: str | None = None,
    at: str | None = None,
    against: Rare[str | None] = None,
    contexts: int = 0,
    detection: int = 0,
    text: TextColumn = "text",
    metadata: Path | None = None,
    window: int = 6,
    tokens: Path | None = None,
    options: FigureOptions = DRAW,
    **further: Any,
) -> Outcome:
    """Regress the use of words on covariates of documents, from one corpus, without training.

    Args:
        formula: target words ~ covariates, such as "immigration ~ party + year"
        transform: transformation matrix of the vectors (.npy, .npz, .rds); by default estimated on the corpus
        targets: NAME=WORDS, repeat for several: a list of words that NAME stands for in the formula; its words are a
            sample
        cluster: column of authors, speakers or outlets, within which documents depend on each other
        at: values of covariates, such as party=R,year=2010, at which the nearest words are listed
        against: the values that they are set against
        contexts: typical contexts to list at the values of --at: documents and positions
        detection: random halves of the clusters in which differences of known size are planted, to tell which of them
            this text would show; 0 for none
        text: column of the text
        metadata: of a folder, the table with a row for each file, named in its column "file"
        window: words on each side
        tokens: folder to keep the tokenized corpus in, so that a later run goes on
    """
    most, show_text = further.pop("most", 20), further.pop("show_text", False)
    policy = WordPolicy.from_options(further.pop("min_coverage", None), further.pop("case_fallback", None))
    save_transform, remove = further.pop("save_transform", None), read_words(further.pop("remove", None)) or ()
    if save_transform is not None and save_transform.exists() and not options.force:
        raise ParameterError(f"{save_transform} is there already; name another file, or add --force.")
    chosen, other = _typed_values(at, "--at"), _typed_values(against, "--against")
    _check_needs(chosen, other, contexts, lists if detection else None)
    words = {side: read_words(typed) for side, typed in vars(lists).items()}
    with progress(options, "reading and embedding") as report:
        fit = analyses.regress.regress(
            corpus,
            formula,
            vectors=vectors,
            transform=transform,
            window=window,
            text=text,
            cluster=cluster,
            **words,
            targets=_typed_lists(targets),
            metadata=metadata,
            remove=remove,
            out=tokens,
            policy=policy,
            random_state=options.seed,
            progress=report,
            **further,
        )
    also, extra = _at_values(fit, words, chosen, other, policy) if chosen and fit.axis_terms else ({}, {})
    warnings: tuple[str, ...] = ()
    if chosen and fit.settings["targets"] == "sample of words":
        warnings = ("no neighbors: each word of a list has its own",)
    elif chosen and other:
        also["neighbors"] = fit.neighbors(chosen, other, most=most, random_state=options.seed)
    elif chosen:
        also["nearest"] = fit.nearest(chosen, most=most, random_state=options.seed)
    if contexts:
        also["contexts"] = fit.contexts(chosen, most=contexts, text=show_text)
    if detection:
        with progress(options, "planting differences") as report:
            also["detection"] = fit.detection(**words, draws=detection, random_state=options.seed, progress=report)
    written = {} if tokens is None else {"tokenized corpus": tokens}
    if save_transform is not None and fit.model is not None:
        written["transformation"] = fit.model.transform.save(save_transform)
    return Outcome(fit, also=also, extra=extra, warnings=warnings, written=written)


def _check_needs(chosen: JsonObject, other: JsonObject, contexts: int, lists: AttributeLists | None) -> None:
    """Refuse options that lack what they need; `lists` are those that --detection plants with."""
    if other and not chosen:
        raise ParameterError("--against needs --at: the values that are set against them.")
    if contexts and not chosen:
        raise ParameterError("--contexts needs --at: the values of covariates that contexts are typical of.")
    if lists is not None and not (lists.a and lists.b):
        raise ParameterError("--detection needs --a and --b: the words whose odds differ.")


def _at_values(
    fit: Any, words: Mapping[str, Any], chosen: JsonObject, other: JsonObject, policy: WordPolicy
) -> tuple[JsonObject, JsonObject]:  # fmt: skip
    """Predict the association at the typed values, and the contrast; results, and further JSON."""
    readings = {"axis": fit.axis(**words, policy=policy), "counts": fit.counts(**words)}
    usable = {kind: reading for kind, reading in readings.items() if reading.reason is None}
    also: JsonObject = {
        f"{kind}_at": reading.predictions(chosen, other or None) for kind, reading in usable.items()
    }  # fmt: skip
    contrasts = {kind: reading.contrast(chosen, other).to_dict() for kind, reading in usable.items() if other}
    return also, {"contrast": contrasts} if other else {}


def _typed_values(typed: str | None, option: str) -> JsonObject:
    """Read values of covariates: NAME=VALUE, separated by commas."""
    values: JsonObject = {}
    for text in typed_names(typed or ""):
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise ParameterError(f"{option} takes NAME=VALUE, separated by commas. Got {text!r}.")
        values[name.strip()] = value.strip()
    return values


def _typed_lists(typed: tuple[str, ...]) -> JsonObject:
    """Read lists of targets by name."""
    lists: JsonObject = {}
    for text in typed:
        name, equals, words = text.partition("=")
        if not equals or not name.strip() or not words.strip():
            raise ParameterError(f"--targets takes NAME=WORDS, such as jobs=bls2015. Got {text!r}.")
        lists[name.strip()] = read_words(words.strip())
    return lists
