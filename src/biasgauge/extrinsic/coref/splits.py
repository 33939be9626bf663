"""Documents to train on, to choose the epoch by, and to test on, where a corpus does not say which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge.extrinsic.coref.document import Document

EVERY = 10
"""One document in so many is held out, for each purpose."""


def held_out(
    documents: list[Document], dev: list[Document] | None = None, test: list[Document] | None = None
) -> tuple[list[Document], list[Document], list[Document]]:
    """Training, dev and test documents: those given, else every tenth by name, and the fifth after each of them.

    Names begin with the genre or the kind of text in the corpora that need this, so that each is held out alike.

    Raises:
        ParameterError: there are too few documents to hold any out.
    """
    order = sorted(documents, key=lambda one: (one.name, one.part))
    wanted = {0: dev, EVERY // 2: test}
    found = {
        place: [one for at, one in enumerate(order) if at % EVERY == place] if given is None else given
        for place, given in wanted.items()
    }
    taken = {place for place, given in wanted.items() if given is None}
    train = [one for at, one in enumerate(order) if at % EVERY not in taken]
    if not train or not all(found.values()):
        raise ParameterError(
            f"To hold out dev and test documents there must be more than {EVERY // 2}. Got {len(documents)}; "
            "name dev and test documents."
        )
    return train, found[0], found[EVERY // 2]
