"""Training settings of the papers: those of their text, and those of their released code."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from biasgauge.core import JsonObject, Record
from biasgauge.errors import ParameterError
from biasgauge.text import PAPER_RULES
from biasgauge.text.training.models import select_algorithms

_NO_SEED = "the paper's released code passes no seed to its trainer; here every model has its own, as the paper says"
_CBOW = "the paper's released code leaves gensim's default, CBOW; this is what --as-published trains"

_TEN = "the paper keeps words that occur 10 times or more, its released code those that occur 11 times or more"


@dataclass(frozen=True)
class Plan(Record):
    """Algorithms, settings and vocabulary: the arguments of `read_corpus` and `train` that a paper decides.

    Attributes:
        algorithms, settings, min_count, unknown, remove: as `train` has them.
        tokenizer: as `read_corpus` has it.
        remarks: differences between a paper and its released code.
        like, as_published: the paper that this follows, and whether its text or its code.
    """

    algorithms: tuple[str, ...] = ("sgns",)
    settings: JsonObject = field(default_factory=dict)
    min_count: int = 5
    unknown: str | None = None
    remove: tuple[str, ...] = ()
    tokenizer: str = "words"
    remarks: tuple[str, ...] = ()
    like: str | None = None
    as_published: bool = False


def _like(name: str, *remarks: str, tokenizer: str, algorithms: tuple[str, ...], dim: int = 300) -> Plan:
    rules = PAPER_RULES[name]
    dropped = tuple(f"{word} is trained as a word; leave it out of what is scored" for word in rules.not_scored[:1])
    settings = {"dim": dim, "window": 5, "epochs": 5, "negative": 5}
    return Plan(
        algorithms, settings, rules.min_count, rules.unknown, rules.remove, tokenizer, (*remarks, *dropped), like=name
    )


_DU = partial(_like, "du2021", tokenizer="whitespace")
_BADDER = partial(_like, "badder_seeds2022", tokenizer="spacy:en", dim=100)
_WIKI = partial(_like, "goldfarb_tarrant2021_wiki", algorithms=("sgns", "fasttext"), tokenizer="whitespace")
_TWITTER = partial(_like, "goldfarb_tarrant2021_twitter", algorithms=("sgns", "fasttext"), tokenizer="twitter")

PAPERS: dict[str, tuple[Plan, Plan]] = {
    "du2021": (_DU(_NO_SEED, algorithms=("sgns",)), _DU(_CBOW, _NO_SEED, algorithms=("cbow",))),
    "badder_seeds2022": (_BADDER(_NO_SEED, algorithms=("sgns",)), _BADDER(_CBOW, _NO_SEED, algorithms=("cbow",))),
    "goldfarb_tarrant2021_wiki": (replace(_WIKI(), min_count=10), _WIKI(_TEN)),
    "goldfarb_tarrant2021_twitter": (_TWITTER(), _TWITTER()),
}
"""For each paper: the settings of its text, and those of its released code."""

GLOVE = {
    "du2021": replace(_DU(algorithms=("glove",)), settings={"dim": 300, "window": 15, "epochs": 15}),
}
"""Settings of GloVe, which no other algorithm shares, for the papers that trained it."""


def training_plan(
    like: str | None = None,
    *,
    as_published: bool = False,
    algorithm: list[str] | None = None,
    min_count: int | None = None,
    unknown: str | None = None,
    tokenizer: str | None = None,
    **settings: Any,  # noqa: ANN401 - those of the algorithms
) -> Plan:
    """Start from a paper's settings, or from the defaults, and replace those that are not None.

    Raises:
        ParameterError: the paper is not known, `as_published` stands without one, or a setting is impossible.
    """
    if like is not None and like not in PAPERS:
        raise ParameterError(f"Settings are known of {', '.join(PAPERS)}. Got {like!r}.")
    if as_published and like is None:
        raise ParameterError("as_published needs to know which paper: add like (--like on the command line).")
    base = Plan() if like is None else PAPERS[like][as_published]
    names = tuple(algorithm) if algorithm else base.algorithms
    if like is not None and "glove" in names:
        base = _glove_plan(like, names)
    plan = replace(
        base,
        algorithms=names,
        settings={**base.settings, **{name: value for name, value in settings.items() if value is not None}},
        min_count=base.min_count if min_count is None else min_count,
        unknown=base.unknown if unknown is None else unknown,
        tokenizer=tokenizer or base.tokenizer,
        as_published=as_published,
    )
    select_algorithms(plan.algorithms, plan.settings)
    return plan


def _glove_plan(like: str, names: tuple[str, ...]) -> Plan:
    if like not in GLOVE:
        raise ParameterError(f"GloVe was trained by {', '.join(GLOVE)}, not by {like}. Leave out algorithm or like.")
    if set(names) != {"glove"}:
        remaining = ", ".join(name for name in names if name != "glove")
        raise ParameterError(
            f"{like} trained GloVe with settings of its own (window 15, 15 epochs). "
            f"Train it in a call by itself, and {remaining} in another."
        )
    return GLOVE[like]
