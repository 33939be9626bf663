"""Nulls, intervals and the Bayesian model of cosine distances."""

from biasgauge.stats.credible import Credible, hpdi
from biasgauge.uncertainty.bands import BandShare, WithinBand, within_band
from biasgauge.uncertainty.bayesian import bayes
from biasgauge.uncertainty.change import ChangeResult, bayes_change
from biasgauge.uncertainty.comparison import Comparison, Loo, ModelRank, compare, loo
from biasgauge.uncertainty.diagnostics import Diagnostics
from biasgauge.uncertainty.distances_csv import distances_from_frame, read_distances
from biasgauge.uncertainty.estimates import Change, Contrast, Estimate
from biasgauge.uncertainty.model import VARIANTS, Exponential, HalfNormal, Normal, Priors, prior_named
from biasgauge.uncertainty.nulls.model import NullModel
from biasgauge.uncertainty.nulls.result import NullSimulation
from biasgauge.uncertainty.nulls.simulation import simulate_null
from biasgauge.uncertainty.planning import AttributePlan, Spreads, plan_attributes
from biasgauge.uncertainty.posterior import Posterior
from biasgauge.uncertainty.predictive import PredictiveCheck
from biasgauge.uncertainty.sensitivity import PriorSensitivity, PriorShift, prior_sensitivity
from biasgauge.uncertainty.table import CONNECTIONS, DistanceTable, distance_table
from biasgauge.uncertainty.vector_distances import compared_words, distances

__all__ = [
    "CONNECTIONS",
    "VARIANTS",
    "AttributePlan",
    "BandShare",
    "Change",
    "ChangeResult",
    "Comparison",
    "Contrast",
    "Credible",
    "Diagnostics",
    "DistanceTable",
    "Estimate",
    "Exponential",
    "HalfNormal",
    "Loo",
    "ModelRank",
    "Normal",
    "NullModel",
    "NullSimulation",
    "Posterior",
    "PredictiveCheck",
    "PriorSensitivity",
    "PriorShift",
    "Priors",
    "Spreads",
    "WithinBand",
    "bayes",
    "bayes_change",
    "compare",
    "compared_words",
    "distance_table",
    "distances",
    "distances_from_frame",
    "hpdi",
    "loo",
    "plan_attributes",
    "prior_named",
    "prior_sensitivity",
    "read_distances",
    "simulate_null",
    "within_band",
]
