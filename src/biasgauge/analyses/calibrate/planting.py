"""`plant`: a text with a known answer, and the answer, counted."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from biasgauge.analyses.calibrate.edit import Edit, Text, Tokens
from biasgauge.analyses.calibrate.mentions import Mentions
from biasgauge.analyses.calibrate.mixture import Mixture
from biasgauge.analyses.calibrate.parts import CarrierDose
from biasgauge.core import JsonObject, check_whole
from biasgauge.errors import CorpusError, InputError
from biasgauge.io import as_read_back
from biasgauge.results import Column, Result, Summary, Table, counted
from biasgauge.stats import closed_form_se, log_odds_ratio
from biasgauge.text import TokenCorpus, edited_corpus

VERSION = 2
"""Raised when the same edits would give another text."""
_ANOTHER = "is not the planted text that belongs there; remove the folder and plant again"


@dataclass(frozen=True, eq=False, repr=False)
class Planted(Result):
    """A planted text.

    Attributes:
        corpus: the text.
        doses: every carrier with what was asked for and what was counted.
        edits: what was done, in order.
        random_state: the seed.
        remarks: what could not be done as asked.
    """

    tables: ClassVar[tuple[str, ...]] = ("doses",)
    abridged: ClassVar[bool] = True

    corpus: TokenCorpus
    doses: tuple[CarrierDose, ...]
    edits: tuple[Edit, ...]
    random_state: int
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> JsonObject:
        """The counted doses, the edits, and the corpus without its text."""
        return {
            "doses": [dose.to_dict() for dose in self.doses],
            "edits": [edit.to_dict() for edit in self.edits],
            "corpus": self.corpus.to_dict(),
            "random_state": self.random_state,
            "warnings": list(self.remarks),
        }

    def summary(self) -> Summary:
        """What was asked for and what was counted, carrier by carrier."""
        columns = [
            "edit",
            "word",
            Column("dose", "number"),
            Column("counted log odds", "number"),
            Column("before", "number"),
        ]
        rows = [(self.edits[dose.edit].name, dose.word, dose.dose, dose.log_odds, dose.before) for dose in self.doses]
        named = ", ".join(edit.name for edit in self.edits)
        return Summary(
            title="Planted text",
            headline=f"{len(self.corpus.tokens):,} tokens, {counted(self.doses, 'carrier')}; edits: {named}",
            tables=(Table.of("doses", "", columns, rows, most=20),),
            warnings=self.remarks,
        )


def plant(
    corpus: TokenCorpus,
    edits: Edit | Iterable[Edit],
    *,
    out: str | os.PathLike[str],
    window: int = 5,
    random_state: int = 0,
) -> Planted:
    """Edit a text so that the association of some words is known, and count what it is then.

    Args:
        corpus: the tokenized text, which stays as it is.
        edits: `Mentions`, `Mixture`, `Swap`, `Shuffle`, or several, done in their order.
        out: folder in which planted texts are kept, each under the address of what was asked; one that is there
            already is not made again.
        window: tokens on each side of an end in which carriers are counted.
        random_state: seed of everything that is drawn.

    Raises:
        ParameterError: a word does not occur, or the edits ask for more than the text has.
        CorpusError: the text cannot be written.
    """
    chosen = (edits,) if isinstance(edits, Edit) else tuple(edits)
    address = hashlib.sha256(
        json.dumps([corpus.checksum, _asked(chosen, window, random_state)], sort_keys=True).encode()
    ).hexdigest()
    folder = Path(out) / f"planted-{address[:16]}"
    return plant_into(corpus, chosen, folder, window=window, random_state=random_state)


def plant_into(
    corpus: TokenCorpus, edits: Sequence[Edit], folder: Path, *, window: int = 5, random_state: int = 0
) -> Planted:
    """As `plant`, in a folder of this name; what it holds already must be the text that belongs there."""
    check_whole(1, window=window)
    check_whole(0, random_state=random_state)

    def edit(tokens: Tokens) -> Mapping[str, Any]:
        text = Text(corpus, tokens)
        before = _counted(text, edits, window)
        remarks = [
            remark for number, each in enumerate(edits) for remark in each.apply(text, random_state * 64 + number)
        ]
        after = _counted(text, edits, window)
        rows = [{**row, "before": earlier["log_odds"]} for row, earlier in zip(after, before, strict=True)]
        return {"planted": {**_asked(edits, window, random_state), "doses": rows, "remarks": remarks}}

    planted = edited_corpus(corpus, edit, folder)
    kept, asked = planted.settings.get("planted"), as_read_back(_asked(edits, window, random_state))
    belongs = isinstance(kept, dict) and all(kept.get(key) == value for key, value in asked.items())
    if not belongs or planted.settings.get("source") != corpus.checksum:
        raise CorpusError(_ANOTHER, path=planted.path)
    return planted_from(planted, edits, random_state)


def planted_from(corpus: TokenCorpus, edits: Sequence[Edit], random_state: int) -> Planted:
    """What a planted corpus says of itself: these edits were done to it, with this seed.

    Raises:
        CorpusError: it says nothing of the kind.
    """
    try:
        kept = corpus.settings["planted"]
        doses = tuple(map(CarrierDose.from_dict, kept["doses"]))
        return Planted(corpus, doses, tuple(edits), random_state, tuple(map(str, kept["remarks"])))
    except (TypeError, KeyError, AttributeError, InputError) as problem:
        raise CorpusError(_ANOTHER, path=corpus.path) from problem


def _asked(edits: Sequence[Edit], window: int, random_state: int) -> dict[str, Any]:
    """All that decides a planted text, but the text that it is made from."""
    return {
        "edits": [edit.to_dict() for edit in edits],
        "window": window,
        "random_state": random_state,
        "version": VERSION,
    }


def _counted(text: Text, edits: Sequence[Edit], window: int) -> list[dict[str, Any]]:
    """Counts and log odds of the carriers of every edit, with the pairs of that edit."""
    rows: list[dict[str, Any]] = []
    for place, edit in enumerate(edits):
        if not isinstance(edit, Mentions | Mixture):
            continue
        asked = edit.doses if isinstance(edit, Mentions) else edit.shares
        text.table(asked)  # every carrier occurs
        beside, places = text.beside(asked, edit.pairs, window)
        tables = np.stack([beside[:, 0], places[0] - beside[:, 0], beside[:, 1], places[1] - beside[:, 1]], axis=1)
        odds, errors = log_odds_ratio(tables), closed_form_se(tables)
        for number, (word, dose) in enumerate(asked.items()):
            rows.append({
                "edit": place, "word": word, "dose": float(dose), "log_odds": float(odds[number]),
                "se": float(errors[number]),
                "n_wa": int(beside[number, 0]), "n_a": int(places[0]), "n_wb": int(beside[number, 1]),
                "n_b": int(places[1]),
            })  # fmt: skip
    return rows
