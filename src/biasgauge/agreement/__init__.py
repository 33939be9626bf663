"""Do measurements of bias agree with themselves: over replicates, over measures, over words and pairs?"""

from biasgauge.agreement.analysis import reliability
from biasgauge.agreement.bands import BANDS, SOURCES, band, verdict
from biasgauge.agreement.components.analysis import VarianceComponents, variance_components
from biasgauge.agreement.decision.result import DecisionStudy
from biasgauge.agreement.decision.study import decision_study
from biasgauge.agreement.features.words import WordFeatures, word_features
from biasgauge.agreement.regression.analysis import factors
from biasgauge.agreement.regression.result import FactorsResult
from biasgauge.agreement.regression.table import FactorSource, factor_table
from biasgauge.agreement.result import ReliabilityResult
from biasgauge.agreement.rows import Rows
from biasgauge.stats.estimate import Estimate, Estimates
from biasgauge.stats.intraclass import FORMS, Icc, Iccs, icc, icc_table
from biasgauge.stats.kappas import cohen_kappa, fleiss_kappa
from biasgauge.stats.krippendorff import krippendorff_alpha
from biasgauge.stats.mixed_models.model import MixedFit, fit_mixed
from biasgauge.stats.scale_consistency import cronbach_alpha, omega

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
