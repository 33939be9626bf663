"""What Dobrzeniecka & Urbaniak 2023 print, number by number."""

from __future__ import annotations

from biasgauge.papers.row import Row

KINDS = ("associated", "different", "human", "neutral")
"""Connections, in the order of the tables below; the released files call the last "none"."""
ENDS = ("mean", "low", "high")

FILES = {
    **{f"gender_{model}": f"gender_group_{model}_dataset" for model in ("google", "glove", "reddit")},
    **{f"religion_{model}": f"religion_group_{model}_dataset" for model in ("google", "glove", "reddit")},
    "race_reddit": "race_group_reddit_dataset",
    **{f"weat_7_{model}": f"weat_7_{model}" for model in ("google", "glove", "reddit")},
    **{f"debiased_{name}_reddit": f"debiased_{name}_reddit" for name in ("gender", "religion", "race")},
}
"""Our name of each set of distances, and the released file without its ending."""

EXAMPLE = (
    Row("example.weat", "WEAT of the example", "§2, Figure 1", 1.93, tolerance=0.005,
        note="the paper divides .85 by a standard deviation rounded to .44"),
)  # fmt: skip

LISTS = (
    Row("lists.religion.protected", "protected words of religion", "Table 1", 15, tolerance=0),
    Row("lists.religion.attributes", "attributes of religion", "Table 1", 11, tolerance=0),
    Row("lists.religion.sets", "sets of attributes of religion", "Table 1", 3, tolerance=0),
    Row("lists.human", "human control words", "Appendix 1.4.2", 85, tolerance=0),
    Row("lists.neutral", "neutral control words", "Appendix 1.4.2", 226, tolerance=0),
)

_LABEL = "the labels in the figure are typed in; statistic and WEAT are proportional, so their p must be the same"
_CUT = "printed digits are cut off, not rounded"
NULL_EXAMPLE = (
    Row("null.statistic", "statistic of the null data set", "§3.2, Figure 8", 0.39, tolerance=0.005),
    Row("null.weat", "WEAT of the null data set", "§3.2, Figure 8", 1.27, tolerance=0.005),
    Row("null.statistic.p", "two-sided p of the statistic", "Figure 8", 0.011, tolerance=0.0005, note=_LABEL),
    Row("null.weat.p", "two-sided p of WEAT", "Figure 8", 0.0086, tolerance=0.00005, note=_LABEL),
    Row("null.weat.p.one_sided", "one-sided p of statistic and WEAT", "data of Figure 8",
        note="all splits, the observed one too; without it .0047"),
    Row("null.a.p", "p of the t test on distances to A", "§3.2", 0.02, tolerance=0.005),
    Row("null.a.low", "lower end of the difference, A", "§3.2", 0.0052, tolerance=0.00005, note=_CUT),
    Row("null.a.high", "upper end of the difference, A", "§3.2", 0.061, tolerance=0.0005),
    Row("null.b.p", "p of the t test on distances to B", "§3.2", 0.22, tolerance=0.005, note=_CUT),
    Row("null.b.low", "lower end of the difference, B", "§3.2", -0.03, tolerance=0.005, note=_CUT),
    Row("null.b.high", "upper end of the difference, B", "§3.2", 0.009, tolerance=0.0005, note=_CUT),
    Row("null.a.times", "p of the t test on A, in p of WEAT", "§3.2", "more than ten times", between=(10.0, 1e9),
        note="both ps are in this table: it is about twice"),
)  # fmt: skip

NULL_SIMULATION = (
    Row("simulation.weat", "share of null data sets with |WEAT| of 1.27 or more", "§3.2, Figure 10", 0.38,
        tolerance=0.005,
        note="the script hands eight numbers to R's mean() as eight arguments, of which it uses the first; averaged as "
        "WEAT is defined, so large a WEAT is as rare as its p says, and the argument of the section falls"),
    Row("simulation.weat.sample_sd", "the same with the sample standard deviation", "§3.2"),
    Row("simulation.statistic", "share with a |statistic| of .386 or more", "Figure 10", 0.01, tolerance=0.005),
    Row("simulation.statistic.one_sided", "share with a statistic of .386 or more", "Figure 10"),
)  # fmt: skip

