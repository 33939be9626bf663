"""Tables of the study of Du et al.: from what a run keeps, the numbers that all scores would give."""

from __future__ import annotations

import io
import json
import re
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.lexicons import pairs_of
from biasgauge.scores import ScoreTensor
from biasgauge.stats import Form, Iccs, icc

ROOT = Path(__file__).parents[2]
blocks, features, seeds, tables, tally = (
    import_module(f"biasgauge_studies.du2021_{name}") for name in ("blocks", "features", "seeds", "tables", "tally")
)
SEEDS, WORDS = 5, (*bg.lexicon("occ18").words[:30], *bg.lexicon("google10k").words[:80])
PAIRS = [0, 1, 7, 8, 15, 16]


def iccs(stack: np.ndarray, form: Form) -> np.ndarray:
    """Values of a stack's matrices."""
    found = icc(stack, form)
    assert isinstance(found, Iccs)
    return found.value


@pytest.fixture
def made(tmp_path: Path) -> tuple[Any, np.ndarray]:
    """A run of one block, as the study on a GPU writes it, and the scores that went into it."""
    words = list(dict.fromkeys(WORDS))
    random = np.random.default_rng(3)
    shape = (3, len(PAIRS), len(words))
    scores = random.normal(size=(*shape, 1)) + random.normal(size=(3, len(PAIRS), 1, 1))
    scores = scores + 0.7 * random.normal(size=(*shape, SEEDS))
    scores = np.rint(np.clip(scores / 6, -1, 1) * 100) / 100  # as votes, so that nothing is lost
    google = [place for place, word in enumerate(words) if word in set(bg.lexicon("google10k").words)]
    rows = [place for place, word in enumerate(words) if word in set(bg.lexicon("occ18").words)]

    class Text:
        size = len(words)
        more = {"rows": np.array(rows), "google": np.array(google), "first": np.zeros(len(PAIRS))}  # noqa: RUF012

    kept = tally.Tally(Text(), SEEDS)
    for seed in range(SEEDS):
        kept.add(seed, scores[..., seed])
    tally.write_block(tmp_path / "run", "sgns_novels", kept.arrays(whole=True))
    about = {
        "text": "novels",
        "sha256": ["x"] * SEEDS,
        "pairs": PAIRS,
        "dim": 8,
        "settings": {"epochs": 1},
        "tokens": 9,
    }
    (tmp_path / "run" / "log.json").write_text(json.dumps({"blocks": {"sgns_novels": about}}))
    (tmp_path / "data" / "carry").mkdir(parents=True)
    (tmp_path / "data" / "novels.words.txt").write_text("\n".join(words))
    np.savez(tmp_path / "data" / "carry" / "novels.npz", counts=np.arange(len(words)) * 40 + 5)
    return blocks.read_blocks([tmp_path / "run"], tmp_path / "data")["sgns_novels"], scores


def test_reliabilities_are_those_of_all_scores(made: tuple[Any, np.ndarray]) -> None:
    block, scores = made
    for name in ("occ18", "google10k", "full"):
        chosen = scores[:, :, block.places(name, "all")]
        for measure in range(3):
            words = iccs(chosen[measure].transpose(1, 0, 2), "2,1")
            np.testing.assert_allclose(block.icc_of_words(name)[measure], words, atol=2e-5)
            pairs = iccs(chosen[measure], "2,1")
            np.testing.assert_allclose(block.icc_of_pairs(name)[measure], pairs, atol=2e-4)
        raters = iccs(chosen.mean(axis=3).transpose(2, 1, 0), "3,1")
        np.testing.assert_allclose(block.raters_of_words(name), raters, atol=2e-5)
    np.testing.assert_allclose(
        block.averages("google10k"), scores[:, :, block.arrays["google"]].mean(axis=3), atol=1e-4
    )
    assert block.pairs == [pairs_of("du2021").pairs[number] for number in PAIRS]


