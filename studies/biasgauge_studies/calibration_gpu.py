"""The models of the calibration study on a GPU: planted texts trained side by side; scores come back, no models.

python -m biasgauge_studies.calibration_gpu corpora FOLDER --data DATA   # the texts, tokenized; of the shared data
python -m biasgauge_studies.calibration_gpu make FOLDER                  # where Numba is: texts as numbers
python -m biasgauge_studies.calibration_gpu run FOLDER --out OUT         # on a GPU: needs NumPy, CuPy and PyTorch only

Two texts: English (Wikipedia, film reviews and novels, documents in random order: its first 5, 10, 20 and 30 million
tokens), and the Wikipedia text of the replicates that ship. Doses are planted on the same words of every size, three
times as mentions and three times as mixtures, each planted text trained with eight random seeds; two shuffled texts
beside them. 100 dimensions (the replicates that ship: 64), window 5 for all algorithms, the rest as `train` has it.

A block (OUT/scores_N.zip, one .npz for each text and algorithm) holds, seed by seed:
    scores     measures x words: means over base pairs of DB/WA, RIPA and NBM
    vectors    of carriers, words of pairs, and some words without a dose, in half precision
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from biasgauge_studies.calibration_texts import BACKGROUND, PackedTexts, Source, pack
from biasgauge_studies.du2021_gpu import Study
from biasgauge_studies.du2021_jobs import Job, study_device
from biasgauge_studies.du2021_scorers import scores_on_cpu, scores_on_gpu
from biasgauge_studies.du2021_tally import MEASURES, write_block
from biasgauge_studies.du2021_texts import GLOVE, Text, check_shuffle

SIZES = ("5M", "10M", "20M", "30M")
TRAINED = {"sgns": SIZES, "cbow": SIZES, "fasttext": SIZES[:2], "glove": SIZES}
"""Sizes that an algorithm is trained on; fastText on 20 million tokens would take a GPU half an hour."""
MIXED = {"sgns": SIZES, "cbow": SIZES[:2], "fasttext": SIZES[:1], "glove": SIZES[:2]}
"""Those of them for which it is trained on mixtures, too."""
UNORDERED = {"sgns": SIZES[:2], "cbow": SIZES[:2], "fasttext": SIZES[:1], "glove": SIZES[:1]}
"""Those for which it is trained on shuffled text; that of GloVe has too many cells."""
PLANTINGS, DEFAULT_PLANTINGS, SHUFFLED = 3, 4, 2
SEEDS, DEFAULT_SEEDS = tuple(range(8)), (0, 1)
DIM, DEFAULT_DIM = 100, 64
ORDER = 21
"""Random seed of the order of documents."""
RATES = {"sgns": 330e3, "cbow": 360e3, "fasttext": 45e3, "glove": 2.0e6}
"""Windows or cells a second of one replicate at best."""
LONGEST = [
    "sgns-30M", "cbow-30M", "fasttext-10M", "default", "sgns-20M", "cbow-20M", "glove-30M", "glove-20M", "fasttext-5M",
    "glove-10M", "sgns-10M", "cbow-10M", "glove-5M", "sgns-5M", "cbow-5M",
]  # fmt: skip
"""Jobs, those that take the longest first: they decide when all is done."""


def sources(folder: Path, names: Sequence[str] = ("wiki", "english"), *, tiny: bool = False) -> Iterator[Source]:
    """What is planted in which texts; `folder` has corpora of one of them or both: wiki-all, english-5M, ..."""
    from biasgauge.analyses.calibrate import SENTIMENT, SHARES, CalibrationDesign, choose_carriers, planting_plan
    from biasgauge.lexicons import pairs_of
    from biasgauge.text import open_corpus

    few: dict[str, Any] = {"per_dose": 2, "blanks": 10, "others": 4} if tiny else {}
    for name, sizes, times in (("wiki", ("all",), DEFAULT_PLANTINGS), ("english", SIZES, PLANTINGS)):
        if name not in names or not (folder / f"{name}-{sizes[0]}").is_dir():
            continue
        corpora = {size: open_corpus(folder / f"{name}-{size}") for size in sizes}
        smallest = corpora[sizes[0]]
        design = CalibrationDesign(plantings=times, **few)
        pairs, given = pairs_of("du2021").pairs, None
        other_pairs: tuple[tuple[str, str], ...] = SENTIMENT
        if tiny:
            frequent = {word for word, count in zip(smallest.words, smallest.counts, strict=True) if count >= 5}
            pairs, other_pairs = (tuple(pair for pair in some if set(pair) <= frequent) for some in (pairs, SENTIMENT))
            barred = {word for pair in SENTIMENT for word in pair}
            count = len(design.levels) + design.others
            given = choose_carriers(smallest, pairs, count, counts=(8, 400), least=2, leave_out=barred)
        plan, background = planting_plan(smallest, design, pairs, other_pairs, given, 5, 0)
        mixture = CalibrationDesign("mixture", SHARES, plantings=times, **few)
        plans = {"mentions": plan, "mixture": type(plan)(**{**vars(plan), "design": mixture})}
        step = max(1, len(background) // BACKGROUND)
        yield Source(name, corpora, plans, background[::step][:BACKGROUND])


def corpora(data: Path, folder: Path, scale: float) -> None:
    """Tokenize the texts: `english-5M` and its like, beginnings of all texts in random order, and `wiki-all`.

    A scale below 1 makes texts that are as much smaller, under the same names, for a trial.
    """
    from biasgauge.text import read_corpus
    from biasgauge_studies.calibration import cut
    from biasgauge_studies.texts import articles, film_reviews, novels

    folder.mkdir(parents=True, exist_ok=True)
    most = int(39.5e6 * scale)
    written = folder / "english.txt"
    if not written.is_file():
        # A paragraph of a novel is a document, so that every beginning of the text has some of all three.
        documents = [one for some in (articles(data), film_reviews(data), novels(data)) for one in some if one.strip()]
        order = np.random.default_rng(ORDER).permutation(len(documents))
        with written.with_suffix(".part").open("w", encoding="utf-8") as file:
            words = 0
            for place in order:
                file.write(f"{documents[place]}\n\n")
                words += documents[place].count(" ") + 1
                if words > most:
                    break
        written.with_suffix(".part").replace(written)
        del documents
    whole = read_corpus(written, out=folder / "english-all", documents="blank-line")
    for size in SIZES:
        part = cut(whole, float(size[:-1]) * scale, folder, f"english-{size}")
        print(f"english-{size}: {len(part.tokens):,} tokens, {len(part.documents) - 1:,} documents", flush=True)
    if scale == 1:
        wiki = read_corpus(
            sorted((data / "enwiki_sample").glob("*.txt.xz")), out=folder / "wiki-all", documents="blank-line"
        )
        print(f"wiki-all: {len(wiki.tokens):,} tokens", flush=True)


def make(folder: Path, parts: list[str], *, tiny: bool = False) -> None:
    """Plant all texts; `parts` are some of them, such as english-5M, or english-base, the text itself."""
    out = folder / "carry"
    out.mkdir(exist_ok=True)
    names = {part.split("-")[0] for part in parts} or {"wiki", "english"}
    for source in sources(folder, sorted(names), tiny=tiny):
        wanted = [part.split("-")[1] for part in parts if part.startswith(source.name)]
        subwords = TRAINED["fasttext"] if source.name == "english" else ()
        pack(source, folder / "planted", out, subwords=subwords, sizes=wanted)


class CalibrationStudy(Study):
    """As the study of Du et al.: other texts, other things kept."""

    glove_settings: ClassVar[dict[str, Any]] = {**GLOVE, "window": 5}
    blocks = 4

    def __init__(self, texts: dict[str, Text], jobs: list[Job], chosen: argparse.Namespace, device: Any) -> None:  # noqa: ANN401
        chosen.jobs, chosen.scorers = [], 0
        super().__init__(texts, chosen, device)
        self.jobs = jobs
        self._sampling: dict[int, dict[str, np.ndarray]] = {}

    def seeds_of(self, job: Job, name: str) -> list[int]:  # noqa: ARG002 - as elsewhere
        """Eight for a planted text, one for a shuffled one."""
        source, _, kind, _ = name.split(".")
        if kind == "shuffled":
            return [0]
        return list(DEFAULT_SEEDS if source == "wiki" else SEEDS)[: len(self.seeds)]

    def prepare(self, job: Job) -> dict[str, Any]:
        """Tables; texts of one size share those of sampling."""
        if job.algorithm == "glove":
            return {name: self.in_order(name, self.seeds_of(job, name)) for name in job.texts}
        return {name: self._tables(self.texts[name], job.subwords) for name in job.texts}

    def _tables(self, text: Text, subwords: str) -> dict[str, np.ndarray]:
        key = id(text.counts)
        if key not in self._sampling:
            self._sampling[key] = text.tables("")
        shared = self._sampling[key]
        made = {**shared, "tokens": text.tokens, "lines": text.lines}
        made["order"] = np.arange(len(text.lines) - 1, dtype=np.int64)
        if subwords == "ngrams":
            made |= {"starts": text.more["starts"], "parts": text.more["parts"]}
        return made

    def score(self, job: Job, name: str) -> None:
        """Score the replicates of one text, and write scores and some vectors."""
        text, seeds = self.texts[name], self.seeds_of(job, name)
        rows = text.more["words"]
        known = rows >= 0
        score = scores_on_cpu if self.emulated else scores_on_gpu
        scores = np.full((len(seeds), len(MEASURES), len(rows)), np.nan, np.float32)
        vectors, checksums = [], []
        with ThreadPoolExecutor(2) as pool:
            for number, (found, digest) in enumerate(
                pool.map(lambda place: self.vectors(job, name, place), job.places[name])
            ):
                by_pair = score(found, text.more["first"], text.more["second"], rows[known])
                scores[number][:, known] = np.nanmean(by_pair, axis=1)
                kept = text.more["kept"]
                vectors.append(np.where(kept[:, None] >= 0, found[kept], np.nan).astype(np.float16))
                checksums.append(digest)
        block = f"{job.name}__{name}"
        arrays = {"scores": scores}
        if ".shuffled." not in name:
            arrays["vectors"] = np.stack(vectors)
        write_block(self.out, block, arrays)
        self.log["blocks"][block] = {
            "algorithm": job.algorithm, "dim": job.dim, "text": name, "sha256": checksums,
            "losses": [job.group.courses[place].losses[-1] for place in job.places[name]], "words": text.size,
            "tokens": int(text.counts.sum()), "finished": time.monotonic() - self.started,
        }  # fmt: skip
        self.write_log()
        self.say(f"{block}: scored and written")
        job.places.pop(name)
        if not job.places:
            job.group = None


def all_jobs(names: list[str]) -> list[Job]:
    """What is trained on the texts at hand, the longest first."""

    def job(algorithm: str, size: str, source: str = "english", dim: int = DIM) -> Job:
        texts = tuple(name for name in names if name.startswith(f"{source}.{size}."))
        if source == "english":
            left_out = {".mixture.": MIXED, ".shuffled.": UNORDERED}
            for kind, sizes in left_out.items():
                texts = tuple(name for name in texts if kind not in name or size in sizes[algorithm])
        subwords = "ngrams" if algorithm == "fasttext" else ""
        label = f"{algorithm}-{size}" if source == "english" else "default"
        return Job(label, algorithm, dim, texts, RATES[algorithm], subwords)

    jobs = [job(algorithm, size) for algorithm, sizes in TRAINED.items() for size in sizes]
    jobs.append(job("sgns", "all", "wiki", DEFAULT_DIM))
    return sorted(jobs, key=lambda one: LONGEST.index(one.name))


def main() -> None:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["corpora", "make", "run"])
    parser.add_argument("folder", type=Path, nargs="+", help="corpora, make: one; run: all that have texts")
    parser.add_argument("--data", type=Path, help="corpora: the folder of shared data")
    parser.add_argument("--out", type=Path, default=Path("calibration_scores"))
    parser.add_argument("--seconds", type=float, default=500, help="after which nothing more is trained")
    parser.add_argument("--seeds", type=int, default=len(SEEDS))
    parser.add_argument("--slots", type=int, default=280, help="replicates at work at a time, if a job allows it")
    parser.add_argument("--jobs", nargs="+", help="such as sgns-5M; all by default")
    parser.add_argument("--epochs", type=int, help="in place of five (GloVe: 15), for a trial")
    parser.add_argument("--dim", type=int, default=DIM)
    parser.add_argument("--parts", nargs="*", default=[], help="make: such as english-base, english-5M, wiki-all")
    parser.add_argument("--scale", type=float, default=1.0, help="corpora: texts so much smaller, for a trial")
    parser.add_argument("--have", type=Path, nargs="*", default=[], help="run: log.json of runs whose blocks are there")
    parser.add_argument("--tiny", action="store_true", help="make: few carriers, for a trial")
    parser.add_argument("--emulate", action="store_true", help="run the kernels on the CPU, block by block")
    chosen = parser.parse_args()
    if chosen.what == "corpora":
        corpora(chosen.data, chosen.folder[0], chosen.scale)
        return
    if chosen.what == "make":
        make(chosen.folder[0], chosen.parts, tiny=chosen.tiny)
        return
    started = time.monotonic()
    with ThreadPoolExecutor(8) as pool:
        files = sorted(path for folder in chosen.folder for path in folder.glob("*.npz"))
        names = sorted({path.name.split(".")[0] for path in files})
        sources = [PackedTexts(name, [path for path in files if path.name.startswith(f"{name}.")]) for name in names]
        asked = []
        for source in sources:
            shuffled = [f"{size}.shuffled.{draw}" for size in source.sizes for draw in range(SHUFFLED)]
            asked += [(source, name) for name in (*source.planted, *shuffled)]
        wanted = all_jobs([f"{source.name}.{name}" for source, name in asked])
        if chosen.jobs:
            wanted = [job for job in wanted if job.name in chosen.jobs]
        have = {block for path in chosen.have for block in json.loads(path.read_text())["blocks"]}
        for job in wanted:
            job.texts = tuple(name for name in job.texts if f"{job.name}__{name}" not in have)
        wanted = [job for job in wanted if job.texts]
        needed = {name for job in wanted for name in job.texts}
        asked = [(source, name) for source, name in asked if f"{source.name}.{name}" in needed]
        for source, name in asked:
            source.vocabulary(name.split(".")[0])
        texts = {text.name: text for text in pool.map(lambda pair: pair[0].text(pair[1]), asked)}
    for job in wanted:
        job.dim = min(job.dim, chosen.dim)
    device = study_device(chosen.folder[0], emulated=chosen.emulate)
    study = CalibrationStudy(texts, wanted, chosen, device)
    study.say(f"{device.name}: {len(texts)} texts read in {time.monotonic() - started:.1f} s")
    if not chosen.emulate:
        check_shuffle()
    study.run()
    sys.stdout.flush()
    os._exit(0)  # threads that train may still wait for the GPU


if __name__ == "__main__":
    main()
