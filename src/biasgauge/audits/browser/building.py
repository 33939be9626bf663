"""`workbench`: choose the words of the page, round their vectors, and measure what that does to contrasts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from biasgauge.audits.browser.quantizing import Quantized, largest_cosine_error, quantize
from biasgauge.audits.context import AuditContext, build_context
from biasgauge.audits.measurement import SANITY, Measured, Tabulated, tabulate
from biasgauge.audits.shared_scores import page_words
from biasgauge.audits.subjects import Subject
from biasgauge.audits.verdicts import Rules
from biasgauge.core import JsonMapping, LexiconLike, VectorsLike, WordPolicy, check_whole, today
from biasgauge.errors import ParameterError
from biasgauge.lexicons import (
    DEFAULT_LANGUAGE,
    AssociationTest,
    Language,
    Lexicon,
    Pairs,
    language_of,
    languages,
    lexicons_in_language,
    pairs_of,
)
from biasgauge.lexicons import lexicon as read_reference
from biasgauge.results import Result, counted, figures_text
from biasgauge.stats import contrast_values
from biasgauge.vectors import Embedding, load

if TYPE_CHECKING:
    from biasgauge.io import Progress

WORDS = 20_000
"""Words of a page: 4 MB of vectors with 100 dimensions, 12 MB with 300."""
AUDIT_WORDS = 10_000
"""Words of the page beside that of an audit."""
FEWEST = 2
_DIGITS = 2


@dataclass(frozen=True, eq=False, repr=False)
class Workbench(Result):
    """A page that measures word lists in the browser, with the vectors of some thousand words.

    `save("words.html")` writes the page, one file that loads nothing.

    Attributes:
        model: name of the vectors.
        words: number of words of the page.
        dim: number of dimensions.
        bits: of each number of the page.
        quantization_error: largest difference that rounding to `bits` makes to the cosine of two words, over 100,000
            random pairs.
        contrast_error: largest difference that it makes to the contrast of a shipped test at equal word frequency; None
            where none can be measured.
        smallest: the smallest contrast that matters, in cosine units: that of an audit of all tests of the language.
        frequency: source of word frequencies; None where they are not known.
        settings: everything that decides the page.
        embedding: the words of the page with the very vectors that the browser has, and the frequencies of the model.
        quantized: their numbers.
        lexicons: lists that the page offers.
        pairs: base pairs of the language; None without.
        fallback: whether words are looked up in lower case and capitalized, too.
        date: the day on which it was made.
    """

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {"model": str, "words": int, "warnings": tuple[str, ...]}
    page_companions: ClassVar[tuple[str, ...]] = ()

    model: str
    words: int
    dim: int
    bits: int
    quantization_error: float
    contrast_error: float | None
    smallest: float
    frequency: str | None
    settings: JsonMapping
    embedding: Embedding
    quantized: Quantized
    lexicons: tuple[Lexicon, ...]
    pairs: Pairs | None
    fallback: bool
    date: str

    def to_dict(self) -> dict[str, Any]:
        """Numbers of the page, without its words and vectors."""
        names = ("model", "words", "dim", "bits", "quantization_error", "contrast_error", "smallest", "frequency")
        return {**{name: getattr(self, name) for name in names}, "settings": dict(self.settings), "warnings": []}

    def page(self) -> str:
        """Render the page."""
        from biasgauge.audits.browser.rendering import workbench_page

        return workbench_page(self)

    def _title(self) -> str:
        return f"Workbench of {self.model}"

    def _headline(self) -> str:
        return f"The page holds {counted(self.words, 'word')} of {self.model} in {self.bits} bits per number."

    def _sentences(self) -> Sequence[str]:
        rounding = f"Rounding changes a cosine by {figures_text(self.quantization_error, _DIGITS)} at most"
        if self.contrast_error is not None:
            rounding += f", and a contrast of the shipped tests by {figures_text(self.contrast_error, _DIGITS)} at most"
        return (
            f"{rounding}.",
            f"The smallest contrast that matters is {figures_text(self.smallest, 3)}.",
        )


def workbench(
    vectors: VectorsLike | None = None,
    *,
    words: int = WORDS,
    bits: int = 16,
    lexicons: Iterable[LexiconLike] = (),
    language: str = DEFAULT_LANGUAGE,
    smallest: float | None = None,
    limit: int | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Workbench:
    """Build a page on which anybody measures lists of their own words, without Python, a server or a network.

    The page holds the words of the lexicons, then the first words of the file. Its numbers are those of Python on
    `.embedding`, which has the rounded vectors: `weat` and `audit` of the same lists give the same.

    Args:
        vectors: one model, or anything `load` takes; those that ship when None.
        words: number of words of the page, at most.
        bits: 16, or 8 for a page of half the size.
        lexicons: further word lists that the page offers, as names, files or objects.
        language: of the word lists.
        smallest: smallest contrast that matters, in cosine units; by default that of an audit of all shipped tests.
        limit: read only the first `limit` rows of the file.
        random_state: random seed.
        progress: called with (done, total) while the file is read.

    Raises:
        ParameterError: an argument cannot be used, or the vectors have fewer than two words.
        EmbeddingFormatError: the vector file is not what it should be.
        LexiconError: a lexicon is unknown.
    """
    check_whole(FEWEST, words=words)
    rules = Rules(smallest=smallest)
    if vectors is None:
        from biasgauge.vectors import load_default

        model = load_default(limit)
    else:
        model = load(vectors, limit=limit, progress=progress)
    further = tuple(map(read_reference, lexicons))
    shipped = _offered_lexicons(language_of(language))
    if not shipped and not further:
        names = ", ".join(record.name for record in languages())
        raise ParameterError(
            f"The 'language' parameter of workbench must be a language of the shipped lexicons ({names}); or name your "
            f"own lexicons. Got {language!r}."
        )
    asking = [lexicon for lexicon in shipped if lexicon.kind == "test" and not lexicon.on_request]
    context = build_context(
        [model], lexicons=(*further, *asking), language=language, rules=rules, random_state=random_state
    )
    settings = {"limit": limit, "shipped": "glove" if vectors is None else ""}
    return workbench_of_context(context, further, words, bits, settings)


def workbench_of_audit(context: AuditContext) -> Workbench | None:
    """Build the workbench that lies beside the page of an audit; None for vectors of fewer than two words."""
    if len(context.models[0]) < FEWEST:
        return None
    lists = [lexicon for lexicon in context.lexicons if isinstance(lexicon, AssociationTest) and not lexicon.shipped]
    settings = {
        "limit": context.options.get("limit"),
        "shipped": "replicates" if context.options.get("shipped") else "",
    }
    return workbench_of_context(context, lists, AUDIT_WORDS, settings=settings)


def workbench_of_context(
    context: AuditContext,
    lexicons: Sequence[Lexicon] = (),
    words: int = WORDS,
    bits: int = 16,
    settings: JsonMapping = MappingProxyType({}),
) -> Workbench:
    """Build the workbench of the first model of an audit, with the smallest contrast that matters there.

    Args:
        context: of the audit.
        lexicons: word lists that the page offers before those of the language.
        words: number of words of the page, at most.
        bits: of each number.
        settings: further settings to record.

    Raises:
        ParameterError: the vectors have fewer than two words.
    """
    model, language = context.models[0], context.language.name
    offered = (*lexicons, *(lexicon for lexicon in _offered_lexicons(context.language) if lexicon not in lexicons))
    pairs = None if context.language.lacks("base_pairs") else pairs_of(context.language.named("base_pairs")[0])
    fallback = context.policy.uses_fallback([model])
    first = (*lexicons, *([pairs] if pairs is not None else []))
    chosen = page_words(model, first, words, further=offered, case_fallback=fallback)
    if len(chosen) < FEWEST:
        raise ParameterError(f"A workbench needs vectors of two words at least. Got {len(chosen)} in {model.name}.")
    part = model.subset(chosen)
    quantized = quantize(part.vectors, bits)
    rounded = replace(part, vectors=quantized.vectors).with_frequencies_of(model, language)
    log = model.log_frequencies(language)
    return Workbench(
        model=model.name,
        words=len(part),
        dim=part.dim,
        bits=bits,
        quantization_error=largest_cosine_error(part.vectors, quantized.vectors, context.random_state),
        contrast_error=_largest_contrast_error(context, rounded),
        smallest=context.smallest_contrast(context.subjects[0]),
        frequency=None if log is None else log.source,
        settings={
            "source": model.source,
            "shipped": "",
            "words": words,
            "bits": bits,
            "language": language,
            "lexicons": [lexicon.name for lexicon in lexicons],
            "smallest": context.rules.smallest,
            "random_state": context.random_state,
            **settings,
        },
        embedding=rounded,
        quantized=quantized,
        lexicons=offered,
        pairs=pairs,
        fallback=fallback,
        date=today(),
    )


def _offered_lexicons(language: Language) -> list[Lexicon]:
    """Lexicons of the language whose lists a reader may start from: tests first; none of a thousand words or more."""
    kinds = ("test", "pairs", "words", "sets")
    shipped = [lexicon for lexicon in lexicons_in_language(language) if lexicon.kind in kinds]
    return sorted((row for row in shipped if len(row.words) < 1_000), key=lambda row: kinds.index(row.kind))


def _largest_contrast_error(context: AuditContext, rounded: Embedding) -> float | None:
    """Return the largest difference of the contrasts of tests in the model and in the rounded vectors."""
    policy = WordPolicy(min_coverage=0.5, case=context.policy.case)
    errors = []
    for outcome in context.outcomes:
        if not isinstance(outcome, Measured) or outcome.query.kind != "test" or outcome.query.family == SANITY:
            continue
        again = tabulate(outcome.query, Subject(rounded.name, (rounded,)), policy)
        if isinstance(again, Tabulated) and again.target_words == outcome.target_words:
            table, rows, columns = again.decisive
            value = float(contrast_values(table[None], rows, columns, outcome.query.weights)[0])
            errors.append(abs(value - outcome.value))
    return max(errors) if errors and np.isfinite(errors).all() else None
