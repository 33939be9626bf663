"""`biasgauge mitigate`: debias or overbias vectors, and say what that did."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cyclopts import App

from biasgauge.cli.options import DEFAULTS, Options
from biasgauge.cli.screen import console, print_json, print_table, progress, shorten

if TYPE_CHECKING:
    from rich.console import Console

    from biasgauge.mitigation import MitigationEffect
    from biasgauge.mitigation.effect_result import Row

EPILOGUE = """\
Methods: hard, double_hard, half_sibling, ran (along a direction of pairs),
multiclass_hard, multiclass_soft (several classes), attract_repel (the words of
a test). Each vector keeps its length unless --norms unit. Strength 0 changes
nothing, 1 is the whole method. With --effect: bias before and after, what else
moved, and whether the bias can still be recovered, which it often can.

Examples:
  biasgauge mitigate vectors.bin --out debiased.bin
  biasgauge mitigate vectors.bin --strength 0.5 --effect
  biasgauge mitigate vectors.bin --direction overbias --strength 2
  biasgauge mitigate vectors.bin --method attract_repel --lexicon weat6b,weat7
  biasgauge mitigate vectors.bin --method multiclass_hard --lexicon religion
  biasgauge mitigate --effect --json      the vectors that ship with the package
"""

app = App(name="mitigate", help_epilogue=EPILOGUE)


@app.default
def mitigate(
    vectors: Path | None = None,
    /,
    *,
    method: str = "hard",
    out: Path = Path("biasgauge-mitigated.safetensors"),
    direction: Literal["debias", "overbias"] = "debias",
    strength: float = 1.0,
    norms: Literal["kept", "unit"] = "kept",
    lexicon: str | None = None,
    equalise: str | None = None,
    specific: str | None = None,
    words: str | None = None,
    components: int | None = None,
    weight: float | None = None,
    alpha: float | None = None,
    epochs: int | None = None,
    as_published: bool = False,
    effect: bool = False,
    compare: str = "weat6b,weat7,gender",
    options: Options = DEFAULTS,
) -> None:
    """Debias vectors, or overbias them, into a new file.

    Args:
        vectors: a vector file; those that ship with the package by default
        method: hard, double_hard, half_sibling, ran, multiclass_hard, multiclass_soft or attract_repel
        out: where to write; the ending says how: .safetensors, .bin, .txt or .vec, also .gz
        direction: overbias makes the same change the other way
        strength: 0 changes nothing, 1 is the whole method; overbias may go further
        norms: kept: every vector has its old length; unit: length 1
        lexicon: what the method works with: pairs, stereotypes, words, or tests separated by commas
        equalise: equality pairs of hard and double_hard; "none" for none
        specific: words that carry the bias by meaning and stay; "none" for those of the lexicon alone
        words: which words ran moves: as in score; all by default
        components: directions of the bias subspace
        weight: of the bias against everything else, for multiclass_soft
        alpha: ridge penalty of half_sibling
        epochs: of attract_repel or ran
        as_published: what the released code of the method does
        effect: compare before and after
        compare: tests and stereotypes to compare, separated by commas
        options: those of every command
    """
    import biasgauge as bg  # noqa: PLC0415 - numpy is imported only by commands that compute
    from biasgauge.cli.words import asked_words  # noqa: PLC0415 - as above

    asked: dict[str, Any] = {
        "lexicon": _lexicon(method, lexicon),
        "equalise": equalise,
        "specific": asked_words(specific),
        "words": asked_words(words),
        "components": components,
        "weight": weight,
        "alpha": alpha,
        "epochs": epochs,
        "as_published": as_published or None,
    }
    settings = {name: None if value == "none" else value for name, value in asked.items() if value is not None}
    common = {"direction": direction, "strength": strength, "norms": norms}
    seeded = {"random_state": options.seed} if "random_state" in bg.mitigation_method(method).get_params() else {}
    chosen = bg.mitigation_method(method, **common, **settings, **seeded)
    with progress(options, "reading vectors") as report:
        before = bg.load_default() if vectors is None else bg.load(vectors, progress=report)
    with progress(options, method) as report:
        after = chosen.fit(before).transform(before, progress=report)
    path = bg.save(after, out)
    found = None
    if effect:
        with progress(options, "comparing before and after") as report:
            found = bg.mitigation_effect(before, after, compare.split(","), random_state=options.seed, progress=report)
    changed = bg.changed_words(before, after)
    warnings = [notice.message for notice in before.notices]
    if chosen.emptied_:
        warnings.append(f"nothing is left of these words, whose vectors are now zero: {shorten(chosen.emptied_)}")
    if options.json:
        content = {
            "path": str(path),
            "changed": changed,
            "words": len(after),
            "method": method,
            "coverage": None if chosen.coverage_ is None else chosen.coverage_.to_dict(),
            "effect": None if found is None else found.to_dict(),
        }
        recorded = {"method": method, **common, **settings, "model_checksum": before.checksum}
        print_json(options, content, settings=recorded, warnings=warnings)
        return
    screen = console(options)
    for warning in warnings:
        screen.print(f"note: {warning}", markup=False)
    screen.print(f"{after.name}: {changed:,} of {len(after):,} words changed", markup=False)
    if found is not None:
        _show(found, screen)
    if not options.quiet:
        screen.print(f"\nThe vectors: {path.resolve()}", soft_wrap=True)


def _lexicon(method: str, typed: str | None) -> str | list[str] | None:
    """Several names for attract_repel; words or the name of a list for half_sibling; else one name or file."""
    from biasgauge.cli.words import asked_words  # noqa: PLC0415 - as in mitigate

    if method == "half_sibling":
        return asked_words(typed)
    return typed.split(",") if method == "attract_repel" and typed is not None else typed


def _show(found: MitigationEffect, screen: Console) -> None:
    for part in dict.fromkeys(row.part for row in found.rows):
        rows = [(row.name, row.of, _number(row.before), _number(row.after), _change(row)) for row in found.part(part)]
        screen.print(f"\n{part}: {found.about(part)}", markup=False)
        print_table(screen, ("number", "of", "before", "after", "change"), rows)
    screen.print()
    for sentence in found.sentences:
        screen.print(sentence, markup=False)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _change(row: Row) -> str:
    if row.change is None:
        return "" if row.reason is None else f"undefined: {row.reason}"
    ends = row.change_interval
    return f"{row.change:+.3f}" + ("" if ends is None or ends.low is None else f" [{ends.low:+.3f}, {ends.high:+.3f}]")
