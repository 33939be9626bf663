"""The reliabilities of Du et al. 2021 on replicates that the user holds."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from biasgauge.agreement import reliability
from biasgauge.agreement.lists import ALL_WORDS
from biasgauge.embeddings import load
from biasgauge.lexicons import lexicon
from biasgauge.papers.du2021.rows import COMBINATIONS, CORPORA, MEASURES, STANDS_FOR
from biasgauge.papers.row import Recomputed
from biasgauge.scores import ScoreStore, score
from biasgauge.scores.store import MANIFEST

if TYPE_CHECKING:
    from biasgauge.agreement import ReliabilityResult
    from biasgauge.agreement.summary import Distribution
    from biasgauge.papers.data import Data
    from biasgauge.papers.paper import Progress
    from biasgauge.scores import ScoreTensor

_LISTS = ("occ16", "occ18", "adj", "google10k", "du2021_queries")
_PUBLISHED = {"ripa": "ripa_unit", "nbm": "nbm_du2021"}
_FORMS_ON = (ALL_WORDS, "google10k", "occ16")
"""Word lists on which pairs are compared, the best first."""


class Replicates(NamedTuple):
    """Reliabilities of one algorithm on one corpus: as the paper's code scores, and corrected; None where not known."""

    published: ReliabilityResult | None
    corrected: ReliabilityResult | None
    note: str
    same: bool


