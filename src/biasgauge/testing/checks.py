"""`PropertyError`, and what the checks of measures, association tests and audit parts share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from biasgauge.core import Floats

SEEDS = range(20)


class PropertyError(AssertionError):
    """A declared property is false, or a requirement of everything that is registered is not met; one sentence.

    Attributes:
        property: name of the property.
        declared: its declared value; None where the property is a requirement.
        observed: description of what was observed instead.
    """

    def __init__(self, claim: str, name: str, declared: object, observed: str) -> None:
        super().__init__(f"{claim}, but {observed}.")
        self.property, self.declared, self.observed = name, declared, observed


@dataclass
class Checks:
    """Checks of one subject; `changed` collects the properties under which some number has changed."""

    subject: str
    seed: int = field(default=0, kw_only=True)
    changed: set[str] = field(default_factory=set, kw_only=True)

    def fail(self, name: str, declared: object, observed: str) -> NoReturn:
        """Raise for a declared property that is false."""
        raise PropertyError(f"The {self.subject} declares {name} = {declared!r}", name, declared, observed)

    def fail_requirement(self, name: str, rule: str, observed: str) -> NoReturn:
        """Raise for a `rule`, such as "leave its inputs as they are", that holds for everything of this kind."""
        raise PropertyError(f"The {self.subject} must {rule}", name, None, observed)

    @contextmanager
    def no_exception(self, name: str, rule: str, case: str = "") -> Iterator[None]:
        """Turn an exception of the subject's own code into a `PropertyError`."""
        try:
            yield
        except PropertyError:
            raise
        except Exception as error:  # whatever a third party's function does
            sentence = str(error).rstrip(".")
            observed = f"it raises {type(error).__name__}{f' ({sentence})' if sentence else ''}{case}"
            raise PropertyError(f"The {self.subject} must {rule}", name, None, observed) from error

    def texts(self, **texts: object) -> None:
        """Check that each is a text that is not empty."""
        for name, text in texts.items():
            if not isinstance(text, str) or not text.strip():
                self.fail(name, text, "it must be a text that is not empty")


def random_rotation(vectors: Floats, seed: int) -> Floats:
    """Draw an orthogonal matrix for vectors: the Q of a QR decomposition of a Gaussian matrix."""
    dimensions = vectors.shape[1]
    rotation: Floats = np.linalg.qr(np.random.default_rng(seed + 1).normal(size=(dimensions, dimensions)))[0]
    return rotation
