"""Association tests: how sets of words lean towards each other. Arrays in, frozen results out.

`TESTS` holds every test by its name. A test is one module of this room with a `TEST`; there is no list to edit.
"""

from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from biasgauge.association.ect import ect
from biasgauge.association.intervals import Interval, Resampling
from biasgauge.association.mac import mac, mac_change, mac_from_similarities, mac_of_sets
from biasgauge.association.nas import nas
from biasgauge.association.permutation import permutation_p
from biasgauge.association.result import AssociationResult
from biasgauge.association.rnd import rnd
from biasgauge.association.rnsb import rnsb, rnsb_of_words
from biasgauge.association.same import same
from biasgauge.association.semaxis import semaxis
from biasgauge.association.set_ripa import set_ripa
from biasgauge.association.set_test import SetTest
from biasgauge.association.weat import associations, effect_size, weat, weat_from_similarities


def _found() -> dict[str, SetTest]:
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    tests = [module.TEST for module in modules if hasattr(module, "TEST")]
    return {test.name: test for test in sorted(tests, key=lambda test: test.name)}


TESTS = MappingProxyType(_found())

__all__ = [
    "TESTS",
    "AssociationResult",
    "Interval",
    "Resampling",
    "SetTest",
    "associations",
    "ect",
    "effect_size",
    "mac",
    "mac_change",
    "mac_from_similarities",
    "mac_of_sets",
    "nas",
    "permutation_p",
    "rnd",
    "rnsb",
    "rnsb_of_words",
    "same",
    "semaxis",
    "set_ripa",
    "weat",
    "weat_from_similarities",
]
