"""Debias and overbias: vectors after training, text before it; and what that did."""

from biasgauge.mitigation.attract_repel import Descent
from biasgauge.mitigation.balancing.corpus import balance
from biasgauge.mitigation.balancing.result import BalanceResult, LineClass
from biasgauge.mitigation.effects.analysis import mitigation_effect
from biasgauge.mitigation.effects.result import MitigationEffect, changed_words
from biasgauge.mitigation.expansion import Expansion, expand_lexicon
from biasgauge.mitigation.methods.attract_repel import AttractRepel
from biasgauge.mitigation.methods.double_hard import DoubleHard
from biasgauge.mitigation.methods.half_sibling import HalfSibling
from biasgauge.mitigation.methods.hard import HardDebias
from biasgauge.mitigation.methods.multiclass_hard import MulticlassHard
from biasgauge.mitigation.methods.multiclass_soft import MulticlassSoft
from biasgauge.mitigation.methods.ran import Ran
from biasgauge.mitigation.mitigation import Mitigation, mitigate, mitigation_method
from biasgauge.mitigation.recovery import Recovery
from biasgauge.mitigation.to_file import Mitigated, mitigate_to_file

__all__ = [
    "AttractRepel",
    "BalanceResult",
    "Descent",
    "DoubleHard",
    "Expansion",
    "HalfSibling",
    "HardDebias",
    "LineClass",
    "Mitigated",
    "Mitigation",
    "MitigationEffect",
    "MulticlassHard",
    "MulticlassSoft",
    "Ran",
    "Recovery",
    "balance",
    "changed_words",
    "expand_lexicon",
    "mitigate",
    "mitigate_to_file",
    "mitigation_effect",
    "mitigation_method",
]
