"""Du et al. 2021: are measurements of gender bias in word embeddings reliable?

Lengths of lists, estimators on a textbook table and its own sums need no data. Reliabilities and the regression are
computed on the replicates that the user holds, or on those that ship.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtr

from biasgauge.analyses import reliability
from biasgauge.core import Estimate
from biasgauge.lexicons import lexicon, pairs_of
from biasgauge.papers.paper import Data, Progress, Recomputations, Recomputed
from biasgauge.papers.published import printed_numbers, published_rows
from biasgauge.scores import MANIFEST, ScoreStore, ScoreTensor, score
from biasgauge.stats import cronbach_alpha, icc, mean_squares, t_p
from biasgauge.vectors import REPLICATES, load, replicate_path

if TYPE_CHECKING:
    from biasgauge.stats.mixed_models import Share

SHROUT_FLEISS = ((9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7))
"""Six subjects, four raters: Shrout & Fleiss 1979, table 2."""
FORMS = 8
"""Pairs that come in the singular and in the plural: seven degrees of freedom."""
INTER_RATER_ROWS = {"complete": 154_696, "missing": 400_194}
"""Rows of the inter-rater regression, with all features and without, in the comments of the released script."""
Interval = tuple[float | None, float | None, float | None]
"""A number and the ends of its interval."""
CORPORA = ("wikitext103", "askscience", "askhistorians")
COMBINATIONS = tuple(f"{algorithm}-{corpus}" for algorithm in ("sgns", "glove") for corpus in CORPORA)
"""Folders of replicates, by algorithm and corpus."""
STANDS_FOR = "sgns-wikitext103"
"""What replicates of another name are set beside: the models of the paper's figure 2."""
GLOVE_STANDS_FOR = "glove-wikitext103"
_ALGORITHMS = ("sgns", "glove", "fasttext", "cbow")
_SHORT = ("occ16", "occ18", "adj", "du2021_queries")
_PUBLISHED = {"ripa_unit": "ripa", "nbm_du2021": "nbm"}
"""Measures as the paper's code has them, and the names of ours."""
_FORMS_ON = (reliability.ALL_WORDS, "google10k", "occ16")
"""Word lists on which pairs are compared, the best first."""
_OUTCOMES = ("test_retest", "inter_rater")
_REFITS = 50
_NO_FULL = (
    "of models the short lists and google10k are scored: put a store of all words in their place, made by "
    "biasgauge score MODELS --pairs du2021 --words full --as-published du2021"
)
_ONE_SET = "one set alone tells no algorithm and no corpus apart; name a folder with two sets or more"
_NO_COUNTS = "; models that biasgauge train wrote hold their counts"
_Z = 1.959964
_UNKNOWN: Interval = (None, None, None)