def test_tables_agree_with_reliability_of_the_package(made: tuple[Any, np.ndarray]) -> None:
    block, scores = made
    values = scores.astype(np.float32)
    tensor = ScoreTensor(
        values, np.zeros(values.shape, np.uint8), ("dbwa", "ripa", "nbm"), tuple(block.pairs), tuple(block.words),
        tuple(f"seed{number}" for number in range(SEEDS)), {},
    )  # fmt: skip
    google = [block.words[row] for row in block.arrays["google"]]
    lists = {"google10k": google, "full": list(block.words)}
    wanted = bg.reliability(tensor, lists=lists, queries={}, min_coverage=0.0, target=None)
    found = tables.distributions([block]).set_index(["reliability", "of", "list", "measure"])
    alone = bg.reliability(
        tensor.select(word=google), lists={"google10k": google}, queries={}, min_coverage=0.0, target=None
    )  # measures have the standard deviation of the list that they are compared on
    scaled = [row for row in alone.summaries if row.reliability == "inter_rater_standardized"]
    plain = [row for row in wanted.summaries if row.reliability != "inter_rater_standardized"]
    for row in (*plain, *scaled):
        if row.list is not None and row.of != "rule":
            ours = found.loc[row.reliability, row.of, row.list, row.measure or "all"]
            assert ours["median"] == pytest.approx(row.median, abs=5e-4), (row.reliability, row.of, row.list)
    assert ("inter_rater", "pair", "full", "all") in found.index
    pairs = tables.pair_table([block])
    ours = tables.relations([block], pairs)
    r = ours[ours["what"] == "r of dbwa and ripa over words"].iloc[0]
    by_word = scores[:, :, block.arrays["google"]].mean(axis=(1, 3))
    assert r["value"] == pytest.approx(np.corrcoef(by_word[0], by_word[1])[0, 1], abs=1e-3)
    r = ours[(ours["what"] == "r of test-retest and inter-rater over pairs") & (ours["text"] == "all")].iloc[0]
    (theirs,) = (row for row in wanted.relations if (row.of, row.list) == ("pair", "google10k"))
    assert r["value"] == pytest.approx(theirs.value, abs=2e-3)
    form = ours[(ours["what"] == "singular less plural, test_retest") & (ours["text"] == "all")].iloc[0]
    (theirs_t,) = (row for row in wanted.forms if (row.reliability, row.list) == ("test_retest", "google10k"))
    assert (form["n"], form["t"]) == (theirs_t.n, pytest.approx(theirs_t.t, abs=0.02))
    bands = tables.by_frequency([block])
    assert bands[bands["measure"] == "nbm"]["count"].sum() <= len(block.words)