def on_replicates(data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
    """What can be said from the replicates that were found; rows about others are left out."""
    folders = _folders(data.path("replicates"))
    sets = {}
    for place, (name, (folder, same)) in enumerate(folders.items()):
        sets[name] = _assess(folder, seed, same=same)
        if progress is not None:
            progress(place + 1, len(folders))
    found: dict[str, Recomputed] = {}
    for name, one in sets.items():
        found |= _of_words(name, one)
    for corpus in CORPORA:
        found |= _alpha(corpus, [sets[name] for name in sets if name.endswith(f"-{corpus}")])
    if sets:
        found |= _relations(sets.get(STANDS_FOR, next(iter(sets.values()))))
    return found


def holds_replicates(folder: Path) -> bool:
    """Whether models or scores are in it, or in a folder of it."""
    return folder.is_dir() and bool(_folders(folder))


def _folders(folder: Path) -> dict[str, tuple[Path, bool]]:
    """Folders by what they stand for, and whether they are named as the paper's; one of any other name stands in."""
    here = (
        [folder] if _holds_any(folder) else sorted(one for one in folder.iterdir() if one.is_dir() and _holds_any(one))
    )
    named = {one.name: (one, True) for one in here if one.name in COMBINATIONS}
    others = [one for one in here if one.name not in COMBINATIONS]
    if STANDS_FOR not in named and others:
        named[STANDS_FOR] = (others[0], False)
    return named


def _holds_any(folder: Path) -> bool:
    """Whether a folder is a store of scores or has files of vectors in it."""
    return (folder / MANIFEST).is_file() or bool(_models(folder))


def _models(folder: Path) -> list[Path]:
    """Files of vectors; recipes beside them, hidden files and notes are none."""
    files = (one for one in folder.iterdir() if one.is_file() and one.suffix != ".json")
    return sorted(one for one in files if not one.name.startswith((".", "SOURCE", "README")))


def _assess(folder: Path, seed: int, *, same: bool) -> Replicates:
    if (folder / MANIFEST).is_file():
        store = ScoreStore.open(folder)
        found = _reliability(store, seed)
        note = f"{len(store.models)} replicates of {folder.name}"
        published = store.provenance.get("as_published") == "du2021"
        return Replicates(found if published else None, None if published else found, note, same)
    models = _models(folder)
    known = set(load(models[0]).words)  # words that are not there are left out without a word, as the paper does
    words = list(dict.fromkeys(word for name in _LISTS for word in lexicon(name).words if word in known))
    both = [
        _reliability(score(models, pairs="du2021", words=words, as_published=rule), seed) for rule in ("du2021", None)
    ]
    return Replicates(both[0], both[1], f"{len(models)} replicates of {folder.name}", same)


def _reliability(scores: ScoreTensor | ScoreStore, seed: int) -> ReliabilityResult:
    """Whatever share of a list was found, as the paper does."""
    return reliability(scores, min_coverage=0.0, target=None, random_state=seed)


def _summary(found: ReliabilityResult | None, kind: str, words: str, measure: str | None) -> Distribution | None:
    if found is None:
        return None
    names = {measure, _PUBLISHED.get(measure or "", measure)}
    fits = (one for one in found.summaries if (one.reliability, one.of, one.list) == (kind, "word", words))
    return next((one for one in fits if one.measure in names), None)


def _of_words(name: str, one: Replicates) -> dict[str, Recomputed]:
    found: dict[str, Recomputed] = {}
    sides = (one.published, one.corrected)
    if name == STANDS_FOR:
        for row, words in (("occ16", "occ16"), ("full", ALL_WORDS)):
            for measure in MEASURES:
                both = [_summary(side, "test_retest", words, measure) for side in sides]
                found |= _medians(f"test_retest.{name}.{row}.{measure}", both, one)
        for row, words in (("google10k", "google10k"), ("full", ALL_WORDS)):
            shares = [_share_below(side, words) for side in sides]
            if any(share is not None for share in shares):
                found[f"below.{name}.{row}"] = Recomputed(shares[0], shares[1], note=one.note, same_data=one.same)
    # corrected: measures brought to one standard deviation before they are compared
    both = [_summary(one.published, "inter_rater", ALL_WORDS, None),
            _summary(one.corrected, "inter_rater_standardized", ALL_WORDS, None)]  # fmt: skip
    return found | _medians(f"inter_rater.{name}.full", both, one)


def _medians(row: str, both: list[Distribution | None], one: Replicates) -> dict[str, Recomputed]:
    values = [None if side is None else side.median for side in both]
    if values[0] is None and values[1] is None:
        return {}
    return {row: Recomputed(values[0], values[1], note=one.note, same_data=one.same)}


def _share_below(found: ReliabilityResult | None, words: str) -> float | None:
    if found is None:
        return None
    fits = [one for one in found.summaries if (one.reliability, one.of, one.list) == ("test_retest", "word", words)]
    count = sum(one.count for one in fits)
    return 100 * sum(one.below for one in fits) / count if count else None


def _alpha(corpus: str, sets: list[Replicates]) -> dict[str, Recomputed]:
    values: list[list[float]] = [[], []]
    for one in sets:
        for side, found in zip(values, (one.published, one.corrected), strict=True):
            rows = [] if found is None else found.internal.to_dicts()
            side += [row["value"] for row in rows
                     if (row["of"], row["list"]) == ("pairs", "google10k") and row["value"] is not None]  # fmt: skip
    if not any(values):
        return {}
    medians = [median(side) if side else None for side in values]
    told = "; ".join(one.note for one in sets)
    whole = len(sets) == len(COMBINATIONS) // len(CORPORA) and all(one.same for one in sets)
    return {f"alpha.pairs.{corpus}": Recomputed(medians[0], medians[1], note=told, same_data=whole)}


def _relations(one: Replicates) -> dict[str, Recomputed]:
    """How measures correlate, pairs in the singular against the plural, one reliability with the other."""
    found: dict[str, dict[int, tuple[float | None, float | None, float | None]]] = {}
    for side, result in enumerate((one.published, one.corrected)):
        if result is None:
            continue
        short = {variant: name for name, variant in _PUBLISHED.items()}
        for row in result.measures:
            name = f"pearson.{short.get(row.a, row.a)}.{short.get(row.b, row.b)}"
            found.setdefault(name, {})[side] = (row.r, row.low, row.high)
        for words in _FORMS_ON:
            for form in result.forms:
                if form.list == words:
                    found.setdefault(f"forms.{form.reliability}.t", {}).setdefault(side, (form.t, None, None))
            for relation in result.relations:
                if (relation.list, relation.of) == (words, "pair"):
                    found.setdefault("forms.r", {}).setdefault(side, (relation.r, relation.low, relation.high))
    none = (None, None, None)
    return {
        name: Recomputed(sides.get(0, none)[0], *sides.get(1, none), note=one.note, same_data=False)
        for name, sides in found.items()
    }
