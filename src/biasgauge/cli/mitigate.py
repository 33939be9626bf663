"""`biasgauge mitigate`: debias or overbias vectors, and measure what that did."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from biasgauge import mitigation
from biasgauge import vectors as embeddings
from biasgauge.cli.command import WRITE, Outcome, WriteOptions, command
from biasgauge.cli.files import Output
from biasgauge.cli.option_groups import Rare
from biasgauge.cli.screen import progress
from biasgauge.cli.typed_values import NONE, typed_names, typed_words
from biasgauge.core import JsonObject
from biasgauge.errors import ParameterError
from biasgauge.vectors import encoders

EXAMPLES = """\
Methods: hard, double_hard, half_sibling, ran (along a direction of pairs),
multiclass_hard, multiclass_soft (several classes), attract_repel (the words of
a test). Each vector keeps its length unless --norms unit. Strength 0 changes
nothing, 1 is the whole method. With --effect: bias before and after, what else
moved, and whether the bias can still be recovered, which it often can. Settings
of one method alone go by --set, as in --set components=2.

Examples:
  biasgauge mitigate vectors.bin --out debiased.bin
  biasgauge mitigate vectors.bin --strength 0.5 --effect
  biasgauge mitigate vectors.bin --direction overbias --strength 2
  biasgauge mitigate vectors.bin --method attract_repel --lexicon weat6b,weat7
  biasgauge mitigate vectors.bin --method multiclass_hard --lexicon religion
  biasgauge mitigate views:minilm --out debiased   views of a transformer
  biasgauge mitigate --effect --json      the vectors that ship with the package
"""


@command(examples=EXAMPLES, open_ended=True, outputs=(Output("out"),))
def mitigate(
    vectors: Path | None = None,
    /,
    *,
    method: str = "hard",
    out: Path = Path("biasgauge-mitigated.safetensors"),
    direction: Literal["debias", "overbias"] = "debias",
    strength: float = 1.0,
    norms: Rare[Literal["kept", "unit"]] = "kept",
    lexicon: str | None = None,
    equalize: Rare[str | None] = None,
    specific: Rare[str | None] = None,
    words: str | None = None,
    as_published: Rare[bool] = False,
    effect: bool = False,
    compare: str = "weat6b,weat7,gender",
    options: WriteOptions = WRITE,
    **further: Any,
) -> Outcome:
    """Debias or overbias vectors, and measure what that did.

    Args:
        vectors: a vector file; those that ship with the package by default
        method: hard, double_hard, half_sibling, ran, multiclass_hard, multiclass_soft or attract_repel
        out: where to write; the ending says how: .safetensors, .bin, .txt or .vec, also .gz
        direction: "overbias" makes the same change the other way
        strength: 0 changes nothing, 1 is the whole method; overbias may go further
        norms: "kept": every vector has its old length; "unit": length 1
        lexicon: what the method works with: pairs, stereotypes, words, or tests separated by commas
        equalize: equality pairs of hard and double_hard; "none" for none
        specific: words that carry the bias by meaning and stay; "none" for those of the lexicon alone
        words: which words ran moves: as in score; all by default
        as_published: what the released code of the method does
        effect: compare before and after
        compare: tests and stereotypes to compare, separated by commas
    """
    # Only some methods have these: those that were not typed are not passed on, and "none" is None.
    if lexicon is not None:
        further["lexicon"] = typed_words(lexicon, lexicons=True)
    if equalize is not None:
        further["equalize"] = None if equalize == NONE else equalize
    if specific is not None:
        further["specific"] = typed_words(specific)
    if words is not None:
        further["words"] = typed_words(words)
    if as_published:
        further["as_published"] = True
    change: JsonObject = {"method": method, "direction": direction, "strength": strength, "norms": norms, **further}
    views = None if vectors is None else embeddings.several_models(vectors)
    if views is not None:
        if effect:
            raise ParameterError("--effect compares one model; of views, score those before and those after.")
        saved = encoders.save_views(mitigation.mitigate(views, **change), out.with_suffix(""))
        return Outcome(saved, written={"views": Path(saved.folder)})
    with progress(options, method) as report:
        result = mitigation.mitigate_to_file(
            vectors,
            out=out,
            effect=effect,
            compare=typed_names(compare),
            random_state=options.seed,
            progress=report,
            **change,
        )
    command = f"biasgauge audit --before {vectors} --after {result.path}"
    then = "" if effect or vectors is None else f"did it work? {command}"
    return Outcome(result, written={"vectors": Path(result.path)}, then=then)
