"""What the authors' own distances give: tables 1 and 2, the posterior figures, shares within a band."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biasgauge.applications import read_points
from biasgauge.association.mac import mac_change, mac_from_similarities
from biasgauge.association.weat import weat_from_similarities
from biasgauge.errors import InputError
from biasgauge.papers.dobrzeniecka2023.rows import BANDS, COVERAGE, FILES, KINDS, MACS, POSTERIORS, TABLE_1
from biasgauge.papers.row import Recomputed
from biasgauge.uncertainty import CONNECTIONS, bayes, read_distances, within_band
from biasgauge.uncertainty.predictive import check_predictions

if TYPE_CHECKING:
    from biasgauge.association.mac import MacResult
    from biasgauge.papers.data import Data
    from biasgauge.papers.paper import Progress
    from biasgauge.uncertainty import DistanceTable, Posterior
    from biasgauge.uncertainty.predictive import PredictiveCheck

_RACE = ("black", "caucasian", "asian", "africa", "america", "asia")
"""The six words on which Manzini et al. evaluate race."""
_TARGETS = ("math", "arts")
_ROW_STREAM = 23
"""Of the random numbers that simulate rows, apart from those of the fit."""
_COORDINATES = ("dataset", "connection", "protected_word", "mean", "low_5_5", "high_94_5")


def _path(data: Data, name: str) -> Path | None:
    """The file of a set of distances; None when it is not beside the others."""
    folder = data.path("distances").parent
    return next((path for end in (".csv", ".csv.gz") if (path := folder / f"{FILES[name]}{end}").is_file()), None)


def _table(data: Data, name: str) -> DistanceTable | None:
    path = _path(data, name)
    return None if path is None else read_distances(path)


def _absent(name: str) -> Recomputed:
    return Recomputed(note=f"needs {FILES[name]}.csv, which is not beside the other distances")


def table_1(data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Distances to two decimals; how many rows there are; which words were lost."""
    found = {}
    table = _table(data, "religion_reddit")
    if table is not None:
        columns = table.columns()
        pairs = zip(columns["protected_word"], columns["word_to_compare"], columns["cosine_distance"], strict=True)
        found = {f"table1.{word}.{attribute}": Recomputed(distance, distance) for word, attribute, distance in pairs}
        stereotypes = int((table.connection <= CONNECTIONS.index("different")).sum())
        found["table1.rows"] = Recomputed(stereotypes, stereotypes)
    for name in ("weat_7_google", "weat_7_glove"):
        one = _table(data, name)
        if one is None:
            found[f"data.{name}.lost"] = _absent(name)
        else:
            share = one.without_value / (len(one) + one.without_value)
            found[f"data.{name}.lost"] = Recomputed(share, share)
    for name in ("gender_glove", "religion_glove"):
        one = _table(data, name)
        found[f"data.{name}.lost"] = _absent(name) if one is None else Recomputed(one.without_value, one.without_value)
    wanted = {row.id for row in TABLE_1}
    return {name: one for name, one in found.items() if name in wanted}


def _mac(table: DistanceTable, *, interval: bool = True) -> MacResult:
    blocks = table.similarities()
    return mac_from_similarities(blocks) if interval else mac_from_similarities(blocks, interval=None)


def _mac_row(result: MacResult, turned: bool = False, note: str = "") -> Recomputed:  # noqa: FBT001, FBT002 - one minus it
    around = result.interval
    if result.value is None or around is None or around.low is None or around.high is None:
        return Recomputed(result.value, result.value, note=note)
    ends = (around.low, around.high)
    value, low, high = (1 - result.value, 1 - ends[1], 1 - ends[0]) if turned else (result.value, *ends)
    return Recomputed(value, value, low, high, note)


