"""What Du, Fang & Nguyen 2021 print, number by number."""

from __future__ import annotations

from collections.abc import Mapping

from biasgauge.papers.row import Row

CORPORA = ("wikitext103", "askscience", "askhistorians")
COMBINATIONS = tuple(f"{algorithm}-{corpus}" for algorithm in ("sgns", "glove") for corpus in CORPORA)
"""Folders of replicates, by algorithm and corpus."""
STANDS_FOR = "sgns-wikitext103"
"""What replicates of another name are set beside: the models of the paper's figure 2."""
MEASURES = ("dbwa", "ripa", "nbm")

_QUERIES = ("career", "family", "arts", "arts_2", "math", "science")
LISTS = (
    Row("lists.pairs", "gender base pairs", "§5.1, Appendix A.1", 23, tolerance=0),
    Row("lists.occ16", "occupations of Bolukbasi et al.", "§5.1, Appendix A.2", 320, tolerance=0),
    Row("lists.occ18", "occupations of Garg et al.", "§5.1, Appendix A.2", 76, tolerance=0),
    Row("lists.adj", "adjectives", "§5.1, Appendix A.2", 230, tolerance=0),
    Row("lists.google10k", "most frequent words", "§5.1", 10_000, tolerance=0),
    Row("lists.queries", "queries", "§5.1, Appendix A.3", 6, tolerance=0),
    *(Row(f"lists.queries.{name}", f"words of the query {name}", "Appendix A.3", 8, tolerance=0) for name in _QUERIES),
)

_SHROUT = "Equations 1–3; the table is that of Shrout & Fleiss 1979"
_TEXTBOOK = "Du et al. print no worked example; Shrout & Fleiss print {}, to two decimals"
ESTIMATORS = (
    Row("estimators.ms_rows", "mean square of rows", _SHROUT, note=_TEXTBOOK.format("11.24")),
    Row("estimators.ms_columns", "mean square of columns", _SHROUT, note=_TEXTBOOK.format("32.49")),
    Row("estimators.ms_error", "mean square of error", _SHROUT, note=_TEXTBOOK.format("1.02")),
    Row("estimators.icc21", "ICC(2,1)", _SHROUT,
        note=_TEXTBOOK.format(".29") + "; Equation 1 prints k/t; of a matrix of base pairs it is k/g, as in the "
        "released code"),
    Row("estimators.icc31", "ICC(3,1)", _SHROUT, note=_TEXTBOOK.format(".71")),
    Row("estimators.alpha", "Cronbach's alpha", _SHROUT, note=_TEXTBOOK.format(".91 for ICC(3,4), which it equals")),
)  # fmt: skip

_EYE = "the paper shows box plots only: read by eye"
_TEST_RETEST = {"occ16": (0.95, 0.95, 0.96), "full": (0.84, 0.83, 0.90)}
_INTER_RATER = {"glove": (0.24, 0.21, 0.40), "sgns": (0.17, 0.16, 0.13)}
_UNSAID = "the paper does not say on which models"
RELIABILITY = (
    *(
        Row(f"test_retest.{STANDS_FOR}.{words}.{measure}", f"median test-retest reliability, {words}, {measure}",
            "Figure 2a", median, tolerance=0.02, needs="replicates", note=_EYE)
        for words, medians in _TEST_RETEST.items()
        for measure, median in zip(MEASURES, medians, strict=True)
    ),
    Row(f"below.{STANDS_FOR}.google10k", "words below .5, Google10K, in %", "§5.2", 0.01, tolerance=0.005,
        needs="replicates", note="over the three measures"),
    Row(f"below.{STANDS_FOR}.full", "words below .5, whole vocabulary, in %", "§5.2", 0.1, tolerance=0.05,
        needs="replicates", note="over the three measures"),
    *(
        Row(f"inter_rater.{algorithm}-{corpus}.full", f"median inter-rater reliability of words, {algorithm}, {corpus}",
            "Figures 3a and 16", median, tolerance=0.02, needs="replicates",
            note=f"{_EYE}; scores are not brought to one scale, so it measures mostly that NBM spreads widest")
        for algorithm, medians in _INTER_RATER.items()
        for corpus, median in zip(CORPORA, medians, strict=True)
    ),
    *(
        Row(f"alpha.pairs.{corpus}", f"median alpha of the base pairs, {corpus}", "Figure 4", median, tolerance=0.02,
            needs="replicates", note=_EYE)
        for corpus, median in zip(CORPORA, (0.92, 0.75, 0.92), strict=True)
    ),
    Row("pearson.dbwa.ripa", "r of DB/WA and RIPA over words", "§5.3", 0.923, needs="replicates", note=_UNSAID),
    Row("pearson.dbwa.nbm", "r of DB/WA and NBM over words", "§5.3", 0.897, needs="replicates", note=_UNSAID),
    Row("pearson.ripa.nbm", "r of RIPA and NBM over words", "§5.3", 0.836, needs="replicates", note=_UNSAID),
    Row("forms.test_retest.t", "t(7), singular less plural pairs, test-retest", "§5.5", 2.45, needs="replicates",
        note="over all algorithms and corpora in the paper"),
    Row("forms.inter_rater.t", "t(7), singular less plural pairs, inter-rater", "§5.5", -0.13, needs="replicates",
        note="over all algorithms and corpora in the paper"),
    Row("forms.r", "r of test-retest and inter-rater reliability over pairs", "§5.5", 0.644, needs="replicates",
        note="over all algorithms and corpora in the paper"),
)  # fmt: skip

