"""`Draws`: a sample of the posterior, the same shape whichever sampler made it; `fit` chooses the sampler."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from biasgauge.analyses.posterior.crossed import CrossedModel, blocks_with_rows
from biasgauge.analyses.posterior.estimates import Diagnostics, diagnose
from biasgauge.analyses.posterior.integrated import CHAINS, IntegratedDraws, sample_integrated
from biasgauge.analyses.posterior.priors import VARIANTS, Priors
from biasgauge.analyses.posterior.table import CONNECTIONS, NO_SPREAD, DistanceTable, cell_labels, cells_of
from biasgauge.core import Floats, Places, check_choice, check_whole
from biasgauge.errors import InputError, ParameterError

if TYPE_CHECKING:
    from biasgauge.analyses.posterior.nuts import CustomModel

Sampler = Literal["auto", "exact", "integrated", "nuts"]
_FASTEST = {"per-connection": "exact", "single-sigma": "exact", "intercept": "exact", "crossed": "integrated"}
"""The sampler of each variant; the others need NUTS."""


@dataclass(frozen=True, eq=False)
class AttributeDraws:
    """Effects of attributes in the crossed model.

    Attributes:
        blocks: the connections of each block: those that share attributes.
        block: of each effect, the index of its block.
        attribute: of each effect, the index of its attribute in the table's `attributes`.
        effect: draws × effects; 0 means as far away as an average attribute of the block.
        sd: draws × blocks, standard deviation of the effects.
    """

    blocks: tuple[tuple[str, ...], ...]
    block: Places
    attribute: Places
    effect: Floats
    sd: Floats


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws, one chain after the other. Cells are the (connection, word) that have distances, in this order.

    Attributes:
        chains: number of chains; each has the same number of draws.
        connections: the connections sampled, in the order of `CONNECTIONS`.
        group: draws × connections, mean distance.
        cell_connection: of each cell, the index of its connection in `connections`.
        cell_word: of each cell, the index of its word in the table's `words`.
        word: draws × cells, mean distance of a word.
        between: draws × connections, standard deviation of word means (tau).
        residual: draws × connections, standard deviation (Student: scale) of distances around their mean (sigma).
        baseline: draws, what all distances share; only in the variant "intercept".
        freedom: draws × connections, degrees of freedom; only in the variant "student".
        attributes: effects of attributes; only in the variant "crossed".
    """

    chains: int
    connections: tuple[str, ...]
    group: Floats
    cell_connection: Places
    cell_word: Places
    word: Floats
    between: Floats
    residual: Floats
    baseline: Floats | None = None
    freedom: Floats | None = None
    attributes: AttributeDraws | None = None

    def __len__(self) -> int:
        return len(self.group)

    def by_chain(self, values: Floats) -> Floats:
        """Reshape draws × … to chains × draws × …."""
        return values.reshape(self.chains, len(values) // self.chains, *values.shape[1:])

    def only(self, connections: Sequence[str]) -> Draws:
        """Groups and words of some of the connections."""
        columns = [self.connections.index(name) for name in connections]
        cells = np.isin(self.cell_connection, columns)
        return replace(
            self,
            connections=tuple(connections),
            group=self.group[:, columns],
            cell_connection=np.searchsorted(columns, self.cell_connection[cells]),
            cell_word=self.cell_word[cells],
            word=self.word[:, cells],
        )

    def parameters(self) -> dict[str, Floats]:
        """Every sampled quantity by name, draws first; for diagnostics and export."""
        names = ("group", "word", "between", "residual", "baseline", "freedom")
        sampled: dict[str, Floats | None] = {name: getattr(self, name) for name in names}
        if self.attributes is not None:
            sampled |= {"attribute": self.attributes.effect, "attribute_sd": self.attributes.sd}
        # a user's model may lack some
        return {name: values for name, values in sampled.items() if values is not None and values.size}

    def diagnose(self, **facts: Any) -> Diagnostics:  # noqa: ANN401 - those of `diagnose`
        """Convergence of every parameter."""
        sampled = self.parameters().items()
        return diagnose({name: self.by_chain(values.reshape(len(values), -1)) for name, values in sampled}, **facts)

    def labels(self, words: Sequence[str]) -> list[tuple[str, str | None]]:
        """(connection, None) of each group, then (connection, word) of each cell; without words, the groups alone."""
        cells = zip(self.cell_connection, self.cell_word, strict=True) if words else ()
        return [
            *((name, None) for name in self.connections),
            *((self.connections[connection], words[word]) for connection, word in cells),
        ]

    def rows(self, table: DistanceTable) -> SampledRows:
        """Indices of the parameters of each row; rows of connections that were not sampled are left out."""
        codes = np.array([CONNECTIONS.index(name) for name in self.connections], np.intp)
        row = np.flatnonzero(np.isin(table.connection, codes))
        connection = np.searchsorted(codes, table.connection[row])
        # cells and effects are sorted, so one integer for each pair of labels finds them
        words = len(table.words)
        cell = np.searchsorted(self.cell_connection * words + self.cell_word, connection * words + table.word[row])
        effect = None
        if self.attributes is not None:
            blocks, size = self.attributes.blocks, len(table.attributes)
            block = np.array([index for index, names in enumerate(blocks) for _ in names], np.intp)[connection]
            listed = self.attributes.block * size + self.attributes.attribute
            effect = np.searchsorted(listed, block * size + table.attribute[row])
        return SampledRows(row, connection, cell, effect)


class SampledRows(NamedTuple):
    """For each row that was sampled: its index in the table, its connection, its cell, its attribute's effect."""

    row: Places
    connection: Places
    cell: Places
    effect: Places | None

    def mean(self, draws: Draws, rows: slice, subset: Places | slice = slice(None)) -> Floats:
        """Rows × draws: the mean of the distance in a subset of the draws, for some of the rows."""
        mean = draws.word[subset].T[self.cell[rows]]
        if self.effect is not None and draws.attributes is not None:
            mean = mean + draws.attributes.effect[subset].T[self.effect[rows]]
        return mean

    def expected(self, draws: Draws) -> Floats:
        """Posterior mean of the mean distance of every row."""
        mean: Floats = draws.word.mean(axis=0)[self.cell]
        if self.effect is not None and draws.attributes is not None:
            mean = mean + draws.attributes.effect.mean(axis=0)[self.effect]
        return mean


def no_draws(size: int = 0, chains: int = 1) -> Draws:
    """Draws of no parameters."""
    empty, no_indices = np.empty((size, 0)), np.empty(0, np.intp)
    return Draws(chains, (), empty, no_indices, no_indices, empty, empty, empty)


def inference_data(draws: Draws, table: DistanceTable) -> Any:  # noqa: ANN401 - InferenceData, or DataTree in newer versions
    """Draws with named coordinates, and the observed distances, for ArviZ.

    Raises:
        InputError: ArviZ is not installed.
    """
    cells = [f"{connection}: {word}" for connection, word in draws.labels(table.words) if word is not None]
    coords: dict[str, Any] = {"connection": list(draws.connections), "cell": cells, "row": np.arange(len(table))}
    dims = {name: ["connection"] for name in ("group", "between", "residual", "freedom")}
    dims |= {"word": ["cell"], "distance": ["row"]}
    if draws.attributes is not None:
        blocks = ["+".join(names) for names in draws.attributes.blocks]
        effects = zip(draws.attributes.block, draws.attributes.attribute, strict=True)
        coords["block"] = blocks
        coords["effect"] = [f"{blocks[block]}: {table.attributes[attribute]}" for block, attribute in effects]
        dims |= {"attribute": ["effect"], "attribute_sd": ["block"]}
    sampled = {name: draws.by_chain(values) for name, values in draws.parameters().items()}
    dims = {name: names for name, names in dims.items() if name in sampled or name == "distance"}
    groups: dict[str, Any] = {"posterior": sampled, "observed_data": {"distance": table.distance}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # notices of ArviZ about its own future
        try:
            import arviz
        except ImportError as problem:
            raise InputError('InferenceData needs ArviZ: pip install "biasgauge[bayes]"') from problem
        if hasattr(arviz, "InferenceData"):
            return arviz.from_dict(**groups, coords=coords, dims=dims)
        return arviz.from_dict(groups, coords=coords, dims=dims)


class FittedDraws(NamedTuple):
    """Draws, their diagnostics and sampler, connections without any; `simulated` by a user's model: draws × rows."""

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
) -> FittedDraws:
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
        chosen = _choose_sampler(variant, sampler)
        undefined |= _without_spread(table, variant, priors)
    usable = table.select(~table.rows_of(undefined), relabel=False)
    if not len(usable):
        nothing = Diagnostics(None, "", None, "", problems=("no connection could be fitted",))
        return FittedDraws(no_draws(CHAINS * per_chain, CHAINS), nothing, chosen, undefined)
    seeds = [random_state, stream]
    facts: dict[str, Any] = {}
    simulated = None
    if chosen == "nuts":
        from biasgauge.analyses.posterior.nuts import sample_custom, sample_nuts

        seed = int(np.random.SeedSequence(seeds).generate_state(1)[0] >> 1)  # nutpie takes one number
        size = {"chains": CHAINS, "draws": per_chain, "seed": seed}
        if isinstance(variant, str):
            sample, facts["divergences"] = sample_nuts(usable, variant, priors, **size)
        else:
            sample, facts["divergences"], simulated = sample_custom(usable, variant, **size)
    elif chosen == "integrated":
        sample, blocks = crossed_draws(usable, priors, per_chain, seeds)
        facts["acceptance"] = min(block.acceptance for block in blocks)
    else:
        sample, facts = _exact_draws(usable, str(variant), priors, CHAINS * per_chain, seeds)
    return FittedDraws(sample, sample.diagnose(**facts), chosen, undefined, simulated)


def _choose_sampler(variant: str, requested: str) -> str:
    check_choice(get_args(Sampler), sampler=requested)
    fastest = _FASTEST.get(variant, "nuts")
    if requested == "auto":
        return fastest
    if requested not in {fastest, "nuts"}:
        names = " or ".join(repr(name) for name in dict.fromkeys((fastest, "nuts")))
        raise ParameterError(f"The variant {variant!r} is sampled by {names}. Got {requested!r}.")
    return requested


def _without_spread(table: DistanceTable, variant: str, priors: Priors) -> dict[str, str]:
    """Connections whose likelihood has no maximum: there is no posterior."""
    if variant == "crossed":
        models = [CrossedModel(table, names, priors) for names in blocks_with_rows(table)]
        return {name: NO_SPREAD for model in models if model.degenerate for name in model.connections}
    cells = cells_of(table)
    flat = {cell.connection: NO_SPREAD for cell in cells if cell.degenerate}
    if variant in {"single-sigma", "intercept"}:  # sigma is learned from all of them together
        return flat if len(flat) == len(cells) else {}
    return flat


def _exact_draws(
    table: DistanceTable, variant: str, priors: Priors, size: int, seeds: Sequence[int]
) -> tuple[Draws, dict[str, Any]]:
    from biasgauge.analyses.posterior.exact import sample_cells

    cells = cells_of(table)
    if variant == "per-connection":
        streams = [np.random.default_rng([*seeds, CONNECTIONS.index(cell.connection)]) for cell in cells]
        fits = [sample_cells([cell], priors, size, random) for cell, random in zip(cells, streams, strict=True)]
    else:
        random = np.random.default_rng([*seeds, len(CONNECTIONS)])
        fits = [sample_cells(cells, priors, size, random, baseline=variant == "intercept")]
    group, word, between, residual = zip(*(drawn for fit in fits for drawn in fit.connections), strict=True)
    draws = Draws(
        chains=CHAINS,
        **cell_labels(cells),
        group=np.stack(group, axis=1),
        word=np.concatenate(word, axis=1),
        between=np.stack(between, axis=1),
        residual=np.stack(residual, axis=1),
        baseline=fits[0].baseline,
    )
    return draws, {"acceptance": min(fit.acceptance for fit in fits), "edge": max(fit.edge for fit in fits)}


def crossed_draws(
    table: DistanceTable, priors: Priors, per_chain: int, seeds: Sequence[int]
) -> tuple[Draws, list[IntegratedDraws]]:
    """Draws of the crossed model, and of each of its blocks."""
    models = [CrossedModel(table, names, priors) for names in blocks_with_rows(table)]
    blocks = []
    for model in models:
        random = np.random.default_rng([*seeds, CONNECTIONS.index(model.connections[0])])
        blocks.append(sample_integrated(model, CHAINS, per_chain, random))
    widths = [len(model.connections) for model in models]
    starts = np.cumsum([0, *widths[:-1]])
    attributes = AttributeDraws(
        blocks=tuple(model.connections for model in models),
        block=np.repeat(np.arange(len(models)), [len(model.attributes) for model in models]),
        attribute=np.concatenate([model.attributes for model in models]),
        effect=np.concatenate([block.effects.attributes for block in blocks], axis=1),
        sd=np.stack([block.sds[:, 2 * width] for block, width in zip(blocks, widths, strict=True)], axis=1),
    )
    draws = Draws(
        chains=CHAINS,
        connections=tuple(name for model in models for name in model.connections),
        group=np.concatenate([block.effects.means for block in blocks], axis=1),
        cell_connection=np.concatenate([start + m.cells[:, 0] for start, m in zip(starts, models, strict=True)]),
        cell_word=np.concatenate([model.cells[:, 1] for model in models]),
        word=np.concatenate([block.effects.words for block in blocks], axis=1),
        between=np.concatenate([block.sds[:, n : 2 * n] for block, n in zip(blocks, widths, strict=True)], axis=1),
        residual=np.concatenate([block.sds[:, :n] for block, n in zip(blocks, widths, strict=True)], axis=1),
        attributes=attributes,
    )
    return draws, blocks