def table_2(data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """MAC with a bootstrap interval over words, the paired t test, WEAT 7 from distances."""
    found: dict[str, Recomputed] = {}
    macs: dict[str, MacResult] = {}
    for name in FILES:
        table = _table(data, name)
        if table is None or name.startswith("weat"):
            continue
        rows = np.isin(table.word, [table.words.index(word) for word in _RACE if word in table.words])
        macs[name] = _mac(table.select(rows) if "race" in name else table)
    for name in MACS:
        found[f"mac.{name}"] = _mac_row(macs[name], note="BCa interval over words") if name in macs else _absent(name)
    for topic in BANDS:
        before, after = f"{topic}_reddit", f"debiased_{topic}_reddit"
        found[f"bands.{topic}"] = _mac_row(macs[before], turned=True) if before in macs else _absent(before)
        if before not in macs or after not in macs:
            if topic != "religion":
                found[f"table2.{topic}.hard.p"] = _absent(after if before in macs else before)
            continue
        change = mac_change(macs[before], macs[after])
        found[f"table2.{topic}.hard.p"] = Recomputed(change.p_value)
        if topic == "religion":
            found["table2.religion.hard.t"] = Recomputed(change.t)
            found["table2.religion.mac"] = _mac_row(macs[before])
            found["table2.religion.hard.mac"] = _mac_row(macs[after])
    for model in ("google", "glove", "reddit"):
        table = _table(data, f"weat_7_{model}")
        for end, ddof in (("", 0), (".sample_sd", 1)):
            found[f"weat7.{model}{end}"] = _absent(f"weat_7_{model}") if table is None else _weat_7(table, ddof)
    return found


def _weat_7(table: DistanceTable, ddof: int) -> Recomputed:
    """Rows of a connection say which target words and which terms belong together."""
    columns = table.columns()
    sets: dict[str, tuple[set[str], set[str]]] = {name: (set(), set()) for name in _TARGETS}
    distance = {}
    for word, attribute, source, kind, value in zip(*(columns[name] for name in (
        "protected_word", "word_to_compare", "word_class", "connection", "cosine_distance")), strict=True):  # fmt: skip
        distance[word, attribute] = value
        if kind == "associated" and source in sets:
            sets[source][0].add(word)
            sets[source][1].add(attribute)
    if not all(words and terms for words, terms in sets.values()):
        return Recomputed(note=f"the associated rows are not of the classes {' and '.join(_TARGETS)}")
    blocks = [
        np.array([[1 - distance[word, term] for term in sorted(sets[terms][1])] for word in sorted(sets[target][0])])
        for target in _TARGETS
        for terms in _TARGETS
    ]
    result = weat_from_similarities(*blocks, ddof=ddof)
    around = result.interval
    ends = (None, None) if around is None else (around.low, around.high)
    kind = "sample" if ddof else "population"
    return Recomputed(result.effect_size, result.effect_size, *ends, note=f"{kind} standard deviation; BCa over words")


def _published(data: Data, path: Path, seed: int) -> Posterior:
    """As published: one residual for each connection, percentiles, repeated rows kept."""
    return data.once(
        ("published", path),
        lambda: bayes(read_distances(path, duplicates="keep"), interval="percentile", random_state=seed),
    )


def _crossed(data: Data, path: Path, seed: int) -> Posterior:
    """As we hold it right: attributes that all protected words share, HPDI, repeated rows once."""
    return data.once(("crossed", path), lambda: bayes(read_distances(path), variant="crossed", random_state=seed))


def groups(data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
    """Mean and interval of each connection: as published, and with attributes shared by all protected words."""
    found: dict[str, Recomputed] = {}
    for place, name in enumerate(POSTERIORS):
        path = _path(data, name)
        both = () if path is None else (_published(data, path, seed), _crossed(data, path, seed))
        ours, right = ({one.connection: one for one in fit.groups} for fit in both) if both else ({}, {})
        for kind in KINDS:
            start = f"posterior.{name}.{kind}"
            if kind not in ours or kind not in right:
                found |= {f"{start}.{end}": _absent(name) for end in ("mean", "low", "high")}
                continue
            one, other = ours[kind], right[kind]
            found[f"{start}.mean"] = Recomputed(one.mean, other.mean, other.low, other.high)
            found |= {f"{start}.{end}": Recomputed(getattr(one, end), getattr(other, end)) for end in ("low", "high")}
        if progress is not None:
            progress(place + 1, len(POSTERIORS))
    return found


def _coordinates(path: Path) -> dict[tuple[str, str, str], NDArray[np.float64]]:
    """Mean and ends of each point of the figures, by set, connection and word ("*" is the group).

    Raises:
        InputError: it is no such table; names the line.
    """
    points = read_points(path)
    absent = [column for column in _COORDINATES if column not in points.columns]
    if absent:
        raise InputError(f"{path}: expected the columns {', '.join(_COORDINATES)}; lacks {absent[0]}")
    if not len(points):
        raise InputError(f"{path}: has a header and no coordinates")
    labels = zip(*(points.texts(name) for name in _COORDINATES[:3]), strict=True)
    values = np.column_stack([points.numbers(name) for name in _COORDINATES[3:]])
    empty = np.flatnonzero(np.isnan(values).any(axis=1))
    if empty.size:
        raise InputError(f"{path}, line {points.lines[empty[0]]}: lacks one of {', '.join(_COORDINATES[3:])}")
    return {
        (dataset, "neutral" if kind == "none" else kind, word): numbers
        for (dataset, kind, word), numbers in zip(labels, values, strict=True)
    }


def words(data: Data, seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """How far the words' coordinates are from those of the figures."""
    figures = _coordinates(data.path("coordinates"))
    found: dict[str, Recomputed] = {}
    for name in POSTERIORS:
        path = _path(data, name)
        if path is None:
            found |= {f"words.{name}.{end}": _absent(name) for end in ("mean", "largest")}
            continue
        ours = {
            (one.connection, one.word): np.array([one.mean, one.low, one.high], float)
            for one in _published(data, path, seed).words
        }
        worst = [
            np.abs(drawn - ours[kind, word]).max()
            for (dataset, kind, word), drawn in figures.items()
            if dataset == name and (kind, word) in ours
        ]
        if not worst:
            nothing = Recomputed(note="no coordinates of its words")
            found |= {f"words.{name}.{end}": nothing for end in ("mean", "largest")}
            continue
        found[f"words.{name}.mean"] = Recomputed(float(np.mean(worst)))
        found[f"words.{name}.largest"] = Recomputed(float(np.max(worst)))
    return found


def _simulated(data: Data, path: Path, seed: int) -> PredictiveCheck | None:
    """As published: every row is simulated on its own."""
    fitted = _published(data, path, seed)
    if fitted.predictive is None:
        return None
    random = np.random.default_rng([seed, _ROW_STREAM])
    return data.once(("simulated", path), lambda: check_predictions(fitted.draws, fitted.table, random, each_row=True))


def coverage(data: Data, seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Share of the observed distances within the predicted intervals, in %."""
    found = {}
    for row in COVERAGE:
        _, name, level = row.id.split(".")
        name = "religion_reddit" if name == "caption" else name
        path = _path(data, name)
        if path is None:
            found[row.id] = _absent(name)
            continue
        checks = [_simulated(data, path, seed), _crossed(data, path, seed).predictive]
        shares = [None if one is None else 100 * float(getattr(one, f"within_{level}")) for one in checks]
        found[row.id] = Recomputed(shares[0], shares[1])
    return found


def bands(data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
    """Shares within ±(1 − MAC), on the same control words before and after; intervals over words and attributes."""
    found: dict[str, Recomputed] = {}
    for place, (topic, width) in enumerate(BANDS.items()):
        for side, name in (("before", f"{topic}_reddit"), ("after", f"debiased_{topic}_reddit")):
            path = _path(data, name)
            if path is None:
                found |= {f"band.{topic}.{side}.{kind}": _absent(name) for kind in KINDS}
                continue
            table = read_distances(path, duplicates="keep")
            raw = table.share_within(width)
            for one in within_band(read_distances(path), band=width, random_state=seed).shares:
                share, low, high = (None if end is None else 100 * end for end in (one.share, one.low, one.high))
                found[f"band.{topic}.{side}.{one.connection}"] = Recomputed(100 * raw[one.connection], share, low, high)
        if progress is not None:
            progress(place + 1, len(BANDS))
    return found