TABLE_1 = (*(
    Row(f"table1.{word}.{attribute}", f"distance of {word} and {attribute}", "Table 1", distance, tolerance=0.005,
        note="the released distance is .7087, which would print as .71" if word == "church" else "")
    for word, attribute, distance in (
        ("rabbi", "greedy", 1.03), ("church", "familial", 0.70), ("synagogue", "liberal", 0.79),
        ("jew", "familial", 0.98), ("quran", "dirty", 1.12), ("muslim", "uneducated", 0.52),
        ("torah", "terrorist", 0.93), ("quran", "hairy", 1.18), ("synagogue", "violent", 0.95),
        ("bible", "cheap", 1.22), ("christianity", "greedy", 0.97), ("muslim", "hairy", 0.88),
        ("islam", "critical", 0.79), ("muslim", "conservative", 0.45), ("mosque", "greedy", 1.15),
    )
),
    Row("table1.rows", "rows of stereotypes in the religion data", "Table 1", 165, tolerance=0),
    Row("data.weat_7_google.lost", "share of the rows of WEAT 7 that lack a word, Google", "§5.1",
        "mostly not available", between=(0.5, 1.0),
        note="WEAT 7 is complete for Google and GloVe; it is WEAT 1 on Reddit that loses 38 %"),
    Row("data.weat_7_glove.lost", "the same, GloVe", "§5.1", "mostly not available", between=(0.5, 1.0),
        note="one word is lost, and it is the misspelled control word literaly"),
    *(
        Row(f"data.{name}.lost", f"rows that lack a word, {name.replace('_', ', ')}", "released data",
            note="one for each protected word: the misspelled control word literaly")
        for name in ("gender_glove", "religion_glove")
    ),
)  # fmt: skip

_JUDGEMENTAL = "the released distances have critical where the printed list has judgemental"
_SHARED = (
    "the t test takes (word, set) pairs for independent although they share words; see the posterior for the change"
)
MACS = ("religion_google", "religion_glove", "gender_google", "gender_glove", "gender_reddit", "debiased_gender_reddit",
        "debiased_race_reddit")  # fmt: skip
"""Sets whose MAC the paper does not print."""
TABLE_2 = (
    Row("table2.religion.mac", "MAC of religion, Reddit", "Table 2", 0.859, tolerance=0.0005, note=_JUDGEMENTAL),
    Row("table2.religion.hard.mac", "MAC of religion, hard debiased", "Table 2", 0.934, tolerance=0.0005,
        note=_JUDGEMENTAL),
    Row("table2.religion.hard.p", "p of the change", "Table 2", 3.006e-07, tolerance=5e-11,
        note=f"{_JUDGEMENTAL}; {_SHARED}"),
    Row("table2.religion.hard.t", "t of the change", "Table 2", note=_SHARED),
    Row("table2.religion.soft.mac", "MAC of religion, soft debiased", "Table 2", 0.894,
        note="the Reddit vectors and their soft-debiased form were not released"),
    Row("table2.religion.soft.p", "p of the change", "Table 2", 0.007, note="as above"),
    Row("table2.gender.hard.p", "p of the change of gender, hard debiased", "released data", note=_SHARED),
    Row("table2.race.hard.p", "p of the change of race, hard debiased", "released data", note=_SHARED),
    Row("bands.religion", "1 − MAC of religion, Reddit", "§3.1, Figure 3", 0.14, tolerance=0.005),
    Row("bands.gender", "1 − MAC of gender, Reddit", "Figure 4", 0.38, tolerance=0.005),
    Row("bands.race", "1 − MAC of race, Reddit", "Figure 5", 0.11, tolerance=0.005,
        note="on the six words that Manzini et al. evaluate"),
    *(
        Row(f"mac.{name}", f"MAC of {name.replace('_', ', ')}", "released data")
        for name in MACS
    ),
    *(
        Row(f"weat7.{model}{end}", f"WEAT 7 of the released distances, {model}{how}", "released data")
        for model in ("google", "glove", "reddit")
        for end, how in (("", ""), (".sample_sd", ", by the sample standard deviation"))
    ),
)  # fmt: skip

POSTERIORS = {
    "gender_google": ((0.7842, 0.7450, 0.8236), (0.8431, 0.8171, 0.8693), (0.9052, 0.8977, 0.9125),
                      (0.9315, 0.9263, 0.9367)),
    "gender_glove": ((0.7718, 0.7464, 0.7981), (0.8358, 0.8111, 0.8608), (0.8257, 0.7995, 0.8517),
                     (0.9842, 0.9769, 0.9915)),
    "gender_reddit": ((0.6211, 0.5649, 0.6786), (0.6349, 0.5837, 0.6875), (0.8975, 0.8712, 0.9243),
                      (0.9576, 0.9454, 0.9701)),
    "religion_google": ((0.8627, 0.8311, 0.8942), (0.8908, 0.8707, 0.9112), (0.9415, 0.9339, 0.9492),
                        (0.9248, 0.9173, 0.9322)),
    "religion_glove": ((0.8956, 0.8577, 0.9337), (0.9424, 0.9214, 0.9633), (0.9187, 0.9022, 0.9353),
                       (0.9901, 0.9842, 0.9959)),
    "religion_reddit": ((0.8317, 0.7612, 0.9017), (0.8853, 0.8400, 0.9309), (0.9071, 0.8820, 0.9328),
                        (0.9544, 0.9380, 0.9708)),
    "debiased_religion_reddit": ((0.9334, 0.8718, 0.9949), (0.9316, 0.8793, 0.9842), (0.9298, 0.9040, 0.9557),
                                 (0.9583, 0.9446, 0.9719)),
    "weat_7_google": ((0.9260, 0.9007, 0.9511), (0.9401, 0.9212, 0.9591), (0.9397, 0.9318, 0.9477),
                      (0.9318, 0.9260, 0.9377)),
    "weat_7_glove": ((0.8811, 0.8314, 0.9309), (0.8958, 0.8486, 0.9426), (0.9136, 0.8816, 0.9456),
                     (0.9756, 0.9697, 0.9815)),
    "weat_7_reddit": ((0.9515, 0.8982, 1.0049), (0.9550, 0.9019, 1.0078), (0.9220, 0.9022, 0.9420),
                      (0.8995, 0.8850, 0.9139)),
}  # fmt: skip
"""Mean, 5.5 % and 94.5 % of each connection, read off the vector figures (precision about .0003)."""

