"""Do measurements of bias agree with themselves: over replicates, over measures, over words and pairs?"""

from biasgauge.reliability.agreement import cohen_kappa, fleiss_kappa
from biasgauge.reliability.bands import BANDS, SOURCES, band, verdict
from biasgauge.reliability.components import VarianceComponents, variance_components
from biasgauge.reliability.consistency import cronbach_alpha, omega
from biasgauge.reliability.decision import decision_study
from biasgauge.reliability.decision_result import DecisionStudy
from biasgauge.reliability.estimate import Estimate, Estimates
from biasgauge.reliability.factors import factors
from biasgauge.reliability.factors_result import FactorsResult
from biasgauge.reliability.factors_table import FactorSource, factor_table
from biasgauge.reliability.features import WordFeatures, word_features
from biasgauge.reliability.icc import FORMS, Icc, Iccs, icc, icc_table
from biasgauge.reliability.krippendorff import krippendorff_alpha
from biasgauge.reliability.mixed_model import MixedFit, fit_mixed
from biasgauge.reliability.reliability import reliability
from biasgauge.reliability.result import ReliabilityResult
from biasgauge.reliability.rows import Rows

__all__ = [
    "BANDS",
    "FORMS",
    "SOURCES",
    "DecisionStudy",
    "Estimate",
    "Estimates",
    "FactorSource",
    "FactorsResult",
    "Icc",
    "Iccs",
    "MixedFit",
    "ReliabilityResult",
    "Rows",
    "VarianceComponents",
    "WordFeatures",
    "band",
    "cohen_kappa",
    "cronbach_alpha",
    "decision_study",
    "factor_table",
    "factors",
    "fit_mixed",
    "fleiss_kappa",
    "icc",
    "icc_table",
    "krippendorff_alpha",
    "omega",
    "reliability",
    "variance_components",
    "verdict",
    "word_features",
]
