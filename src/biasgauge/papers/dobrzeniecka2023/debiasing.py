"""What §5.2 says that debiasing did to single protected words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.papers.dobrzeniecka2023.distances import IDS, absent, crossed_fit, path_of, published_fit
from biasgauge.papers.row import Recomputed

if TYPE_CHECKING:
    from biasgauge.analyses.posterior import Posterior
    from biasgauge.papers.data import Data
    from biasgauge.papers.paper import Progress


def debiasing(data: Data, seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Associated less different of a word before and after, from the word means; corrected: in the crossed model."""
    rows = {}
    for row in (name for name in IDS if name.startswith("debiasing.")):
        _, topic, *about = row.split(".")
        names = f"{topic}_reddit", f"debiased_{topic}_reddit"
        paths = [path_of(data, name) for name in names]
        missing = next((name for name, path in zip(names, paths, strict=True) if path is None), None)
        if missing is not None:
            rows[row] = absent(missing)
            continue
        here = [path for path in paths if path is not None]
        theirs, ours = ([fit(data, path, seed) for path in here] for fit in (published_fit, crossed_fit))
        rows[row] = Recomputed(_told(about, *theirs), _told(about, *ours))
    return rows


def _told(about: list[str], before: Posterior, after: Posterior) -> float | str | None:
    """The number of a row: the word that moved most, a difference after, or the product of both."""
    if about == ["moved"]:
        first, second = _differences(before), _differences(after)
        return max(first, key=lambda word: abs(second[word] - first[word]))
    word, what = about
    difference = _differences(after)[word]
    return difference if what == "after" else difference * _differences(before)[word]


def _differences(fit: Posterior) -> dict[str, float]:
    """Associated less different, by word."""
    means = {(row.connection, row.word): row.mean for row in fit.words if row.word is not None and row.mean is not None}
    return {word: means[kind, word] - means["different", word] for kind, word in means if kind == "associated"}