_WITHIN = {"mean": 0.003, "low": 0.006, "high": 0.006}
"""Sampling error of two posteriors and the precision of the figures."""
GROUPS = tuple(
    Row(
        f"posterior.{name}.{kind}.{end}", f"{end} of the mean distance, {kind}, {name.replace('_', ' ')}",
        "Figures 13, 14 and Appendix", value, tolerance=_WITHIN[end],
        note="captions say HPDI, drawn are percentiles; corrected: HPDI, and attributes shared by all protected words",
    )
    for name, kinds in POSTERIORS.items()
    for kind, numbers in zip(KINDS, kinds, strict=True)
    for end, value in zip(ENDS, numbers, strict=True)
)  # fmt: skip

WORDS = tuple(
    row
    for name in POSTERIORS
    for row in (
        Row(
            f"words.{name}.mean", f"mean deviation of the words' coordinates, {name.replace('_', ' ')}",
            "Figures 13, 14 and Appendix",
            note="over words and connections, the worst of mean and ends, against the figures' coordinates",
        ),
        Row(
            f"words.{name}.largest", f"largest deviation of the words' coordinates, {name.replace('_', ' ')}",
            "Figures 13, 14 and Appendix",
            note="religion on Reddit is unexplained" if name == "religion_reddit" else "",
        ),
    )
)  # fmt: skip

_SIMULATED = {89: 0.5 + 2 * 0.24, 50: 0.5 + 2 * 0.44}
"""Half a unit of print, and twice the standard deviation of the difference of two simulations, theirs and ours: 1,000
normal draws for each of 4,700 rows, so that an interval's ends move from run to run. A test derives the .24 and .44."""
_PER_ROW = "1,000 distances simulated for each row, as published; corrected: attributes shared by all protected words"
COVERAGE = (*(
    Row(f"coverage.{name}.{level}", f"distances within the {level} % interval, {name.replace('_', ' ')}, in %",
        "posterior predictive figures", share, tolerance=_SIMULATED[level], note=_PER_ROW)
    for name, shares in {
        "religion_google": (91, 55), "religion_glove": (90, 52), "religion_reddit": (89, 49),
        "gender_reddit": (89, 50), "gender_google": (91, 51), "gender_glove": (89, 52),
    }.items()
    for level, share in zip((89, 50), shares, strict=True)
), *(
    Row(f"coverage.caption.{level}", f"distances within the {level} % interval, religion reddit, in %",
        "caption of Figure 12", share, tolerance=_SIMULATED[level], note="the figure itself says 89 and 49")
    for level, share in ((89, 90), (50, 55))
))  # fmt: skip

_SWAPPED = "labels before debiasing come from earlier control words, labels after it from the printed ones"
BANDS = {"religion": 0.14, "gender": 0.38, "race": 0.11}
_BEFORE = {"religion": (36, 44, 55, 56), "gender": (47, 53, 87, 96), "race": (33, 39, 67, 46)}
_AFTER = {"religion": (64, 64, 59, 59), "gender": (51, 51, 92, 96), "race": (38, 36, 55, 48)}
_TEXT = {
    "band.religion.before.associated": "the text says 35",
    "band.religion.before.different": "the text says 43",
    "band.religion.after.associated": "the text says 63",
    "band.religion.after.different": "the text says 63",
}
WITHIN_BAND = tuple(
    Row(
        f"band.{name}.{side}.{kind}", f"{kind} words within ±{BANDS[name]} of {name}, {side} debiasing, in %",
        f"Figure {figure}", share, tolerance=0.5,
        note=_TEXT.get(f"band.{name}.{side}.{kind}", _SWAPPED if kind in {"human", "neutral"} else ""),
    )
    for side, shares, first in (("before", _BEFORE, 3), ("after", _AFTER, 15))
    for figure, name in enumerate(BANDS, first)
    for kind, share in zip(KINDS, shares[name], strict=True)
)  # fmt: skip
