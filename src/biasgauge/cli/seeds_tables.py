"""Tables and sentences of `biasgauge seeds`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.cli.screen import print_table, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from biasgauge.lexicons import SeedBank, SeedSet
    from biasgauge.seeds import FitnessCard, SeedChoice, SeedsResult
    from biasgauge.seeds.intervals import Measured

FEW = 3
"""Up to so many pairs are shown as whole cards, more as a table."""
INFLUENCES = 3


def show(found: SeedsResult, screen: Console) -> None:
    """A card for each of a few pairs of sets, a table of many; what holds over all; generated sets."""
    for warning in found.warnings:
        screen.print(f"note: {warning}", markup=False)
    if len(found) <= FEW:
        for card in found:
            _card(card, screen)
    else:
        _table(found, screen)
    _relations(found, screen)
    if found.cloud is not None:
        about = found.cloud.to_dict()["coherence"]
        if about is not None:
            screen.print(
                f"{len(found.cloud.sets)} generated sets, {len(found.cloud.pairs):,} pairs: coherence "
                f"{about['p05']:.2f} to {about['p95']:.2f} (5 to 95 %), median {about['median']:.2f}",
                markup=False,
            )


def _card(card: FitnessCard, screen: Console) -> None:
    screen.print(f"{card.a} and {card.b}: {card.verdict}", style="bold", markup=False, soft_wrap=True)
    seeds = f"{card.coverage.found} of {card.coverage.asked} seeds found, in {card.models} of {card.of_models} models"
    screen.print(f"  {seeds}", markup=False)
    pairing = card.pairing
    rows = [
        ("coherence", *_numbers(card.coherence)),
        ("coherence, held out", *_numbers(card.held_out)),
        ("coherence, as published", *_numbers(card.coherence_published)),
        ("similarity", *_numbers(card.similarity)),
        (f"first component of {pairing.pairs} pairs", *_numbers(pairing.first, pairing.reason)),
        ("held-out pairs in order", *_numbers(pairing.accuracy, pairing.reason)),
    ]
    if pairing.shuffled_first is not None and pairing.random is not None:
        low, high = pairing.shuffled_first
        many = f"[{low:.3f}, {high:.3f}] over {pairing.shuffles} shuffles, p = {pairing.p_value:.3f}"
        at_random = f"[{pairing.random[1]:.3f}, {pairing.random[2]:.3f}] over random words"
        rows.insert(5, ("  shuffled pairs", f"{pairing.shuffled[0]:.3f}", many))
        rows.insert(6, ("  random pairs", f"{pairing.random[0]:.3f}", at_random))
    print_table(screen, ("", "value", "interval"), rows)
    moving = [one for one in card.influence if one.change is not None][:INFLUENCES]
    if moving:
        named = ", ".join(f"{one.word} {one.change:+.3f}" for one in moving)
        screen.print(f"  without a seed, coherence changes most for: {named}", markup=False, soft_wrap=True)
    for one in card.advice:
        screen.print(f"  - {one.sentence}", markup=False, soft_wrap=True)
    screen.print()


def _numbers(one: Measured, why: str | None = None) -> tuple[str, str]:
    if one.value is None:
        return "–", f"undefined: {one.reason or why}"
    if one.interval is None or one.interval.low is None or one.interval.high is None:
        reason = None if one.interval is None else one.interval.reason
        return f"{one.value:.3f}", f"none: {reason}"
    ends = f"[{one.interval.low:.3f}, {one.interval.high:.3f}]"
    return f"{one.value:.3f}", f"{ends} {one.interval.level:.0%}, {one.interval.method}"


def _table(found: SeedsResult, screen: Console) -> None:
    rows = [
        (
            card.verdict,
            *(_short(one) for one in (card.coherence, card.held_out, card.similarity, card.pairing.first)),
            f"{card.pairing.shuffled[0]:.2f}" if card.pairing.shuffled else "–",
            _sets(card),
        )
        for card in found
    ]
    print_table(screen, ("verdict", "coherence", "held out", "similar", "PC1", "shuffled", "sets"), rows)
    screen.print()


def _sets(card: FitnessCard) -> str:
    a, b, paper = card.short_names
    return f"{a} | {b} ({paper})" if paper else f"{a} | {b}"


def _short(one: Measured) -> str:
    return "–" if one.value is None else f"{one.value:.2f}"


def _relations(found: SeedsResult, screen: Console) -> None:
    defined = [one for one in found.relations if one.rho is not None and one.x == "similarity"]
    if defined:
        rows = [(one.of, one.x, one.y, f"{one.rho:.2f}", f"[{one.low:.2f}, {one.high:.2f}]", one.n) for one in defined]
        print_table(screen, ("sets", "of", "with", "Spearman", "95 %", "pairs"), rows)
        screen.print()


def show_choice(found: SeedChoice, screen: Console) -> None:
    """The measurement under every list, and what the choice does to it."""
    screen.print(f"cosine of {found.category} lists with {found.target}", markup=False)
    rows = [
        (
            "–" if one.value is None else f"{one.value:.3f}",
            f"undefined: {one.reason}" if one.low is None else f"[{one.low:.3f}, {one.high:.3f}]",
            f"{one.found}/{one.asked}",
            one.set,
        )
        for one in found.lists
    ]
    print_table(screen, ("value", "interval", "seeds", "list"), rows)
    screen.print()
    if found.spread is None or found.range is None:
        return
    low, high = found.range
    screen.print(f"from {low:.3f} to {high:.3f}; standard deviation over lists {found.spread:.3f}", markup=False)
    if found.replicate_spread is not None and found.list_share is not None:
        screen.print(
            f"over models {found.replicate_spread:.3f}: the list makes {found.list_share:.0%} of the variance",
            markup=False,
        )
    if found.sign_changes:
        screen.print("lists disagree about the sign", markup=False)


def show_bank(bank: SeedBank, found: Sequence[SeedSet], screen: Console, *, words: bool) -> None:
    """The sets that were found, and how they were sourced."""
    rows = [
        (len(one.words), ", ".join(one.sourcing), one.id, shorten(one.words) if words else one.short_paper)
        for one in found
    ]
    print_table(screen, ("seeds", "sourcing", "set", "seeds" if words else "paper"), rows)
    pairings = sum(all(part in {one.id for one in found} for part in pair) for pair in bank.pairings)
    screen.print(f"\n{len(found)} sets, {pairings} pairings among them")
