"""What the models of the calibration study say: scores that came back from a GPU, beside the doses that were planted.

    python -m biasgauge_studies.calibration_scores FOLDER SCORES... --out OUT [--cells sgns-5M-mentions ...] [--sets 2]

FOLDER has the corpora and planted texts (calibration_gpu.py make), SCORES are folders with its scores_N.zip. One
calibration for each algorithm, size and way of planting is written to OUT/NAME.json, unless it is there.
"""

from __future__ import annotations

import argparse
import io
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge import Embedding, registry
from biasgauge.analyses.calibrate import Readings, ScoringPlan, analyze, collect_readings
from biasgauge.text import vocabulary
from biasgauge_studies.calibration_gpu import DEFAULT_DIM, DIM, sources
from biasgauge_studies.du2021_tally import MEASURES

if TYPE_CHECKING:
    from biasgauge.analyses.calibrate import Calibration
    from biasgauge_studies.calibration_texts import Source


class Blocks:
    """Scores and vectors, by algorithm, size and text."""

    def __init__(self, folders: list[Path]) -> None:
        self._files: dict[str, Path] = {}
        for folder in folders:
            for path in sorted(folder.glob("scores_*.zip")):
                for name in zipfile.ZipFile(path).namelist():
                    self._files[name.removesuffix(".npz")] = path

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def __getitem__(self, name: str) -> dict[str, np.ndarray]:
        raw = zipfile.ZipFile(self._files[name]).read(f"{name}.npz")
        return dict(np.load(io.BytesIO(raw)))


def read_cell(source: Source, blocks: Blocks, label: str, size: str, kind: str, work: Path) -> Readings | None:
    """Everything that is known of one algorithm, size and way of planting; None where a text was not trained."""
    plan, corpus = source.plans[kind], source.corpora[size]
    names = [f"{label}__{source.name}.{size}.{kind}.{draw}" for draw in range(plan.design.plantings)]
    if not all(name in blocks for name in names):
        return None
    largest = vocabulary(source.corpora[list(source.corpora)[-1]], min_count=5)
    known = set(largest.words)
    words = [word for word in source.words() if word in known]
    kept = [word for word in source.kept() if word in known]
    asked = [*plan.carriers, *plan.others, *source.background]
    rows = [words.index(word) for word in asked]
    found = [blocks[name] for name in names]
    scores = np.stack([block["scores"][:, :, rows] for block in found])  # text × run × measure × word
    shuffled = [
        blocks[name]["scores"][0][:, rows]
        for draw in range(9)
        if (name := f"{label}__{source.name}.{size}.shuffled.{draw}") in blocks
    ]
    unordered = np.stack(shuffled, axis=2) if shuffled else np.empty((len(MEASURES), len(rows), 0))
    counts = dict(zip(corpus.words, corpus.counts.tolist(), strict=True))
    by_count = sorted(range(len(kept)), key=lambda place: -counts.get(kept[place], 0))
    vectors = {
        (draw, run): _embedding(kept, by_count, block["vectors"][run])
        for draw, block in enumerate(found)
        for run in range(len(block["vectors"]))
    }
    return collect_readings(
        plan.plant(corpus, work), scores.transpose(2, 3, 0, 1).astype(np.float64), unordered.astype(np.float64),
        vectors, ScoringPlan(plan.carriers, plan.others, source.background, plan.pairs, list(MEASURES)),
    )  # fmt: skip


def _embedding(words: list[str], order: list[int], rows: np.ndarray) -> Embedding:
    """Vectors of the words that a model has, the most frequent first, as models have them."""
    chosen = [place for place in order if np.isfinite(rows[place]).all()]
    return Embedding(tuple(words[place] for place in chosen), rows[chosen].astype(np.float32))


def settings_of(source: Source, size: str, kind: str, algorithm: str, dim: int, models: int) -> dict[str, Any]:
    """As `calibrate` has them."""
    plan, corpus = source.plans[kind], source.corpora[size]
    return {
        "corpus": {"checksum": corpus.checksum, "tokens": len(corpus.tokens)},
        "recipe": {"algorithm": algorithm, "dim": dim, "window": 5, "min_count": 5},
        "pairs": [list(pair) for pair in plan.pairs], "design": plan.design.to_dict(), "window": plan.window,
        "models": models, "level": 0.95, "random_state": plan.random_state,
    }  # fmt: skip


def calibration_of(
    source: Source,
    blocks: Blocks,
    label: str,
    size: str,
    kind: str,
    work: Path,
    *,
    sets: int,
    verdicts: Any = None,  # noqa: ANN401
) -> Calibration | None:
    """The calibration of one cell."""
    readings = read_cell(source, blocks, label, size, kind, work)
    if readings is None:
        return None
    algorithm, dim = ("sgns", DEFAULT_DIM) if label == "default" else (label.split("-", maxsplit=1)[0], DIM)
    about = settings_of(source, size, kind, algorithm, dim, len(readings.vectors))
    judged: tuple[Any, ...] = ()
    if verdicts is not None:
        texts = sorted({draw for draw, _, _ in readings.runs()})
        judged = tuple(
            verdicts(readings, [[model for of, _, model in readings.runs() if of == draw] for draw in texts])
        )
    return analyze(
        readings, registry.names("association_test"), (4, 8, 16, 25), about, (), judged, random_state=0, sets=sets
    )


def main() -> None:
    """What the command line asks for."""
    from biasgauge.audits.calibrated import verdict_rates

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("scores", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--work", type=Path, help="where texts are planted again; FOLDER/planted by default")
    parser.add_argument("--cells", nargs="+", help="such as sgns-5M-mentions; all that were trained by default")
    parser.add_argument("--verdicts", nargs="*", default=[], help="cells in which the audit judges sets, too")
    parser.add_argument("--sets", type=int, default=2, help="random sets of carriers for each model, size and dose")
    parser.add_argument("--tiny", action="store_true", help="of a trial that was made with --tiny")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    blocks = Blocks(chosen.scores)
    for source in sources(chosen.folder, tiny=chosen.tiny):
        labels = (
            [("default", "all")]
            if source.name == "wiki"
            else [
                (f"{algorithm}-{size}", size)
                for size in source.corpora
                for algorithm in ("sgns", "cbow", "fasttext", "glove")
            ]
        )
        for label, size in labels:
            for kind in source.plans:
                name, started = f"{label}-{kind}", time.monotonic()
                target = chosen.out / f"{name}.json"
                if target.is_file() or (chosen.cells and name not in chosen.cells):
                    continue
                result = calibration_of(
                    source, blocks, label, size, kind, chosen.work or chosen.folder / "planted", sets=chosen.sets,
                    verdicts=verdict_rates if name in chosen.verdicts else None,
                )  # fmt: skip
                if result is not None:
                    result.save(target)
                    print(f"{name}: {time.monotonic() - started:.0f} s; {result.summary().headline}", flush=True)


if __name__ == "__main__":
    main()