def test_the_error_of_few_seeds_is_that_of_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of scores made up without end: the error of subsets of 32 is that of seeds drawn anew."""
    monkeypatch.setattr(seeds, "SIZES", (4, 16))
    random = np.random.default_rng(5)
    true = random.normal(size=(3, 12, 60, 1)) + 0.3

    def drawn(count: int) -> np.ndarray:
        return true + 0.8 * random.normal(size=(3, 12, 60, count))

    class Made:
        kind, text, seeds, scores = "sgns", "novels", 32, drawn(32)

    table = seeds.subsets([Made()])
    without_end = seeds.word_iccs(drawn(4_000))
    for size in (4, 16):
        own = np.stack([seeds.word_iccs(drawn(size)) for _ in range(60)])
        wanted = np.sqrt(((own - without_end) ** 2).mean(axis=(0, 2)))
        found = table[table["seeds"] == size]["error"].to_numpy()
        np.testing.assert_allclose(found, wanted, rtol=0.15)


def test_a_difference_of_settings_is_found_with_its_interval() -> None:
    covered = 0
    for trial in range(20):
        random = np.random.default_rng(trial)
        true = random.normal(size=(3, 12, 40, 1))

        class Made:
            def __init__(self, kind: str, noise: float) -> None:
                self.kind, self.text, self.seeds = kind, "novels", 12
                self.scores = true + noise * random.normal(size=(3, 12, 40, 12))  # noqa: B023 - used at once

        blocks = {"sgns_novels": Made("sgns", 0.8), "other_novels": Made("other", 0.8)}
        table = seeds.settings_compared(blocks, ("other",))
        covered += int(((table["low"] <= 0) & (table["high"] >= 0)).sum())
        blocks["other_novels"] = Made("other", 0.4)
        assert (seeds.settings_compared(blocks, ("other",))["low"] > 0.1).all()
    assert covered >= 54  # of 60 intervals of nothing; 57 are expected


def test_properties_of_words_are_those_of_the_package() -> None:
    random = np.random.default_rng(1)
    words = tuple(f"w{number}" for number in range(120))
    base = random.normal(size=(120, 9))
    turned = [base @ np.linalg.qr(random.normal(size=(9, 9)))[0] for _ in range(3)]
    models = [(vectors + 0.3 * random.normal(size=vectors.shape)).astype(np.float32) for vectors in turned]
    wanted = bg.analyses.reliability.word_features(
        [bg.Embedding(words, model, name=str(n)) for n, model in enumerate(models)]
    )
    found = features.features(models)
    for name in ("norm", "nn_similarity", "stability"):
        np.testing.assert_allclose(found[name], getattr(wanted, name), atol=2e-6)


def test_the_regression_takes_properties_from_the_block_that_has_them(made: tuple[Any, np.ndarray]) -> None:
    block, _ = made
    size = len(block.words)
    own = {name: np.arange(size, dtype=np.float32) for name in ("norm", "nn_similarity", "stability")}
    other = blocks.Block("sgns_features_novels", "sgns_features", "novels", block.about, own, block.words, block.counts)
    both = {"sgns_novels": block, "sgns_features_novels": other}
    assert len(tables.factor_rows({"sgns_novels": block}, "test_retest", vectors=True)) == 0
    rows = tables.factor_rows(both, "test_retest", vectors=True)
    assert len(rows) == 3 * size
    assert rows["stability"].tolist() == [*range(size)] * 3
    np.testing.assert_allclose(rows["log_frequency"][:size], np.log(block.counts))
    np.testing.assert_allclose(rows["score"], block.icc_of_words("full").ravel())
    assert "norm" not in tables.factor_rows(both, "inter_rater", vectors=False)


STUDY = ROOT / "docs" / "studies"
TEXTS = ("novels", "wiki_part", "imdb", "wiki")
BLOCKS = [*((algorithm, text) for algorithm in ("sgns", "glove") for text in TEXTS)]
BLOCKS += [("fasttext", "novels"), ("fasttext", "imdb")]


def printed(title: str) -> list[tuple[str, list[float]]]:
    """Rows of the page's tables under a title that have a number for each block."""
    section = (STUDY / "du2021.md").read_text(encoding="utf-8").split(f"\n## {title}", 1)[1].split("\n## ", 1)[0]
    rows = []
    for line in section.splitlines():
        head, *cells = [cell.strip().replace("*", "") for cell in line.strip("|").split("|")]
        if len(cells) == len(BLOCKS) and cells[0].startswith("."):
            rows.append((head, [float(cell) for cell in cells]))
    return rows


