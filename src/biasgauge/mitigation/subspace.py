"""Bias subspaces, and the words that methods need: defining sets, equality sets, words to leave alone.

Sources: Bolukbasi et al. 2016, §5.1 (pairs); Manzini et al. 2019, §3.1 (sets of any size).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from biasgauge.core import (
    Flags,
    Floats,
    LexiconLike,
    PairsLike,
    Vectors,
    WordsLike,
    check_whole,
    row_lengths,
    unit_rows,
)
from biasgauge.errors import ParameterError
from biasgauge.lexicons import Lexicon, Pairs, Stereotypes, lexicon, pairs_of, words_of
from biasgauge.vectors import ROWS, Coverage, Embedding

_ZERO = 1e-10
"""Distance between parts of unit vectors that is zero but for rounding."""
GENDER = ("male", "female")
"""Ends of pairs for which Bolukbasi's lists of equality pairs and of gender-specific words are meant."""


@dataclass(frozen=True, eq=False)
class Subspace:
    """Orthonormal directions.

    Attributes:
        basis: components × dimensions. The first points to the first words of the sets.
        explained: share of the variance within the sets along each principal component, all of them.
    """

    basis: Floats
    explained: tuple[float, ...]

    def project(self, vectors: Floats) -> Floats:
        """Orthogonal projection of each vector on the subspace, v Bᵀ B."""
        inside: Floats = (vectors @ self.basis.T) @ self.basis
        return inside

    def remove(self, block: Vectors, step: float, spared: Flags) -> Vectors:
        """Vectors less `step` of their part in the subspace, but for the spared ones."""
        basis = self.basis.astype(block.dtype)
        along = block @ basis.T
        along[spared] = 0
        along *= -step
        # A product of so few columns takes several times as long as multiplying them out.
        moved: Vectors = along[:, :1] * basis[:1]
        for component in range(1, len(basis)):
            moved += along[:, component : component + 1] * basis[component]
        moved += block
        return moved


def bias_subspace(sets: Sequence[Vectors], components: int, *, lengths: bool = False) -> Subspace:
    """Principal components of the words, each set centered on its own mean.

    Args:
        sets: one matrix a set, words × dimensions.
        components: how many directions to keep.
        lengths: use vectors as they are; by default each is scaled to length 1 first.
    """
    check_whole(1, components=components)
    wide = [np.asarray(words, np.float64) for words in sets]
    scaled = wide if lengths else [unit_rows(words, rescale=True) for words in wide]
    centered = np.concatenate([words - words.mean(axis=0) for words in scaled])
    _, values, axes = np.linalg.svd(centered, full_matrices=False)
    rank = int((values > _ZERO * max(1.0, float(values[0]))).sum())
    if rank < components:
        raise ParameterError(
            f"A bias subspace of {components} components cannot be found: the sets differ in {rank} directions."
        )
    # singular vectors have no sign of their own: let each point to the first words of the sets
    firsts = sum(words[0] - words.mean(axis=0) for words in scaled)
    signs = np.where(axes[:components] @ firsts < 0, -1.0, 1.0)
    variances = values**2
    return Subspace(axes[:components] * signs[:, None], tuple((variances / variances.sum()).tolist()))


def equalize_set(words: Floats, subspace: Subspace) -> Floats | None:
    """Words of one set as unit vectors equidistant from whatever lies outside the subspace.

    With m the mean of the set and o = m − P m its part outside the subspace, each word w becomes
    o + √(1 − |o|²) · (P w − P m) / |P w − P m|. None where a word does not differ from the mean inside the subspace.
    Source: Bolukbasi et al. 2016, Step 2a; Manzini et al. 2019, equation 3.
    """
    units = unit_rows(words, rescale=True)
    mean = units.mean(axis=0)
    inside = subspace.project(units) - subspace.project(mean)
    sizes = row_lengths(inside)
    if not sizes.min() >= _ZERO:  # also for NaN, where a word has no direction
        return None
    outside = mean - subspace.project(mean)
    radius = np.sqrt(max(1.0 - float(outside @ outside), 0.0))
    equal: Floats = outside + radius * inside / sizes[:, None]
    return equal


def blocks(model: Embedding) -> Iterator[tuple[slice, Floats]]:
    """Vectors block by block, in double precision."""
    for start in range(0, len(model), ROWS):
        rows = slice(start, start + ROWS)
        yield rows, model.vectors[rows].astype(np.float64)


def projections(model: Embedding, direction: Floats) -> Floats:
    """Cosine of every word with a direction of length 1, to twelve decimals; NaN for a zero vector."""
    cosines = np.empty(len(model))
    for rows, block in blocks(model):
        cosines[rows] = unit_rows(block, rescale=True) @ direction
    return np.round(cosines, 12)