def lists(_data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Lengths of the word lists that ship with biasgauge."""
    queries = lexicon("du2021_queries").sets
    sizes = {
        "pairs": len(pairs_of("du2021").pairs),
        **{name: len(lexicon(name).words) for name in ("occ16", "occ18", "adj", "google10k")},
        "queries": len(queries),
        **{f"queries.{name}": len(words) for name, words in queries.items()},
    }
    return {f"lists.{name}": Recomputed.both(size) for name, size in sizes.items()}


def estimators(_data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Mean squares, ICC and alpha of the textbook's table."""
    table = np.array(SHROUT_FLEISS, float)
    squares = mean_squares(table[None])
    estimates = {
        f"estimators.{name}": Recomputed.both(float(getattr(squares, name)[0]))
        for name in ("ms_rows", "ms_columns", "ms_error")
    }
    for name, fit in (("icc21", icc(table, "2,1")), ("icc31", icc(table, "3,1")), ("alpha", cronbach_alpha(table))):
        assert isinstance(fit, Estimate)  # noqa: S101 - for type checkers: one matrix, one estimate
        estimates[f"estimators.{name}"] = Recomputed.of(fit, fit)
    return estimates


def arithmetic(_data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """P-values of printed statistics, and sums that printed parts must have."""
    printed = printed_numbers(__name__)
    sums = {
        f"p.forms.{kind}": float(2 * stdtr(FORMS - 1, -abs(printed[f"forms.{kind}.t"])))
        for kind in ("test_retest", "inter_rater")
    }
    sums["p.forms.r"] = t_p(printed["forms.r"], len(pairs_of("du2021").pairs) - 2)
    for kind in ("test_retest", "inter_rater"):
        parts = [printed[f"regression.{kind}.r2.{component}"] for component in ("fixed", "corpus", "algorithm")]
        sums[f"r2.{kind}"] = sum(parts)
    sums |= {f"rows.{name}": 3 * count for name, count in INTER_RATER_ROWS.items()}  # three measures
    return {f"arithmetic.{name}": Recomputed.both(value) for name, value in sums.items()}


@dataclass(frozen=True, eq=False)
class ReplicateSet:
    """Scores of the replicates of one algorithm on one text.

    Attributes:
        name: of its folder.
        published, corrected: scores as the paper's code has them, and in their corrected form; None where not known.
        same: whether it is named as one of the paper's six.
        ships: whether it ships with biasgauge; then only the short lists are scored.
    """

    name: str
    published: ScoreTensor | ScoreStore | None
    corrected: ScoreTensor | ScoreStore | None
    same: bool = False
    ships: bool = False

    @property
    def algorithm(self) -> str:
        """Algorithm that its name begins with, if any."""
        first = self.name.partition("-")[0]
        return first if first in _ALGORITHMS else "other"

    @property
    def corpus(self) -> str:
        """The rest of its name."""
        return self.name if self.algorithm == "other" else self.name.partition("-")[2] or self.name

    @property
    def note(self) -> str:
        """Description of the set."""
        scores = self.published if self.corrected is None else self.corrected
        count = 0 if scores is None else len(scores.models)
        return f"{count} replicates of {self.name}" + (", which ship with biasgauge" if self.ships else "")


def holds_replicates(folder: Path) -> bool:
    """Return whether models or scores are in it, or in a folder of it."""
    return folder.is_dir() and bool(_set_folders(folder))


def _set_folders(folder: Path) -> list[Path]:
    """Folders that hold a store of scores or files of vectors; the folder itself if it does."""
    paths = [folder, *(path for path in folder.iterdir() if path.is_dir())]
    holding = sorted(path for path in paths if (path / MANIFEST).is_file() or _vector_files(path))
    return [folder] if folder in holding else holding


def _vector_files(folder: Path) -> list[Path]:
    """Files of vectors; recipes beside them, hidden files and notes are none."""
    files = (path for path in folder.iterdir() if path.is_file() and path.suffix != ".json")
    return sorted(path for path in files if not path.name.startswith((".", "SOURCE", "README")))


def _user_sets(data: Data, progress: Progress | None = None) -> tuple[ReplicateSet, ...]:
    """Every set that the user holds, scored where it is not."""

    def open_sets() -> tuple[ReplicateSet, ...]:
        folders = _set_folders(data.path("replicates"))
        sets = []
        for number, folder in enumerate(folders, 1):
            sets.append(_open_set(folder))
            if progress is not None:
                progress(number, len(folders))
        return tuple(sets)

    return () if data.find("replicates") is None else data.once("given sets", open_sets)


def _open_set(folder: Path) -> ReplicateSet:
    same = folder.name in COMBINATIONS
    if not (folder / MANIFEST).is_file():
        return _score_set(folder.name, _vector_files(folder), (*_SHORT, "google10k"), same=same)
    store = ScoreStore.open(folder)
    published = store.provenance.get("as_published") == "du2021"
    return ReplicateSet(folder.name, store if published else None, None if published else store, same=same)


def _shipped_set(data: Data) -> ReplicateSet:
    """The set that ships, 64 dimensions on English Wikipedia, scored on the short lists alone, which takes seconds."""
    paths = [replicate_path(seed) for seed in range(REPLICATES)]
    return data.once("shipped set", lambda: _score_set("sgns-enwiki", paths, _SHORT, ships=True))


def _score_set(name: str, models: Sequence[Path], lists: Sequence[str], **marks: bool) -> ReplicateSet:
    vocabulary = set(load(models[0]).words)  # words that are not there are left out without a word, as the paper does
    words = list(dict.fromkeys(word for list_ in lists for word in lexicon(list_).words if word in vocabulary))
    theirs, ours = (score(list(models), pairs="du2021", words=words, as_published=rule) for rule in ("du2021", None))
    return ReplicateSet(name, theirs, ours, **marks)


class SetReliability:
    """Reliabilities of one set: as the paper's code scores, and corrected; None where there are no such scores."""

    def __init__(self, replicates: ReplicateSet, seed: int) -> None:
        # whatever share of a list was found, as the paper does; alphas of the set that ships stand in no row
        settings: dict[str, Any] = {"queries": {} if replicates.ships else None, "target": None, "random_state": seed}
        self.set = replicates
        self.sides = [
            None if scores is None else reliability.reliability(scores, min_coverage=0.0, **settings)
            for scores in (replicates.published, replicates.corrected)
        ]


def on_replicates(data: Data, seed: int, progress: Progress | None) -> Recomputations:
    """Compute rows from the replicates in the data, or from those that ship; other rows are left out.

    Sets named as the paper's fill its rows. All others stand for its skip-gram on WikiText-103, those of GloVe for its
    GloVe there, unless that is given: the number is the median over them, and is not held to the paper's.
    """
    sets = _user_sets(data, progress) or (_shipped_set(data),)
    groups: dict[str, list[SetReliability]] = {}
    for member in sorted((SetReliability(replicates, seed) for replicates in sets), key=lambda one: not one.set.same):
        substitute = GLOVE_STANDS_FOR if member.set.algorithm == "glove" else STANDS_FOR
        group = groups.setdefault(member.set.name if member.set.same else substitute, [])
        if member.set.same or not any(listed.set.same for listed in group):
            group.append(member)
    rows: Recomputations = {}
    for name, group in groups.items():
        rows |= _word_rows(name, group)
    for corpus in CORPORA:
        members = [member for name, group in groups.items() if name.endswith(f"-{corpus}") for member in group]
        rows |= _alpha(corpus, [member for member in members if not member.set.ships])
    rows |= _relations(groups.get(STANDS_FOR) or next(iter(groups.values())))
    return {
        name: row
        if row.as_published is not None or row.corrected is not None
        else Recomputed(note=_why_empty(name, groups))
        for name, row in {**dict.fromkeys(_rows_of("reliability"), Recomputed()), **rows}.items()
        if name in rows or data.find("replicates")
    }


def _rows_of(part: str) -> list[str]:
    return [row.id for row in published_rows(__name__) if row.part == part]


def _why_empty(name: str, groups: Iterable[str]) -> str:
    """Reason for which replicates of the user's leave a row of a reliability empty."""
    _, *labels = name.split(".")
    combination = labels[-1] if labels[0] == "pairs" else labels[0]  # alpha.pairs.CORPUS, or KIND.COMBINATION.…
    known = combination in (*COMBINATIONS, *CORPORA)
    if known and not any(group.endswith(combination) for group in groups):
        return f"no set is called {combination}" if "-" in combination else f"no set is called sgns-{combination} or so"
    return _NO_FULL if ".full" in name else "too few words of the list are in the replicates"


def _median_row(
    group: Sequence[SetReliability], number: Callable[[reliability.ReliabilityResult | None, int], float | None]
) -> Recomputed:
    """A row about some sets: the median of a number over them, as published and corrected."""
    theirs, ours = (_median_of([number(member.sides[side], side) for member in group]) for side in (0, 1))
    return Recomputed(theirs, ours, note=_note(group), same_data=all(member.set.same for member in group))


def _median_of(values: Sequence[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return median(defined) if defined else None


def _note(group: Sequence[SetReliability]) -> str:
    notes = "; ".join(member.set.note for member in group)
    return f"median over {len(group)} sets: {notes}" if len(group) > 1 else notes


def _word_rows(name: str, group: Sequence[SetReliability]) -> Recomputations:
    rows: Recomputations = {}
    of_user = [member for member in group if not member.set.ships]
    if name == STANDS_FOR:
        for label, words, sets in (("occ16", "occ16", group), ("full", reliability.ALL_WORDS, of_user)):
            for measure in ("dbwa", "ripa", "nbm"):
                number = partial(_word_median, ("test_retest", "test_retest"), words, measure)
                rows[f"test_retest.{name}.{label}.{measure}"] = _median_row(sets, number)
        for label, words in (("google10k", "google10k"), ("full", reliability.ALL_WORDS)):
            rows[f"below.{name}.{label}"] = _median_row(of_user, partial(_share_below, words))
    # corrected: measures brought to one standard deviation before they are compared
    kinds = ("inter_rater", "inter_rater_standardized")
    return rows | {
        f"inter_rater.{name}.full": _median_row(of_user, partial(_word_median, kinds, reliability.ALL_WORDS, None))
    }


def _word_summaries(
    result: reliability.ReliabilityResult | None, kind: str, words: str
) -> list[reliability.Distribution]:
    rows = () if result is None else result.summaries
    return [row for row in rows if (row.reliability, row.of, row.list) == (kind, "word", words)]


def _word_median(
    kinds: tuple[str, str], words: str, measure: str | None, result: reliability.ReliabilityResult | None, side: int
) -> float | None:
    rows = _word_summaries(result, kinds[side], words)
    return next((row.median for row in rows if _PUBLISHED.get(row.measure or "", row.measure) == measure), None)


def _share_below(words: str, result: reliability.ReliabilityResult | None, _side: int) -> float | None:
    rows = _word_summaries(result, "test_retest", words)
    count = sum(row.count for row in rows)
    return 100 * sum(row.below for row in rows) / count if count else None


def _alpha(corpus: str, sets: Sequence[SetReliability]) -> Recomputations:
    theirs, ours = (
        _median_of(
            [
                row["value"]
                for member in sets
                if (result := member.sides[side]) is not None
                for row in result.internal.to_dict()
                if (row["of"], row["list"]) == ("pairs", "google10k")
            ]
        )
        for side in (0, 1)
    )
    complete = len(sets) == len(COMBINATIONS) // len(CORPORA) and all(member.set.same for member in sets)
    return {f"alpha.pairs.{corpus}": Recomputed(theirs, ours, note=_note(sets), same_data=complete)}


def _relations(group: Sequence[SetReliability]) -> Recomputations:
    """Correlations of measures, of singular with plural pairs, and of one reliability with the other.

    Of several sets, medians; the interval is that of a single one.
    """
    members = [[_relations_of(result) for result in member.sides] for member in group]
    rows = {}
    for name in dict.fromkeys(name for sides in members for relations in sides for name in relations):
        defined = (sides for sides in members if any(name in relations for relations in sides))
        having = [[relations.get(name, _UNKNOWN) for relations in sides] for sides in defined]
        low, high = having[0][1][1:] if len(having) == 1 else (None, None)
        theirs, ours = (_median_of([sides[side][0] for sides in having]) for side in (0, 1))
        rows[name] = Recomputed(theirs, ours, low, high, note=_note(group), same_data=False)
    return rows


def _relations_of(result: reliability.ReliabilityResult | None) -> dict[str, Interval]:
    """Relations by the name of their row; of the lists of words, the best that has them."""
    relations: dict[str, Interval] = {}
    if result is None:
        return relations
    for pair in result.measures:
        a, b = (_PUBLISHED.get(name, name) for name in (pair.a, pair.b))
        relations[f"pearson.{a}.{b}"] = (pair.value, pair.low, pair.high)
    for words in _FORMS_ON:
        for form in result.forms:
            if form.list == words:
                relations.setdefault(f"forms.{form.reliability}.t", (form.t, None, None))
        for relation in result.relations:
            if (relation.list, relation.of) == (words, "pair"):
                relations.setdefault("forms.r", (relation.value, relation.low, relation.high))
    return relations


def regression(data: Data, seed: int, progress: Progress | None) -> Recomputations:
    """Estimates, R² and what it loses without each factor; no numbers where fewer than two sets can be compared.

    The set that ships joins a single set of the user's in the folder of data, and none that is named as the replicates
    to take.
    """
    user_sets = _user_sets(data)
    if not user_sets:
        return {}
    complete = {replicates.name for replicates in user_sets} == set(COMBINATIONS)
    alone = len(user_sets) > 1 or "replicates" in data.named
    sets = user_sets if alone else (*user_sets, _shipped_set(data))
    rows: Recomputations = {}
    absent: dict[str, str] = {}
    for number, outcome in enumerate(_OUTCOMES, 1):
        # corrected: measures brought to one standard deviation before they are compared
        fits = (
            _fit(sets, "published", outcome, seed, standardize=False),
            _fit(sets, "corrected", outcome, seed, standardize=outcome == "inter_rater"),
        )
        published, corrected = (_fitted_numbers(outcome, fit) for fit in fits)
        absent |= {name: reason for fit in fits if fit is not None for name, reason in fit.absent.items()}
        left_out = sorted(absent)
        note = f"fitted to {len(sets)} sets: {'; '.join(replicates.note for replicates in sets)}"
        note += f"; without {', '.join(left_out)}" if left_out else ""
        reasons = {
            name: reason for fit in fits if fit is not None for name, reason in _unidentified(outcome, fit).items()
        }
        for name in dict.fromkeys([*published, *corrected]):
            theirs, ours = published.get(name, _UNKNOWN), corrected.get(name, _UNKNOWN)
            why = f"undefined: {reasons[name]}; " if name in reasons else ""
            rows[name] = Recomputed(theirs[0], *ours, note=why + note, same_data=complete)
        if progress is not None:
            progress(number, len(_OUTCOMES))
    empty = (name for name in _rows_of("regression") if name.startswith("regression.") and name not in rows)
    return rows | {name: Recomputed(note=_why_unfitted(name, absent) if len(sets) > 1 else _ONE_SET) for name in empty}


def _why_unfitted(name: str, absent: Mapping[str, str]) -> str:
    """Reason for which a row of the regression is empty although sets were fitted."""
    factor = next((factor for factor in absent if factor in name), None)
    if factor is None:
        return "no word of the sets has this level, or nothing tells it apart from other columns"
    remedy = _NO_COUNTS if factor == "log_frequency" else ""
    return f"{factor} is not in the fit: {absent[factor]}{remedy}"


def _fit(
    sets: Sequence[ReplicateSet], side: str, outcome: str, seed: int, *, standardize: bool
) -> reliability.FactorsResult | None:
    sources = [
        reliability.FactorSource(
            replicates.algorithm, replicates.corpus, scores, counts=reliability.stored_counts(scores)
        )
        for replicates in sets
        if (scores := getattr(replicates, side)) is not None
    ]
    if len(sources) < 2:
        return None
    return reliability.factors(sources, outcome=outcome, standardize=standardize, refits=_REFITS, random_state=seed)  # type: ignore[arg-type]


def _fitted_numbers(outcome: str, fit: reliability.FactorsResult | None) -> dict[str, Interval]:
    """Every number by the name of its row, with its interval."""
    if fit is None:
        return {}
    numbers: dict[str, Interval] = {}
    for effect in fit.fixed:
        kind, _, level = effect.name.rstrip("]").partition("[")
        names = {"measure": _PUBLISHED.get(level, level), "pos": f"pos_{level.lower()}"}
        if effect.name != reliability.INTERCEPT and effect.estimate is not None:
            margin = None if effect.se_words is None else _Z * effect.se_words
            ends = (None, None) if margin is None else (effect.estimate - margin, effect.estimate + margin)
            numbers[f"estimate.{names.get(kind, effect.name)}"] = (effect.estimate, *ends)
    shares = _shares(fit)
    numbers |= {
        f"empty.{effect.name}": (effect.variance, effect.interval.low, effect.interval.high)
        for effect in fit.random_intercept_only
        if effect.name == "residual"
    }
    numbers |= {name: (share.value, share.interval.low, share.interval.high) for name, share in shares.items()}
    rows = {f"regression.{outcome}.{name}": number for name, number in numbers.items()}
    return rows | ({"regression.words": (fit.words, None, None)} if outcome == _OUTCOMES[0] else {})


def _shares(fit: reliability.FactorsResult) -> dict[str, Share]:
    """Shares of variance, with all factors and with none, and what is lost without each factor."""
    groups = {"fixed": fit.r2.fixed, **fit.r2.groups, "total": fit.r2.total}
    return (
        {f"drop.{factor}": drop.fixed for factor, drop in fit.drops.items()}
        | {f"r2.{name}": share for name, share in groups.items()}
        | {f"empty.{name}": share for name, share in fit.r2_intercept_only.groups.items()}
    )


def _unidentified(outcome: str, fit: reliability.FactorsResult) -> dict[str, str]:
    """Reason of each share that the sets do not identify, by the name of its row."""
    return {
        f"regression.{outcome}.{name}": share.interval.reason
        for name, share in _shares(fit).items()
        if share.value is None and share.interval.reason
    }