def ranges(title: str) -> list[tuple[str, list[list[float]]]]:
    """Rows of the section's first table by algorithm: its label, and the ends of each cell."""
    section = (STUDY / "du2021.md").read_text(encoding="utf-8").split(f"\n## {title}", 1)[1]
    lines = section.split("| skip-gram | GloVe | fastText |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    rows = (line.strip("| ").split(" | ") for line in lines)
    return [(head, [[float(end) for end in cell.split(" to ")] for cell in cells]) for head, *cells in rows]


def test_every_number_of_the_page_is_in_its_tables() -> None:
    """Medians of words, by algorithm the smallest and the largest over texts, and shares of variance."""
    import pandas as pd

    words = pd.read_csv(STUDY / "du2021" / "reliability.csv").query("of == 'word'")
    medians = words.groupby(["reliability", "measure", "list", "algorithm"])["median"].agg(["min", "max"])
    names = {"DB/WA": "dbwa", "RIPA": "ripa", "NBM": "nbm"}
    shown = [((*head.split(", "), "test_retest"), cells) for head, cells in ranges("Test-retest")]
    shown += [((*head.split(", ")[::-1], "inter_rater"), cells) for head, cells in ranges("Inter-rater")]
    assert len(shown) == 9 + 5
    for (first, of, kind), cells in shown:
        reliability = f"{kind}_standardized" if first == "standardized" else kind
        for algorithm, ends in zip(("sgns", "glove", "fasttext"), cells, strict=True):
            row: Any = (reliability, names.get(first, "all"), of, algorithm)
            assert [ends[0], ends[-1]] == pytest.approx(medians.loc[row].tolist(), abs=0.00501), row
    shares = pd.read_csv(STUDY / "du2021" / "components.csv")
    mean = shares.groupby(["algorithm", "text", "component"])["share"].mean().to_dict()
    rows = printed("What an ICC of a word compares")
    assert len(rows) == 4
    for head, numbers in rows:
        parts = [head] if "seed" not in head else ["model", "pair:model", "word:model", "word:pair:model"]
        expected = [sum(mean[*block, part] for part in parts) for block in BLOCKS]
        assert numbers == pytest.approx(expected, abs=0.0052), head


def test_the_errors_of_few_seeds_are_those_of_the_table() -> None:
    """Smallest and largest error over texts, by number of seeds and algorithm."""
    import pandas as pd

    errors = pd.read_csv(STUDY / "du2021" / "seeds.csv").query("measure == 'dbwa'")
    page = (STUDY / "du2021.md").read_text(encoding="utf-8")
    lines = page.split("| seeds | skip-gram | GloVe | fastText |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    shown = {int(seeds): cells for seeds, *cells in (line.strip("| ").split(" | ") for line in lines)}
    assert set(shown) == set(errors["seeds"])
    for (algorithm, count), rows in errors.groupby(["algorithm", "seeds"]):
        cell = shown[int(str(count))][("sgns", "glove", "fasttext").index(str(algorithm))]
        ends = [float(end) for end in cell.split(" to ")]
        assert ends == pytest.approx([rows["error"].min(), rows["error"].max()], abs=0.00051), (algorithm, count)


def test_what_the_page_links_to_is_there() -> None:
    names = set(re.findall(r"\(du2021/([\w.]+)\)", (STUDY / "du2021.md").read_text(encoding="utf-8")))
    assert len(names) >= 15
    assert all((STUDY / "du2021" / name).is_file() for name in names)


def test_blocks_are_read_from_all_archives_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "carry").mkdir()
    (tmp_path / "t.words.txt").write_text("a\nb")
    np.savez(tmp_path / "carry" / "t.npz", counts=np.array([7, 5]))
    for number, name in enumerate(("sgns_t", "glove_t")):
        buffer = io.BytesIO()
        np.savez(buffer, rows=np.array([number]))
        with zipfile.ZipFile(tmp_path / f"scores_{number}.zip", "w") as archive:
            archive.writestr(f"{name}.npz", buffer.getvalue())
    about = {"text": "t", "sha256": ["x"]}
    (tmp_path / "log.json").write_text(json.dumps({"blocks": {"sgns_t": about, "glove_t": about}}))
    read = blocks.read_blocks([tmp_path], tmp_path)
    assert {name: (block.kind, block.words) for name, block in read.items()} == {
        "sgns_t": ("sgns", ["a", "b"]), "glove_t": ("glove", ["a", "b"]),
    }  # fmt: skip


def test_replicates_of_the_cpu_give_the_tables_of_their_page(made: tuple[Any, np.ndarray], tmp_path: Path) -> None:
    block, scores = made
    study = import_module("biasgauge_studies.du2021")
    study.tabulate_cpu(tmp_path, {"texts": tmp_path / "data", "novels": tmp_path / "run"})
    shown = sorted(path.name for path in (STUDY / "du2021_cbow").glob("*.csv"))
    assert sorted(path.name for path in tmp_path.glob("*.csv")) == shown
    import pandas as pd

    bands = pd.read_csv(tmp_path / "by_frequency.csv")
    every = bands[(bands["words"] == "all") & (bands["measure"] == "dbwa") & (bands["occurs"] == 100)]
    chosen = (block.counts >= 100) & (block.counts < 1000)
    expected = np.median(iccs(scores[0][:, chosen].transpose(1, 0, 2), "2,1"))
    assert every["count"].tolist() == [chosen.sum()]
    assert every["median"].tolist() == pytest.approx([expected], abs=1e-4)


@pytest.mark.parametrize("text", ["imdb", "wiki_part"])
def test_the_medians_of_cbow_on_the_page_are_those_of_the_table(text: str) -> None:
    import pandas as pd

    bands = pd.read_csv(STUDY / "du2021_cbow" / "by_frequency.csv").query(f"text == '{text}' and words == 'all'")
    page = (STUDY / "du2021.md").read_text(encoding="utf-8")
    for head, measure in (("DB/WA", "dbwa"), ("RIPA", "ripa"), ("NBM", "nbm")):
        line = next(line for line in page.splitlines() if line.startswith(f"| `{text}`, {head} |"))
        cells = [float(cell) for cell in line.strip("| ").split(" | ")[1:]]
        assert cells == pytest.approx(bands[bands["measure"] == measure]["median"].tolist(), abs=0.00501)
