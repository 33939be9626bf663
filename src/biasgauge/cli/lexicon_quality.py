"""`biasgauge lexicons quality|subspace|seed-bank`: are two word lists fit to measure anything?"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from biasgauge import analyses, lexicons
from biasgauge.cli.command import (
    DRAW,
    OPTIONS,
    FigureOptions,
    Level,
    Options,
    Outcome,
    command,
)
from biasgauge.cli.option_groups import Rare
from biasgauge.cli.screen import progress
from biasgauge.cli.typed_values import LOOKUP, WordLookup, typed_words
from biasgauge.core import JsonObject
from biasgauge.errors import ParameterError

EXAMPLES = """\
Coherence: how far apart the two sets stand when the whole vocabulary is ranked
along the subspace between them, as a share of the vocabulary (0 in the same
place, 1 at opposite ends). Any few words reach a high one, because the subspace
is made from them: held-out coherence ranks every seed along the subspace of the
others. Several files are replicates: intervals are then over models.

Examples:
  biasgauge lexicons quality vectors.bin --a he,man,his --b she,woman,her
  biasgauge lexicons quality vectors.bin --pairs all --case-fallback --figures figures
  biasgauge lexicons quality seed*.bin --paper Bolukbasi --method pca --json
  biasgauge lexicons quality vectors.bin --pairs all --generated 50 --set generated_size=25
  biasgauge lexicons quality vectors.bin --category female --target unpleasantness
  biasgauge lexicons seed-bank --sourcing curated
  biasgauge lexicons subspace vectors.bin --a he,man,his --b she,woman,her
"""
SUBSPACE_EXAMPLES = """\
Ranks the vocabulary by its cosine with the direction from B to A: a principal
component of the pairs by position, or the difference of the two means. Several
files are replicates: they are turned to each other and averaged first; with
--unaligned they are averaged as they are, as the code of Badder Seeds does.

Examples:
  biasgauge lexicons subspace vectors.bin --a he,man,his --b she,woman,her
  biasgauge lexicons subspace models/*.safetensors --component 2 \\
    --a definitional_female-Bolukbasi_et_al_2016 \\
    --b definitional_male-Bolukbasi_et_al_2016 --figures figures
  biasgauge lexicons subspace vectors.bin --a weat7:a --b weat7:b --order shuffled
"""

BANK_EXAMPLES = """\
Examples:
  biasgauge lexicons seed-bank
  biasgauge lexicons seed-bank --category female
  biasgauge lexicons seed-bank --paper Caliskan --sourcing borrowed --words
"""
Filter = Literal["corrected", "published", "none"]


@command(examples=EXAMPLES, terms="replicate", settings={"unit": bool, "generated_size": int})
def quality(
    vectors: list[Path],
    /,
    *,
    a: str | None = None,
    b: str | None = None,
    pairs: str | None = None,
    paper: str | None = None,
    category: str | None = None,
    target: str | None = None,
    method: Literal["mean-difference", "pca"] = "mean-difference",
    shuffles: Rare[int] = 200,
    leave_one_out: Rare[Literal["yes", "no"]] = "yes",
    generated: Rare[int] = 0,
    nouns: Rare[str | None] = None,
    lookup: WordLookup = LOOKUP,
    filter: Rare[Filter] = "corrected",  # noqa: A002 - the name of the option
    level: Level = 0.95,
    options: FigureOptions = DRAW,
    **further: Any,
) -> Outcome:
    """Assess whether pairs of word lists are fit to measure anything.

    Args:
        vectors: vector files: one model, or replicates
        a: one set: words separated by commas, a file, NAME:SET, or an id of the seed bank
        b: the other set
        pairs: "all" for the 90 pairings of the seed bank, or a lexicon of kind "test" or "pairs"
        paper: only pairings of this paper of the seed bank
        category: measure with every list of this category of the seed bank instead, against --target
        target: what --category is measured against: as for --a, or one word
        method: the subspace whose coherence is measured: "mean-difference", or "pca" of the pairs by position
        shuffles: shuffled pairings to compare with, over all models together; 0 for none
        leave_one_out: also without each seed: which one drives the result?
        generated: number of sets of nouns to generate as a reference; 0 for none, 50 as published
        nouns: words that count as nouns for --generated: a file or a lexicon
        filter: which form of the seed bank: "corrected", "published" or "none"
    """
    shared: JsonObject = {"policy": lookup.policy(), "filter": filter, "level": level, **further}
    if (category is None) != (target is None):
        raise ParameterError("--category and --target go together, as in --category female --target unpleasantness")
    if category is not None:
        if a or b or pairs or paper:
            raise ParameterError("--category measures with single lists; leave out --a, --b, --pairs and --paper")
        if "generated_size" in further:
            raise ParameterError("--category generates no sets; leave out --set generated_size")
        return Outcome(analyses.seeds.seed_choice(vectors, category, typed_words(target), **shared))
    with progress(options, "ranking the vocabulary") as report:
        result = analyses.seeds.seeds(
            vectors,
            typed_words(a),
            typed_words(b),
            pairs=pairs,
            paper=paper,
            method=method,
            shuffles=shuffles,
            leave_one_out=leave_one_out == "yes",
            generated=generated,
            nouns=typed_words(nouns),
            random_state=options.seed,
            progress=report,
            **shared,
        )
    return Outcome(result)


@command(examples=SUBSPACE_EXAMPLES, terms="replicate", settings={"unit": bool})
def subspace(
    vectors: list[Path],
    /,
    *,
    a: str,
    b: str,
    method: Literal["pca", "mean-difference"] = "pca",
    component: int = 1,
    order: Rare[Literal["as-is", "shuffled", "random"]] = "as-is",
    unaligned: Rare[bool] = False,
    lookup: WordLookup = LOOKUP,
    options: FigureOptions = DRAW,
    **further: Any,
) -> Outcome:
    """Rank the vocabulary along a component of the subspace of two word lists.

    Args:
        vectors: vector files: one model, or replicates
        a: one set: words separated by commas, a file, NAME:SET, or an id of the seed bank
        b: the other set
        method: "pca" of the pairs by position, or "mean-difference"
        component: which principal component, from 1
        order: pairs as they are, shuffled, or as many random pairs of words of the vocabulary instead
        unaligned: average replicates as they are, as published
    """
    result = analyses.seeds.bias_subspace(
        vectors,
        typed_words(a),
        typed_words(b),
        method=method,
        component=component,
        order=order,
        aligned=not unaligned,
        policy=lookup.policy(),
        random_state=options.seed,
        **further,
    )
    return Outcome(result)


@command(examples=BANK_EXAMPLES)
def seed_bank(
    *,
    paper: str | None = None,
    category: str | None = None,
    sourcing: str | None = None,
    justification: str | None = None,
    word: str | None = None,
    filter: Rare[Filter] = "none",  # noqa: A002 - the name of the option
    words: bool = False,
    options: Options = OPTIONS,
) -> Outcome:
    """Browse the seed bank: 178 sets of 18 papers, how they were sourced, what they are paired with.

    Args:
        paper: text of the paper's title, authors or year
        category: a word of the category or of the set's id
        sourcing: borrowed, crowd-sourced, population-derived, lexical, corpus-derived, curated, re-used, other or
            unknown
        justification: text of what the paper says about the choice
        word: sets that hold this seed
        filter: which form of the bank
        words: print the seeds too
    """
    result = lexicons.browse_seeds(
        paper=paper,
        category=category,
        sourcing=sourcing,
        justification=justification,
        word=word,
        filter=filter,
        words=words,
    )
    return Outcome(result)
