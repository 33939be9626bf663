"""`mitigate_to_file`: vectors in, changed vectors in a file out, and what that did."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biasgauge.embeddings import Coverage, load, load_default, save
from biasgauge.inputs import VectorsLike
from biasgauge.mitigation.effects.analysis import mitigation_effect
from biasgauge.mitigation.effects.result import MitigationEffect, changed_words
from biasgauge.mitigation.mitigation import Direction, Norms, mitigation_method
from biasgauge.results import Result, Summary

_FEW = 8


@dataclass(frozen=True, eq=False, repr=False)
class Mitigated(Result):
    """Vectors that were changed and written.

    Attributes:
        path: where they are.
        changed: how many words have another vector.
        words: how many words there are.
        method: which method.
        coverage: words that the method asked for; None where it asks for none.
        effect: what that did; None where it was not asked for.
        name: of the changed vectors.
        settings: everything that decides the change.
        warnings: what to know first.
    """

    path: str
    changed: int
    words: int
    method: str
    coverage: Coverage | None
    effect: MitigationEffect | None
    name: str
    settings: Mapping[str, Any]
    warnings: tuple[str, ...]

    def summary(self) -> Summary:
        """How many words changed, and before beside after."""
        headline = f"{self.name}: {self.changed:,} of {self.words:,} words changed"
        parts = () if self.effect is None else (self.effect.summary(),)
        return Summary(self.name, headline, warnings=self.warnings, parts=parts)


def mitigate_to_file(
    vectors: VectorsLike | None = None,
    *,
    out: str | os.PathLike[str],
    method: str = "hard",
    direction: Direction = "debias",
    strength: float = 1.0,
    norms: Norms = "kept",
    effect: bool = False,
    compare: Sequence[str] = ("weat6b", "weat7", "gender"),
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
    **settings: Any,  # noqa: ANN401 - those of the method
) -> Mitigated:
    """Debias vectors, or overbias them, into a new file, and say what that did.

    Args:
        vectors: an `Embedding` or anything `load` takes; those that ship with the package when None.
        out: where to write; the ending says how: .safetensors, .bin, .txt or .vec, also .gz.
        method: hard, double_hard, half_sibling, ran, multiclass_hard, multiclass_soft or attract_repel.
        direction: "overbias" makes the same change the other way.
        strength: 0 changes nothing, 1 is the whole method; overbias may go further.
        norms: "kept": every vector has its old length; "unit": length 1.
        effect: compare before and after.
        compare: tests and stereotypes to compare.
        random_state: seed of the method, where it has one, and of the comparison.
        progress: called with (done, total), anew for reading, changing and comparing.
        settings: of the method, such as `lexicon`, `equalize`, `specific`, `components`, `epochs`, `as_published`.

    Raises:
        ParameterError: a method or a setting is unknown or cannot be used.
    """
    common = {"direction": direction, "strength": strength, "norms": norms}
    seeded = {"random_state": random_state} if "random_state" in mitigation_method(method).get_params() else {}
    chosen = mitigation_method(method, **common, **settings, **seeded)
    before = load_default() if vectors is None else load(vectors, progress=progress)
    after = chosen.fit(before).transform(before, progress=progress)
    path = save(after, out)
    found = None
    if effect:
        found = mitigation_effect(before, after, compare, random_state=random_state, progress=progress)
    warnings = [notice.message for notice in before.notices]
    if chosen.emptied_:
        more = f" … and {len(chosen.emptied_) - _FEW:,} more" if len(chosen.emptied_) > _FEW else ""
        named = ", ".join(chosen.emptied_[:_FEW])
        warnings.append(f"nothing is left of these words, whose vectors are now zero: {named}{more}")
    return Mitigated(
        path=str(path),
        changed=changed_words(before, after),
        words=len(after),
        method=method,
        coverage=chosen.coverage_,
        effect=found,
        name=after.name,
        settings={"method": method, **common, **settings, "model_checksum": before.checksum},
        warnings=tuple(warnings),
    )
