"""What the study of Du et al. 2021 keeps of scores: those of short lists, and mean squares of the rest."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np

from biasgauge_studies.du2021_texts import Text

MEASURES = ("dbwa", "ripa", "nbm")
K = 100
_MOST_BYTES = 15_500_000
"""Of an archive."""


class Tally:
    """Scores of the lists, and sums over all words from which mean squares follow."""

    def __init__(self, text: Text, seeds: int) -> None:
        self.rows, self.google, self.seeds = text.more["rows"], text.more["google"], seeds
        size, pairs = text.size, len(text.more["first"])
        shape = (len(MEASURES), pairs)
        self.kept = np.empty((*shape, len(self.rows), seeds), np.float32)
        self.by_pair = np.zeros((*shape, size))
        self.by_seed = np.zeros((len(MEASURES), size, seeds))
        self.squares = np.zeros((len(MEASURES), size))
        self.of_seed = np.zeros((2, *shape, seeds))
        self.pair_squares = np.zeros((2, *shape))

    def add(self, number: int, scores: np.ndarray) -> None:
        """Measures x pairs x words of one model."""
        self.kept[..., number] = scores[..., self.rows]
        scores = scores.astype(np.float64)
        self.by_pair += scores
        self.by_seed[..., number] = scores.sum(axis=1)
        self.squares += (scores**2).sum(axis=1)
        for place, part in enumerate((scores[..., self.google], scores)):
            self.of_seed[place, ..., number] = part.sum(axis=-1)
            self.pair_squares[place] += (part**2).sum(axis=-1)

    def arrays(self, *, whole: bool) -> dict[str, np.ndarray]:
        """What is written."""
        scale = np.nanmax(np.abs(self.kept[:2]), axis=(1, 2, 3)) / 32_767
        arrays = {
            "rows": self.rows, "google": self.google, "scale": scale,
            "linear": np.rint(self.kept[:2] / scale[:, None, None, None]).astype(np.int16),
            "nbm": np.rint(np.nan_to_num(self.kept[2], nan=-128 / K) * K).astype(np.int8),
        }  # fmt: skip
        words = mean_squares(self.by_pair.transpose(0, 2, 1), self.by_seed, self.squares)
        pairs = [
            np.stack(mean_squares(sums, self.of_seed[place], self.pair_squares[place]))
            for place, sums in enumerate((self.by_pair[..., self.google], self.by_pair))
        ]
        arrays["pairs"] = np.stack(pairs)
        if whole:
            means = self.by_pair / self.seeds
            mean_scale = np.nanmax(np.abs(means[..., self.google]), axis=(1, 2)) / 32_767
            raters = mean_squares(means.sum(axis=0).T, means.sum(axis=1).T, (means**2).sum(axis=(0, 1)))
            pair_raters = [
                np.stack(mean_squares(part.sum(axis=0), part.sum(axis=2).T, (part**2).sum(axis=(0, 2))))
                for part in (means[..., self.google], means)
            ]
            arrays |= {
                "pair_raters": np.stack(pair_raters),
                "mean_scale": mean_scale,
                "means": np.rint(np.nan_to_num(means[..., self.google] / mean_scale[:, None, None])).astype(np.int16),
                "words_f": (words[0] / words[2]).astype(np.float32),
                "words_c": (words[1] / words[2]).astype(np.float32),
                "raters_f": (raters[0] / raters[2]).astype(np.float32),
                "raters_c": (raters[1] / raters[2]).astype(np.float32),
            }  # fmt: skip
        return arrays


def mean_squares(rows: np.ndarray, columns: np.ndarray, squares: np.ndarray) -> tuple[np.ndarray, ...]:
    """Of rows, of columns and of what is left, from sums of rows, sums of columns, and the sum of squares."""
    n, k = rows.shape[-1], columns.shape[-1]
    middle = rows.sum(axis=-1) ** 2 / (n * k)
    of_rows = (rows**2).sum(axis=-1) / k - middle
    of_columns = (columns**2).sum(axis=-1) / n - middle
    rest = squares - middle - of_rows - of_columns
    return of_rows / (n - 1), of_columns / (k - 1), rest / ((n - 1) * (k - 1))


def write_block(out: Path, name: str, arrays: dict[str, np.ndarray]) -> None:
    """Add a block to the last archive that has room for it, whole or not at all."""
    out.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    raw = buffer.getvalue()
    number = 0
    while (path := out / f"scores_{number}.zip").exists() and path.stat().st_size + len(raw) > _MOST_BYTES:
        number += 1
    whole = path.read_bytes() if path.exists() else b""
    temporary = out / "writing"
    temporary.write_bytes(whole)
    with zipfile.ZipFile(temporary, "a") as archive:
        archive.writestr(f"{name}.npz", raw)
    temporary.replace(path)
