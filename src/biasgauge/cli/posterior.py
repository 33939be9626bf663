"""`biasgauge posterior`: the contrast of a test or of stereotypes as one crossed hierarchical model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from biasgauge import analyses
from biasgauge import vectors as embeddings
from biasgauge.cli.command import SAVE, UNDEFINED, AutoCaseFallback, MinCoverage, Outcome, ResultOptions, command
from biasgauge.cli.option_groups import Rare
from biasgauge.cli.screen import progress
from biasgauge.cli.typed_values import typed_names
from biasgauge.core import WordPolicy
from biasgauge.errors import ParameterError

EXAMPLES = """\
Positive as the question claims; 0 means no association. The interval
generalizes over target words and attributes, and with several replicates over
training runs. Where the vectors come with word frequencies, the contrast at
equal frequency is given too. Priors are further settings, as in
--set 'priors.effects=exponential(10)'.

Examples:
  biasgauge posterior vectors.bin --lexicon weat7
  biasgauge posterior vectors.bin --lexicon weat7 --smallest 0.03 --json
  biasgauge posterior run1.bin run2.bin run3.bin --lexicon religion
  biasgauge posterior vectors.bin --lexicon religion --set between=associated,human
  biasgauge posterior --distances religion_reddit.csv.gz
"""


@command(examples=EXAMPLES, terms="contrast replicate HPDI ROPE", settings={"priors": str, "between": typed_names})
def posterior(
    vectors: Sequence[Path] = (),
    /,
    *,
    lexicon: str | None = None,
    distances: Path | None = None,
    smallest: float | None = None,
    interval: Rare[Literal["hpdi", "percentile"]] = "hpdi",
    prob: float = 0.89,
    draws: Rare[int] = 4000,
    min_coverage: MinCoverage = 0.8,
    case_fallback: AutoCaseFallback = None,
    options: ResultOptions = SAVE,
    **further: Any,
) -> Outcome:
    """Estimate the contrast of a test: posterior with its interval and probabilities.

    Args:
        vectors: vector files: one model, or replicates of it
        lexicon: a lexicon of kind "test" or "stereotypes", or your own TOML file
        distances: a file of cosine distances instead of vectors, as Dobrzeniecka & Urbaniak published them
        smallest: the smallest contrast that matters: how probable is less?
        interval: "hpdi", the narrowest, or "percentile"
        prob: probability inside the interval
        draws: how many draws
    """
    if bool(vectors) == (distances is not None):
        raise ParameterError("Name vector files and --lexicon, or --distances FILE; one of them, not both.")
    source: Any
    if distances is not None:
        source = analyses.posterior.read_distances(distances)
    else:
        if lexicon is None:
            raise ParameterError("--lexicon is missing: which question to ask, as in --lexicon weat7")
        with progress(options, "reading vectors") as report:
            models = [embeddings.load(path, progress=report) for path in vectors]
        source = models if len(models) > 1 else models[0]
    if "between" in further:
        further["between"] = tuple(further["between"])
    result = analyses.posterior.posterior(
        source,
        lexicon,
        smallest=smallest,
        interval=interval,
        prob=prob,
        draws=draws,
        policy=WordPolicy.from_options(min_coverage, case_fallback),
        random_state=options.seed,
        **further,
    )
    value = None if isinstance(result, embeddings.ByModel) else result.contrast.value
    return Outcome(result, settings=result.settings, exit_code=UNDEFINED if value is None else 0)
