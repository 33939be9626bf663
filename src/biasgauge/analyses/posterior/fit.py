"""A table and a variant to draws: which sampler does it, and whether its draws can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from biasgauge.analyses.posterior.crossed_sampler import BlockDraws, blocks_of, sample_block
from biasgauge.analyses.posterior.diagnostics import Diagnostics, diagnose
from biasgauge.analyses.posterior.draws import AttributeDraws, Draws, no_draws
from biasgauge.analyses.posterior.exact_sampler import sample_cells
from biasgauge.analyses.posterior.model import VARIANTS, Priors
from biasgauge.analyses.posterior.table import CONNECTIONS, NO_SPREAD, DistanceTable, cell_places, cells_of
from biasgauge.core import Floats, check_choice, check_whole
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge.analyses.posterior.nuts import CustomModel

Sampler = Literal["auto", "exact", "integrated", "nuts"]
CHAINS = 4
_OWN = {"per-connection": "exact", "single-sigma": "exact", "intercept": "exact", "crossed": "integrated"}
"""Which sampler of ours draws which variant; the others need NUTS."""


class Fit(NamedTuple):
    """Draws, whether to trust them, who made them, what has none; `simulated` by a user's own model: draws × rows."""

    draws: Draws
    diagnostics: Diagnostics
    sampler: str
    undefined: dict[str, str]
    simulated: Floats | None = None


def fit(
    table: DistanceTable,
    variant: str | CustomModel,
    priors: Priors,
    *,
    draws: int = 4_000,
    sampler: Sampler = "auto",
    random_state: int = 0,
    stream: int = 0,
) -> Fit:
    """Draw from the posterior of a variant.

    `draws` are rounded up to a multiple of the four chains. Samplers are "exact" (independent draws; Normal variants),
    "integrated" (the crossed variant) and "nuts" (all); "auto" takes the fastest that there is. Fits with the same seed
    and different streams are independent.

    Raises:
        ParameterError: an argument cannot be used.
        InputError: NUTS is needed and its libraries are not installed.
    """
    check_whole(1, draws=draws)
    check_whole(0, random_state=random_state)
    per_chain = -(-draws // CHAINS)
    undefined, chosen = dict(table.undefined), "nuts"
    if isinstance(variant, str):
        check_choice(VARIANTS, variant=variant)
        chosen = _sampler(variant, sampler)
        undefined |= _without_spread(table, variant, priors)
    usable = table.select(~table.rows_of(undefined), relabel=False)
    if not len(usable):
        nothing = Diagnostics(None, "", None, "", problems=("no connection could be fitted",))
        return Fit(no_draws(CHAINS * per_chain, CHAINS), nothing, chosen, undefined)
    seeds = [random_state, stream]
    seed = int(np.random.SeedSequence(seeds).generate_state(1)[0] >> 1)  # nutpie takes one number
    about: dict[str, Any] = {}
    simulated = None
    if chosen == "nuts":
        from biasgauge.analyses.posterior.nuts import sample_custom, sample_nuts

        how = {"chains": CHAINS, "draws": per_chain, "seed": seed}
        if isinstance(variant, str):
            made, about["divergences"] = sample_nuts(usable, variant, priors, **how)
        else:
            made, about["divergences"], simulated = sample_custom(usable, variant, **how)
    elif chosen == "integrated":
        made, about = _crossed(usable, priors, per_chain, seeds)
    else:
        made, about = _exact(usable, str(variant), priors, CHAINS * per_chain, seeds)
    named = {name: made.by_chain(values.reshape(len(values), -1)) for name, values in made.parameters().items()}
    return Fit(made, diagnose(named, **about), chosen, undefined, simulated)


def _sampler(variant: str, asked: str) -> str:
    check_choice(get_args(Sampler), sampler=asked)
    own = _OWN.get(variant, "nuts")
    if asked == "auto":
        return own
    if asked not in {own, "nuts"}:
        known = " or ".join(repr(name) for name in dict.fromkeys((own, "nuts")))
        raise ParameterError(f"The variant {variant!r} is sampled by {known}. Got {asked!r}.")
    return asked


def _without_spread(table: DistanceTable, variant: str, priors: Priors) -> dict[str, str]:
    """Connections whose likelihood has no maximum: there is no posterior."""
    if variant == "crossed":
        return {name: NO_SPREAD for block in blocks_of(table, priors) if block.degenerate for name in block.connections}
    cells = cells_of(table)
    flat = {cell.connection: NO_SPREAD for cell in cells if cell.degenerate}
    if variant in {"single-sigma", "intercept"}:  # sigma is learned from all of them together
        return flat if len(flat) == len(cells) else {}
    return flat


def _exact(
    table: DistanceTable, variant: str, priors: Priors, size: int, seeds: Sequence[int]
) -> tuple[Draws, dict[str, Any]]:
    cells = cells_of(table)
    if variant == "per-connection":
        streams = [np.random.default_rng([*seeds, CONNECTIONS.index(cell.connection)]) for cell in cells]
        parts = [sample_cells([cell], priors, size, random) for cell, random in zip(cells, streams, strict=True)]
    else:
        together = np.random.default_rng([*seeds, len(CONNECTIONS)])
        parts = [sample_cells(cells, priors, size, together, baseline=variant == "intercept")]
    group, word, between, residual = zip(*(drawn for part in parts for drawn in part.connections), strict=True)
    about = {"acceptance": min(part.acceptance for part in parts), "edge": max(part.edge for part in parts)}
    draws = Draws(
        chains=CHAINS,
        **cell_places(cells),
        group=np.stack(group, axis=1),
        word=np.concatenate(word, axis=1),
        between=np.stack(between, axis=1),
        residual=np.stack(residual, axis=1),
        baseline=parts[0].baseline,
    )
    return draws, about


def _crossed(
    table: DistanceTable, priors: Priors, per_chain: int, seeds: Sequence[int]
) -> tuple[Draws, dict[str, Any]]:
    parts = []
    for block in blocks_of(table, priors):
        random = np.random.default_rng([*seeds, CONNECTIONS.index(block.connections[0])])
        parts.append(sample_block(block, CHAINS, per_chain, random))
    draws = replace(
        joined_blocks(parts),
        attributes=AttributeDraws(
            blocks=tuple(part.block.connections for part in parts),
            block=np.concatenate([np.full(len(part.block.attributes), at) for at, part in enumerate(parts)]),
            attribute=np.concatenate([part.block.attributes for part in parts]),
            effect=np.concatenate([part.effects.attributes for part in parts], axis=1),
            sd=np.stack([part.sds[:, -1] for part in parts], axis=1),
        ),
    )
    return draws, {"acceptance": min(part.acceptance for part in parts)}


def joined_blocks(parts: Sequence[BlockDraws]) -> Draws:
    """Groups and words of blocks that were sampled apart, as draws of one model."""
    widths = [len(part.block.connections) for part in parts]
    places = [(part, index) for part in parts for index in range(len(part.block.connections))]
    words = [part.block.words_of(index) for part, index in places]
    return Draws(
        chains=CHAINS,
        connections=tuple(name for part in parts for name in part.block.connections),
        group=np.concatenate([part.effects.groups for part in parts], axis=1),
        cell_connection=np.concatenate([np.full(len(own), at) for at, own in enumerate(words)]),
        cell_word=np.concatenate(words),
        word=np.concatenate([part.effects.words[index] for part, index in places], axis=1),
        between=np.concatenate([part.sds[:, n : 2 * n] for part, n in zip(parts, widths, strict=True)], axis=1),
        residual=np.concatenate([part.sds[:, :n] for part, n in zip(parts, widths, strict=True)], axis=1),
    )