class FoundSets(NamedTuple):
    """Rows of the words of each set, and their coverage."""

    rows: list[list[int]]
    coverage: Coverage


def find_sets(model: Embedding, name: str, sets: Sequence[Sequence[str]]) -> FoundSets:
    """Rows of the sets of which at least two words were found."""
    coverage = model.coverage({name: [word for words in sets for word in words]}, directions=True)
    row_of = dict(zip(coverage.sets[name].words, coverage.sets[name].rows.tolist(), strict=True))
    rows = [list(dict.fromkeys(row_of[word] for word in words if word in row_of)) for words in sets]
    return FoundSets([members for members in rows if len(members) > 1], coverage)


def case_variants(sets: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """Each set as written, then in lower case, capitalized and in capitals, as Bolukbasi et al. equalize them."""
    forms = [tuple(form(word) for word in words) for words in sets for form in (str, str.lower, str.title, str.upper)]
    return list(dict.fromkeys(forms))


def equality_pairs(pairs: Pairs, choice: PairsLike | None) -> tuple[tuple[str, str], ...]:
    """Pairs to equalize; "auto": Bolukbasi's for gender, else the pairs themselves."""
    if choice is None:
        return ()
    if choice == "auto":
        choice = "equalize" if pairs.ends == GENDER else pairs
    return pairs_of(choice).pairs


def specific_words(pairs: Pairs, choice: WordsLike | None) -> tuple[str, ...]:
    """Words that carry the bias by meaning, after those of the pairs; "auto": Bolukbasi's for gender, else none."""
    if choice is None:
        return pairs.words
    if choice == "auto":
        return (*pairs.words, *(words_of("gender_specific").words if pairs.ends == GENDER else ()))
    return (*pairs.words, *words_of(choice).words)


class ClassSets(NamedTuple):
    """Sets with one word a class in each, words that name a class, and attribute words of stereotypes about them."""

    name: str
    sets: tuple[tuple[str, ...], ...]
    specific: tuple[str, ...]
    attributes: tuple[str, ...]


def class_sets(reference: LexiconLike | Iterable[WordsLike]) -> ClassSets:
    """Defining sets of a lexicon of stereotypes or of pairs, or sets of words themselves."""
    if isinstance(reference, (str, os.PathLike, Lexicon)):
        named = lexicon(reference)
        if isinstance(named, Pairs):
            return ClassSets(named.name, named.pairs, named.words, ())
        if not isinstance(named, Stereotypes):
            raise ParameterError(
                f"The lexicon {named.name!r} is of kind {named.kind!r}; defining sets need 'stereotypes' or 'pairs'."
            )
        sets = named.defining_sets or tuple(zip(*(group.protected for group in named.groups), strict=False))
        attributes = tuple(word for group in named.groups for word in group.attributes)
        specific = tuple(word for group in named.groups for word in group.protected)
        return ClassSets(named.name, sets, specific, attributes)
    if not isinstance(reference, Iterable):
        raise ParameterError(f"Defining sets must be a lexicon, or sets of words. Got {reference!r}.")
    sets = tuple(words_of(words).words for words in reference)
    if any(len(words) < 2 for words in sets):
        raise ParameterError("Each defining set must have at least two words.")
    return ClassSets("given sets", sets, tuple(word for words in sets for word in words), ())


def defining_sets(model: Embedding, sets: ClassSets | Pairs) -> FoundSets:
    """Pairs of which both ends were found, or defining sets of which at least two words were."""
    is_pairs = isinstance(sets, Pairs)
    members = sets.pairs if isinstance(sets, Pairs) else sets.sets
    found_sets = find_sets(model, "pairs" if is_pairs else "defining sets", members)
    if not found_sets.rows:
        lacking = f"pair of {sets.name!r} has both ends" if is_pairs else f"defining set of {sets.name!r} has two words"
        raise ParameterError(f"No {lacking} in {model.name}.")
    return found_sets


def mark_words(model: Embedding, words: Iterable[str]) -> Flags:
    """Rows of a model that hold one of the words, as a mask."""
    marked = np.zeros(len(model), bool)
    marked[model.lookup(words).rows] = True
    return marked


def merge_overlapping(sets: Sequence[Sequence[int]]) -> list[list[int]]:
    """Sets that share a member become one, because equalizing one after the other would undo the first."""
    groups: list[list[int]] = []
    for members in sets:
        touching = [group for group in groups if set(group) & set(members)]
        groups = [group for group in groups if group not in touching]
        groups.append(list(dict.fromkeys(member for group in (*touching, members) for member in group)))
    return groups


def join_coverages(*coverages: Coverage) -> Coverage:
    """One coverage of the sets of several."""
    return Coverage.of({name: lookup for coverage in coverages for name, lookup in coverage.sets.items()})
