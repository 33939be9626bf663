"""HatEval, SemEval-2019 task 5 (Basile et al. 2019): is a tweet about women or migrants hateful?

Files `hateval2019_en_train.csv`, `…_dev.csv`, `…_test.csv`, columns id, text, HS, TR, AG. Whom a tweet is about is not
a column. The test files are two halves: English has migrants first, Spanish has women first; training files are not
ordered. Groups are therefore known in the official test order only.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from biasgauge.applications.text.data import TextData, Texts
from biasgauge.applications.text.data_set import DataSet
from biasgauge.applications.text.tables import TextTable, find_file, read_table
from biasgauge.errors import InputError

NAMES = {"0": "not hateful", "1": "hateful"}
HALVES = {"en": ("migrants", "women"), "es": ("women", "migrants")}
TEST_SIZES = {"en": 3000, "es": 1600}
ORDER = ("women", "migrants")


def load_hateval(data: Path, language: str) -> TextData:
    """HatEval in one language; the published gap is women − migrants."""
    if data.is_file():
        raise InputError(f"{data}: is a file; name the folder with HatEval's train, dev and test files")
    parts: dict[str, Texts] = {}
    warnings: list[str] = []
    for part in ("train", "dev", "test"):
        names = (f"hateval2019_{language}_{part}.csv", f"{part}_{language}.csv", f"{part}.csv")
        table = read_table(find_file(data, names, f"HatEval's {part} file"))
        groups = _halves(table, language, warnings) if part == "test" else None
        parts[part] = Texts.of(table, table.cells("text"), table.coded("HS", NAMES), groups)
    order = None if warnings else ORDER
    return TextData(f"hateval-{language}", parts, positive="hateful", order=order, warnings=tuple(warnings))


def _halves(table: TextTable, language: str, warnings: list[str]) -> list[str] | None:
    """Whom each tweet of the test file is about, by its place; None where the file is not the official one."""
    ids = table.cells("id")
    official = len(table) == TEST_SIZES[language]
    if not official or list(ids) == sorted(ids, key=lambda tweet: (len(tweet), tweet)):
        what = "sorted by id" if official else f"of {len(table):,} tweets"
        order = f"{table.path.name} is {what}, not HatEval's test file in its own order"
        warnings.append(f"{order}, so whom a tweet is about is not known")
        return None
    half = len(table) // 2
    return [HALVES[language][place >= half] for place in range(len(table))]


DATA_SET = tuple(
    DataSet(
        f"hateval-{language}",
        f"hate speech about women or migrants, {tongue} tweets (HatEval); gap: women − migrants",
        partial(load_hateval, language=language),
    )
    for language, tongue in (("en", "English"), ("es", "Spanish"))
)
