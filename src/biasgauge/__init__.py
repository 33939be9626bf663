"""Measure social bias in word embeddings, and how far each measurement can be trusted.

    import biasgauge as bg

    vectors = bg.load("vectors.bin")
    bg.audit(vectors).save("report.html")

Every public name is imported when it is first used, so that `import biasgauge` costs nothing.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from biasgauge._version import __version__

if TYPE_CHECKING:
    from biasgauge.audit import AuditResult, audit
    from biasgauge.corpora import (
        TokenCorpus,
        bootstrap_documents,
        open_corpus,
        planted_corpus,
        read_corpus,
        statistics,
        vocabulary,
    )
    from biasgauge.embeddings import (
        Coverage,
        Embedding,
        Lookup,
        Notice,
        Subwords,
        align,
        analogy_accuracy,
        load,
        load_default,
        load_default_replicates,
        load_subwords,
        mean_embedding,
        save,
        similarity_benchmark,
        similarity_names,
        stability,
    )
    from biasgauge.errors import (
        BiasgaugeError,
        EmbeddingFormatError,
        InputError,
        InternalError,
        LexiconError,
        ParameterError,
    )
    from biasgauge.lexicons import Lexicon, lexicon, lexicon_names, seed_bank
    from biasgauge.measures import Measure, measure, measure_names
    from biasgauge.reliability import (
        DecisionStudy,
        Estimate,
        Estimates,
        FactorSource,
        FactorsResult,
        MixedFit,
        ReliabilityResult,
        VarianceComponents,
        WordFeatures,
        cohen_kappa,
        cronbach_alpha,
        decision_study,
        factor_table,
        factors,
        fit_mixed,
        fleiss_kappa,
        icc,
        icc_table,
        krippendorff_alpha,
        omega,
        reliability,
        variance_components,
        word_features,
    )
    from biasgauge.report import (
        figures,
        save_figures,
    )
    from biasgauge.robustness import (
        Flips,
        RobustnessResult,
        analogies,
        analogy_report,
        flips,
        generate_pairs,
        robustness,
        similarity_explained,
    )
    from biasgauge.scores import (
        Association,
        DirectBias,
        Resampling,
        ScoreStore,
        ScoreTensor,
        Weat,
        association,
        direct_bias,
        indirect_bias,
        mac,
        mac_change,
        neighbour_overlap,
        score,
        score_to_store,
        weat,
    )
    from biasgauge.training import Recipe, TrainedModels, train, training_plan
    from biasgauge.uncertainty import (
        AttributePlan,
        DistanceTable,
        NullSimulation,
        Posterior,
        Priors,
        Spreads,
        WithinBand,
        bayes,
        bayes_change,
        distances,
        hpdi,
        plan_attributes,
        prior_sensitivity,
        read_distances,
        simulate_null,
        within_band,
    )

__all__ = [
    "Association",
    "AttributePlan",
    "AuditResult",
    "BiasgaugeError",
    "Coverage",
    "DecisionStudy",
    "DirectBias",
    "DistanceTable",
    "Embedding",
    "EmbeddingFormatError",
    "Estimate",
    "Estimates",
    "FactorSource",
    "FactorsResult",
    "Flips",
    "InputError",
    "InternalError",
    "Lexicon",
    "LexiconError",
    "Lookup",
    "Measure",
    "MixedFit",
    "Notice",
    "NullSimulation",
    "ParameterError",
    "Posterior",
    "Priors",
    "Recipe",
    "ReliabilityResult",
    "Resampling",
    "RobustnessResult",
    "ScoreStore",
    "ScoreTensor",
    "Spreads",
    "Subwords",
    "TokenCorpus",
    "TrainedModels",
    "VarianceComponents",
    "Weat",
    "WithinBand",
    "WordFeatures",
    "__version__",
    "align",
    "analogies",
    "analogy_accuracy",
    "analogy_report",
    "association",
    "audit",
    "bayes",
    "bayes_change",
    "bootstrap_documents",
    "cohen_kappa",
    "cronbach_alpha",
    "decision_study",
    "direct_bias",
    "distances",
    "factor_table",
    "factors",
    "figures",
    "fit_mixed",
    "fleiss_kappa",
    "flips",
    "generate_pairs",
    "hpdi",
    "icc",
    "icc_table",
    "indirect_bias",
    "krippendorff_alpha",
    "lexicon",
    "lexicon_names",
    "load",
    "load_default",
    "load_default_replicates",
    "load_subwords",
    "mac",
    "mac_change",
    "mean_embedding",
    "measure",
    "measure_names",
    "neighbour_overlap",
    "omega",
    "open_corpus",
    "plan_attributes",
    "planted_corpus",
    "prior_sensitivity",
    "read_corpus",
    "read_distances",
    "reliability",
    "robustness",
    "save",
    "save_figures",
    "score",
    "score_to_store",
    "seed_bank",
    "similarity_benchmark",
    "similarity_explained",
    "similarity_names",
    "simulate_null",
    "stability",
    "statistics",
    "train",
    "training_plan",
    "variance_components",
    "vocabulary",
    "weat",
    "within_band",
    "word_features",
]

_ROOMS = {
    "biasgauge.audit": ("AuditResult", "audit"),
    "biasgauge.corpora": (
        "TokenCorpus",
        "bootstrap_documents",
        "open_corpus",
        "planted_corpus",
        "read_corpus",
        "statistics",
        "vocabulary",
    ),
    "biasgauge.embeddings": (
        "Coverage",
        "Embedding",
        "Lookup",
        "Notice",
        "Subwords",
        "align",
        "analogy_accuracy",
        "load",
        "load_default",
        "load_default_replicates",
        "load_subwords",
        "mean_embedding",
        "save",
        "similarity_benchmark",
        "similarity_names",
        "stability",
    ),
    "biasgauge.errors": (
        "BiasgaugeError",
        "EmbeddingFormatError",
        "InputError",
        "InternalError",
        "LexiconError",
        "ParameterError",
    ),
    "biasgauge.lexicons": ("Lexicon", "lexicon", "lexicon_names", "seed_bank"),
    "biasgauge.measures": ("Measure", "measure", "measure_names"),
    "biasgauge.reliability": (
        "DecisionStudy",
        "Estimate",
        "Estimates",
        "FactorSource",
        "FactorsResult",
        "MixedFit",
        "ReliabilityResult",
        "VarianceComponents",
        "WordFeatures",
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
        "word_features",
    ),
    "biasgauge.report": (
        "figures",
        "save_figures",
    ),
    "biasgauge.robustness": (
        "Flips",
        "RobustnessResult",
        "analogies",
        "analogy_report",
        "flips",
        "generate_pairs",
        "robustness",
        "similarity_explained",
    ),
    "biasgauge.scores": (
        "Association",
        "DirectBias",
        "Resampling",
        "ScoreStore",
        "ScoreTensor",
        "Weat",
        "association",
        "direct_bias",
        "indirect_bias",
        "mac",
        "mac_change",
        "neighbour_overlap",
        "score",
        "score_to_store",
        "weat",
    ),
    "biasgauge.training": ("Recipe", "TrainedModels", "train", "training_plan"),
    "biasgauge.uncertainty": (
        "AttributePlan",
        "DistanceTable",
        "NullSimulation",
        "Posterior",
        "Priors",
        "Spreads",
        "WithinBand",
        "bayes",
        "bayes_change",
        "distances",
        "hpdi",
        "plan_attributes",
        "prior_sensitivity",
        "read_distances",
        "simulate_null",
        "within_band",
    ),
}
_HOMES = {name: room for room, names in _ROOMS.items() for name in names}


class _Package(ModuleType):
    """Keeps `bg.audit` the function: importing the room of the same name would otherwise put the room there."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in _HOMES):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'biasgauge' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
