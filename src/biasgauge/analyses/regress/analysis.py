"""`regress`: does the use of a word differ between groups of documents?"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from biasgauge.analyses.regress.contexts import ContextReader
from biasgauge.analyses.regress.formulas import Design, Formula, build_design, complete_rows, parse_formula
from biasgauge.analyses.regress.model import CELLS, RegressionModel
from biasgauge.analyses.regress.norms import NormSettings, norm_table
from biasgauge.analyses.regress.occurrences import Occurrences, embed_occurrences
from biasgauge.analyses.regress.readings import AssociationReading, read_axis, read_counts
from biasgauge.analyses.regress.result import EmbeddingRegression
from biasgauge.analyses.regress.rows import TargetCount
from biasgauge.analyses.regress.transform import Transform, load_transform, transform_of
from biasgauge.analyses.regress.verdicts import SMALLEST, Speaker, TermCase, answering_readings, judge, title_of
from biasgauge.core import (
    DEFAULT_POLICY,
    Flags,
    Floats,
    Integers,
    JsonObject,
    WordPolicy,
    WordsLike,
    check_level,
    check_number,
    check_whole,
    did_you_mean,
)
from biasgauge.errors import ParameterError
from biasgauge.lexicons import words_of
from biasgauge.results import counted
from biasgauge.stats import holm, on_one_thread
from biasgauge.text import DocumentTable, read_documents

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.core import VectorsLike
    from biasgauge.io import Progress

POOR_RECOVERY = 0.4
"""Cosine with known vectors below which a transformation hardly recovers them."""


def regress(  # noqa: PLR0913 - settings are keyword arguments
    corpus: object,
    formula: str,
    *,
    vectors: VectorsLike,
    transform: Transform | Floats | str | os.PathLike[str] | None = None,
    window: int = 6,
    text: str = "text",
    cluster: str | None = None,
    a: WordsLike | None = None,
    b: WordsLike | None = None,
    targets: Mapping[str, WordsLike] | None = None,
    metadata: object = None,
    file: str = "file",
    tokenizer: str | Callable[[str], Iterable[str]] = "words",
    remove: WordsLike = (),
    min_count: int = 1,
    out: str | os.PathLike[str] | None = None,
    permutations: int = 999,
    smallest: float = SMALLEST,
    level: float = 0.95,
    policy: WordPolicy = DEFAULT_POLICY,
    random_state: int = 0,
    progress: Progress | None = None,
) -> EmbeddingRegression:
    """Regress the use of target words on covariates of documents, from one corpus, without training.

    Each occurrence of a target is embedded à la carte: the transformation times the mean of the vectors of the words
    around it. The embeddings are regressed on the covariates; with attribute lists A and B, so are their projections
    on the axis from B to A, and the log odds of A against B near the targets from counts. A verdict for each term says
    which of the three answers and whether the others agree.

    Args:
        corpus: a table with a column of text (.csv, .tsv, .jsonl, .parquet), a data frame, a list of records, a folder
            with `metadata`, or a tokenized corpus with it.
        formula: target words on the left, covariates on the right: "immigrant + immigrants ~ party * year". Words
            joined by + are one target; a name in `targets` is a list whose words are a sample, each with an intercept
            of its own, and errors are over words as well.
        vectors: pre-trained vectors of any kind.
        transform: the transformation matrix: of `estimate_transform`, a file, or an array; None: estimated on this
            corpus.
        window: words on each side.
        text: the column of the text: strings, or lists of tokens, in which an empty token is padding.
        cluster: a column such as author, speaker or outlet, within which documents depend on each other. None:
            documents are independent.
        a: words of the first group of attributes.
        b: words of the second group.
        targets: lists of words, by the name that stands for them in the formula.
        metadata: of a folder, a table with a row for each file; of a tokenized corpus, for each document.
        file: of a folder, the column of the metadata that names the file.
        tokenizer: of texts that are strings.
        remove: words that are removed before distances are counted, such as stop words.
        min_count: words rarer than this keep their place and count as without a vector.
        out: a folder to keep the tokenized corpus in; a later call opens it.
        permutations: draws of the test of each norm.
        smallest: the smallest difference that matters, in standard deviations of the occurrences (of their residuals
            for the norm) and in log odds; of a covariate that is not 0 or 1, per standard deviation of it.
        level: nominal coverage of the intervals; 1 − level is the error of the verdicts, over all terms.
        policy: how attribute words are looked up in the vectors, and how many must be there.
        random_state: seed of permutations and folds.
        progress: called with (done, total) of each stage.

    Raises:
        CorpusError: the text cannot be read, or lacks a column.
        ParameterError: an argument cannot be used, or the text has no occurrence of a target.
    """
    check_level(level)
    check_whole(1, permutations=permutations)
    check_number(0, ends=False, smallest=smallest)
    if (a is None) != (b is None):
        raise ParameterError("Give both 'a' and 'b', or neither.")
    if cluster is not None and cluster == text:
        raise ParameterError(
            f"The 'cluster' parameter names the column of the text, {text!r}: each text would be a cluster by itself. "
            f"Name a column such as author or outlet, or leave it out, which takes each document as a cluster."
        )
    parsed = parse_formula(formula)
    words, is_sample = target_words(parsed, targets or {})
    columns = [*parsed.variables, *([cluster] if cluster is not None else [])]
    table = read_documents(
        corpus, columns, text=text, metadata=metadata, file=file, tokenizer=tokenizer, out=out, progress=progress
    )
    removed = words_of(remove).words if remove else ()
    reader = ContextReader(table.corpus, vectors, window=window, remove=removed, min_count=min_count)
    _check_targets(reader, words)
    if transform is None:
        matrix = transform_of(reader, random_state=random_state, progress=progress)
    else:
        matrix = load_transform(transform, reader.dim)
    embedded = embed_occurrences(reader, matrix.matrix, words, progress)
    settings = FitSettings(cluster, a, b, permutations, smallest, level, policy, random_state, is_sample)
    result = fit_regression(table, reader, vectors, matrix, embedded, parsed, settings, progress)
    reading: JsonObject = {"text": text, "remove": len(removed), "min_count": min_count}
    return replace(result, settings={**result.settings, **reading})


@dataclass(frozen=True)
class FitSettings:
    """Settings of a fit, once the occurrences are embedded; those of `regress`.

    Attributes:
        cluster: column within which documents depend on each other.
        a, b: attribute words.
        permutations: draws of the test of each norm.
        smallest: the smallest difference that matters.
        level: nominal coverage of the intervals.
        policy: how attribute words are looked up.
        random_state: seed of the draws.
        is_sample: whether the targets are a sample of words.
    """

    cluster: str | None = None
    a: WordsLike | None = None
    b: WordsLike | None = None
    permutations: int = 999
    smallest: float = SMALLEST
    level: float = 0.95
    policy: WordPolicy = DEFAULT_POLICY
    random_state: int = 0
    is_sample: bool = False


def fit_regression(
    table: DocumentTable, reader: ContextReader, vectors: VectorsLike, transform: Transform, embedded: Occurrences,
    formula: Formula, settings: FitSettings, progress: Progress | None = None,
) -> EmbeddingRegression:  # fmt: skip
    """Fit the three readings to occurrences that are embedded already, and judge each term.

    Raises:
        ParameterError: too few documents are left, or the formula or the attribute words cannot be used.
    """
    with on_one_thread():
        return _fit(table, reader, vectors, transform, embedded, formula, settings, progress)


def _fit(
    table: DocumentTable, reader: ContextReader, vectors: VectorsLike, transform: Transform, embedded: Occurrences,
    formula: Formula, settings: FitSettings, progress: Progress | None,
) -> EmbeddingRegression:  # fmt: skip
    model, counts = build_model(
        table, reader, vectors, transform, embedded, formula, settings.cluster, is_sample=settings.is_sample
    )
    level, n_clusters = settings.level, len(np.unique(model.clusters))
    record: JsonObject = {
        "corpus": table.corpus.checksum, "tokens": len(table.corpus.tokens), "documents": len(table.ids),
        "formula": formula.text, "vectors": reader.embedding.name, "window": reader.window, "cluster": settings.cluster,
        "clusters": n_clusters, "targets": "sample of words" if settings.is_sample else "one word",
        "permutations": settings.permutations, "smallest": settings.smallest, "level": level,
        "min_coverage": settings.policy.min_coverage, "random_state": settings.random_state,
    }  # fmt: skip
    norm_settings = NormSettings(level, settings.permutations, settings.random_state, settings.cluster is not None)
    fits = model.embedding_fits
    skip = 0 if settings.is_sample else 1  # the intercept is no term
    norms = norm_table(fits[:2], model.occurrences.squares, model.columns, skip, norm_settings)
    readings: tuple[AssociationReading, ...] = ()
    if settings.a is not None and settings.b is not None:
        counted_words = [target.word for target in counts]
        readings = (
            read_axis(model, settings.a, settings.b, settings.policy, level),
            read_counts(model, counted_words, settings.a, settings.b, level, progress),
        )
    answers = [answering_readings(norm, readings) for norm in norms]
    adjusted = iter(holm([p for answer in answers for p in answer.values()]))
    adjusted_p = [{kind: next(adjusted) for kind in answer} for answer in answers]
    speakers = [_smallest_p(answer) for answer in answers]
    sides = [tuple(words_of(side).words) if side is not None else () for side in (settings.a, settings.b)]
    spread = _residual_spread(model)
    verdicts = tuple(
        judge(TermCase(
            term=norm.term, title=title_of([target.word for target in counts], norm.term, *sides),
            unit=_unit(model, norm.term), norm=norm, spread=spread, clusters=n_clusters, readings=readings,
            speaker=speaker, p_adjusted=p_values[speaker], alpha=1 - level, smallest=settings.smallest,
        ))
        for norm, speaker, p_values in zip(norms, speakers, adjusted_p, strict=True)
    )  # fmt: skip
    by_kind = {reading.kind: reading for reading in readings}
    return EmbeddingRegression(
        formula=formula.text, targets=counts, terms=norms,
        axis_terms=by_kind["axis"].rows if readings else (),
        count_terms=by_kind["counts"].rows if readings else (),
        background_terms=by_kind["axis"].background if readings else (),
        verdicts=verdicts, speakers=dict(zip([norm.term for norm in norms], speakers, strict=True)),
        attributes={
            kind: {"a": reading.a, "b": reading.b, "lost": reading.lost, "unit": reading.unit, "n": reading.n,
                   "reason": reading.reason}
            for kind, reading in by_kind.items()
        },
        transform=transform.to_dict(), settings=record,
        warnings=tuple(_warnings(table, model, counts, readings, sides)), model=model,
    )  # fmt: skip


def target_words(formula: Formula, targets: Mapping[str, WordsLike]) -> tuple[tuple[str, ...], bool]:
    """Target words of a formula, and whether they are a sample of words.

    Raises:
        ParameterError: a list is joined with other words, or stands in no formula.
    """
    lists = [word for word in formula.words if word in targets]
    if targets and not lists:
        name = next(iter(targets))
        near = did_you_mean(name, formula.words) or "."
        raise ParameterError(f"The list {name!r} of targets is not on the left side of {formula.text!r}{near}")
    if not lists:
        return formula.words, False
    if len(formula.words) > 1:
        raise ParameterError(f"The list {lists[0]!r} stands alone on the left side of a formula.")
    words = tuple(dict.fromkeys(words_of(targets[lists[0]]).words))
    return words, len(words) > 1


def _check_targets(reader: ContextReader, words: Sequence[str]) -> None:
    if not any(reader.count(word) for word in words):
        near = did_you_mean(words[0], reader.corpus.words)
        raise ParameterError(f"The text has no occurrence of {', '.join(map(repr, words[:5]))}{near or '.'}")


def build_model(
    table: DocumentTable, reader: ContextReader, vectors: VectorsLike, transform: Transform, embedded: Occurrences,
    formula: Formula, cluster: str | None, *, is_sample: bool,
) -> tuple[RegressionModel, tuple[TargetCount, ...]]:  # fmt: skip
    """Set occurrences beside the covariates of their documents; those of incomplete documents are left out.

    Raises:
        ParameterError: too few documents are left, or the formula cannot be applied to them.
    """
    complete = complete_rows(table.covariates) if len(table.covariates.columns) else np.ones(len(table.ids), bool)
    kept = embedded.select(complete[embedded.documents])
    counts = _target_counts(embedded, kept)
    if not len(kept):
        raise ParameterError(
            "No occurrence of a target has a vector around it and stands in a document with covariates."
        )
    if is_sample:
        kept = kept.select(_words_that_vary(kept, table.covariates[list(formula.variables)]))
        if not len(kept):
            raise ParameterError("No target word of the list stands in documents that differ by a covariate.")
    else:
        kept = kept.join_words()
    documents, first = np.unique(kept.documents, return_index=True)
    weights = np.add.reduceat(kept.counts, first).astype(np.float64)
    design = build_design(formula, table.covariates.iloc[documents], weights)
    groups = cluster_codes(table.covariates, cluster, complete)
    n_clusters = len(np.unique(groups[documents]))
    if n_clusters < 2:
        unit = "document" if cluster is None else cluster
        raise ParameterError(f"All occurrences of the targets stand in one {unit}; there is no error to estimate.")
    everywhere, rows = _complete_design(design, table.covariates, complete)
    model = RegressionModel(
        reader, vectors, transform, kept, documents, design, groups[documents], table.ids, is_sample,
        everywhere, rows, groups[everywhere],
    )  # fmt: skip
    return model, counts


def _words_that_vary(occurrences: Occurrences, covariates: pd.DataFrame) -> Flags:
    """Cells of words that stand in documents of more than one value of some covariate; the others tell nothing."""
    values = [covariates[name].to_numpy() for name in covariates.columns]
    codes = np.array([np.unique(column.astype(str), return_inverse=True)[1] for column in values])
    first = codes[:, occurrences.documents]
    varies = np.zeros(len(occurrences.targets), bool)
    for word in range(len(varies)):
        inside = first[:, occurrences.words == word]
        varies[word] = bool(inside.size and (inside != inside[:, :1]).any())
    cells: Flags = varies[occurrences.words]
    return cells


def cluster_codes(covariates: pd.DataFrame, cluster: str | None, complete: Flags) -> Integers:
    """Number of the cluster of each document; each its own without a cluster column."""
    if cluster is None:
        return np.arange(len(complete))
    codes: Integers = covariates[cluster].factorize(sort=True)[0]
    return codes


def _complete_design(design: Design, covariates: pd.DataFrame, complete: Flags) -> tuple[Integers, Floats]:
    """Documents of the whole text that the design covers, and their rows: counts need those without a target, too."""
    frame = covariates[list(design.frame.columns)]
    documents = np.flatnonzero(complete & design.covers(frame))
    return documents, design.matrix_of(frame.iloc[documents].reset_index(drop=True))


def _target_counts(embedded: Occurrences, kept: Occurrences) -> tuple[TargetCount, ...]:
    n_words = len(embedded.targets)
    total = np.bincount(embedded.words, embedded.counts, minlength=n_words).astype(int)
    inside = np.bincount(kept.words, kept.counts, minlength=n_words).astype(int)
    documents = np.bincount(kept.words, minlength=n_words)
    return tuple(
        TargetCount(
            word, int(inside[i]), int(documents[i]), int(embedded.without_vectors[i]), int(total[i] - inside[i])
        )
        for i, word in enumerate(embedded.targets)
    )


def _smallest_p(answer: Mapping[Speaker, float | None]) -> Speaker:
    """Reading with the smallest p; the first where none has one."""
    return min(answer, key=lambda kind: 2.0 if (p := answer[kind]) is None else p)


def _unit(model: RegressionModel, term: str) -> float:
    """1 for a column of 0 and 1, otherwise the standard deviation of the column over occurrences."""
    column = model.design.matrix[:, model.design.columns.index(term)]
    if np.isin(column, (0.0, 1.0)).all():
        return 1.0
    weights = model.design.weights / model.design.weights.sum()
    return float(np.sqrt(weights @ (column - weights @ column) ** 2)) or 1.0


def _residual_spread(model: RegressionModel) -> float:
    """Root mean square length of the embeddings less their fit."""
    occurrences, rows = model.occurrences, model.cell_rows
    total = float(occurrences.squares.sum())
    for first in range(0, len(rows), CELLS):
        cells = slice(first, first + CELLS)
        fitted = model.design.matrix[rows[cells]] @ model.coefficients
        total -= 2 * float(np.einsum("rd,rd->", fitted, occurrences.sums[cells]))
        total += float((occurrences.counts[cells] * (fitted**2).sum(axis=1)).sum())
    return float(np.sqrt(max(total / occurrences.total, 0.0)))


def _text_among_numbers(column: pd.Series) -> str | None:
    """First cell that is no number of a column most of whose cells are numbers."""
    import pandas as pd

    present = column.dropna()
    texts = present[pd.to_numeric(present, errors="coerce").isna()]
    return str(texts.iloc[0])[:40] if 0 < 2 * len(texts) < len(present) else None


def _covariate_warnings(design: Design, covariates: pd.DataFrame) -> Iterable[str]:
    for name, (low, high) in design.interactions_far_from_zero.items():
        yield (
            f"terms that interact with {name} are differences at {name} = 0, outside of the data ({low:g} to "
            f"{high:g}); write center({name}) for differences at its mean"
        )
    for name in design.levels:
        if example := _text_among_numbers(covariates[name]):
            yield f"{name} is a factor, since one of its cells is {example!r}; most are numbers"


def _warnings(
    table: DocumentTable, model: RegressionModel, counts: Sequence[TargetCount],
    readings: Sequence[AssociationReading], sides: Sequence[Sequence[str]],
) -> Iterable[str]:  # fmt: skip
    yield from _covariate_warnings(model.design, table.covariates)
    if table.without_words:
        yield f"{counted(table.without_words, 'row')} without a word left out"
    if incomplete := sum(target.incomplete for target in counts):
        yield f"{counted(incomplete, 'occurrence')} in documents that lack a covariate left out"
    absent = [target.word for target in counts if not target.occurrences]
    if absent:
        yield f"target words without an occurrence: {', '.join(absent)}"
    if shared := {target.word for target in counts} & {word for side in sides for word in side}:
        yield f"target words that are attribute words as well: {', '.join(sorted(shared))}"
    recovery = model.transform.recovery
    if recovery is not None and recovery.cosine < POOR_RECOVERY:
        yield (
            f"the transformation hardly recovers known vectors (cosine {recovery.cosine:.2f}): estimate it "
            "on a larger corpus, or give a published one"
        )
    for reading in readings:
        name = "the vectors" if reading.kind == "axis" else "the text"
        yield from (f"not in {name}, {side}: {', '.join(words)}" for side, words in reading.lost.items())
        yield from reading.warnings
        if reading.reason is not None:
            yield f"no {reading.kind}: {reading.reason}"