_FACTORS = {
    "ripa": (-0.0102, None), "nbm": (-0.0001, None), "log_frequency": (0.0062, 0.0241),
    "log_frequency_squared": (0.0023, 0.0008), "log_senses": (-0.0012, -0.0007), "pos_adp": (-0.0096, -0.0195),
    "pos_adv": (-0.0004, -0.0118), "pos_conj": (-0.0010, -0.0446), "pos_det": (-0.0212, -0.0246),
    "pos_noun": (0.0085, 0.0057), "pos_num": (-0.0025, -0.0886), "pos_pron": (-0.0039, -0.0012),
    "pos_prt": (0.0037, -0.0125), "pos_verb": (0.0001, -0.0056), "pos_x": (-0.0031, -0.0205),
    "nn_similarity": (-0.0024, 0.0011), "norm": (-0.0118, -0.0051), "stability": (0.0457, 0.0186),
}  # fmt: skip
_DROPS = {
    "measure": (0.0040, None), "log_frequency": (0.0275, 0.0), "log_frequency_squared": (0.0051, 0.0),
    "log_senses": (0.0002, 0.0), "pos": (0.0093, 0.0022), "nn_similarity": (0.0120, 0.0038),
    "norm": (0.0456, 0.0), "stability": (0.1020, 0.0),
}  # fmt: skip
_R2 = {
    "fixed": (0.3261197, 0.05813408), "corpus": (0.01134641, 0.027122), "algorithm": (0.1801865, 0.4307108),
    "total": (0.5176527, 0.5159669),
}  # fmt: skip
_EMPTY = {"corpus": (0.2446187, 0.07211365), "algorithm": (0.1442214, 0.3814074), "residual": (0.003848, 0.0075220)}
_UNRELEASED = "the scores behind the regression were not released; `biasgauge factors` fits the same model to yours"
_ZEROS = "; exact zeros beside coefficients that are none look like negative changes printed as 0"


def _both(start: str, what: str, where: str, numbers: Mapping[str, tuple[float, float | None]], note: str) -> list[Row]:
    return [
        Row(f"regression.{kind}.{start}.{name}", f"{what} {name.replace('_', ' ')}, {kind.replace('_', '-')}", where,
            value, note=note)
        for name, pair in numbers.items()
        for kind, value in zip(("test_retest", "inter_rater"), pair, strict=True)
        if value is not None
    ]  # fmt: skip


REGRESSION = (
    *_both("estimate", "estimate of", "Tables 2 and 3", _FACTORS, _UNRELEASED),
    *_both("drop", "loss of R² without", "Tables 2 and 3", _DROPS, f"{_UNRELEASED}{_ZEROS}"),
    *_both("r2", "R² of", "Table 2, released script", _R2, _UNRELEASED),
    *_both("empty", "R² or residual variance without predictors,", "released script", _EMPTY, _UNRELEASED),
    Row("regression.words", "words with all features", "released script", 31_236, note=_UNRELEASED),
    Row("corpus.full", "words of the three vocabularies", "released code", 187_886, note="the corpora are not at hand"),
    Row("corpus.askscience", "million tokens of r/AskScience", "§5.1", 158, note="the corpora are not at hand"),
    Row("corpus.askhistorians", "million tokens of r/AskHistorians", "§5.1", 137, note="the corpora are not at hand"),
    Row("corpus.wikitext103", "million tokens of WikiText-103", "§5.1", 527,
        note="the corpora are not at hand; WikiText-103 is published as having 103 million"),
)  # fmt: skip
