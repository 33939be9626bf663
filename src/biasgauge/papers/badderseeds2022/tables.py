"""What Badder Seeds (2022) printed, and the lists of seeds in its appendix.

Numbers "read off" are from its figures, which print none; those of the notebooks are from the output that was released
with the code.
"""

from __future__ import annotations

CORPORA = {
    "nyt": "New York Times",
    "wikitext": "WikiText-103",
    "romance": "Goodreads, romance",
    "history": "Goodreads, history and biography",
}

TABLE_A1 = {
    "nyt": ((8_888, 7_217_851, 109_713, 812), (8_888, 7_244_457, 162_998, 815)),
    "wikitext": ((28_472, 87_077_718, 228_318, 3_058), (28_472, 99_197_146, 546_828, 3_484)),
    "romance": ((194_500, 24_695_141, 249_114, 127), (197_000, 24_856_924, 214_572, 126)),
    "history": ((135_000, 14_168_742, 193_012, 105), (136_000, 14_324_947, 163_171, 105)),
}
"""Documents, words, vocabulary and mean length: the reproduction's, then those of the original study."""
SIZES = {
    "documents": "documents",
    "words": "words",
    "vocabulary": "different words",
    "mean_length": "words of a document in the mean",
}
REVIEWS = 500
"""Reviews of a book that were drawn, and that it must have at least."""

FEMALE, MALE = "definitional_female-Bolukbasi_et_al_2016", "definitional_male-Bolukbasi_et_al_2016"
UPPER, LOWER = "upperclass-Kozlowski_et_al_2019", "lowerclass-Kozlowski_et_al_2019"
CHINESE, HISPANIC = "names_chinese-Garg_et_al_2018", "names_hispanic-Garg_et_al_2018"
UNPLEASANT = "unpleasantness-Caliskan_et_al_2017"
LETTERS = tuple("unpleasantness")
"""What Figure 3 was measured against: a string where the code expects a list of words."""

FEMALE_SETS = {
    "female-Kozlowski_et_al_2019": 10,
    "female_1-Caliskan_et_al_2017": 8,
    FEMALE: 10,
    "female_singular-Hoyle_et_al_2019": 23,
    "female_definition_words_2-Zhao_et_al_2018": 22,
    "female_stereotype_words-Zhao_et_al_2018": 20,
}
"""The sets of Figure 3, and how many seeds the appendix prints for each."""
OTHER_SETS = {MALE: 10, UPPER: 8, LOWER: 8, CHINESE: 17, HISPANIC: 20}

SHUFFLES = {
    "gender": (
        (FEMALE, "herself woman daughter mary her girl mother she female gal"),
        (MALE, "man his he son guy himself father boy male john"),
    ),
    "class": (
        (UPPER, "richer opulent luxury affluent rich affluence richest expensive"),
        (LOWER, "poorer impoverished poorest cheap needy poverty inexpensive poor"),
    ),
    "names": (
        (CHINESE, "tang chang chu yang wu hong huang wong hu liu lin chen liang chung li ng wang"),
        (
            HISPANIC,
            (
                "ruiz rodriguez diaz perez lopez vargas alvarez garcia cruz torres gonzalez soto martinez medina "
                "rivera castillo castro mendoza sanchez gomez"
            ),
        ),
    ),
}
"""Figure 2: the sets, and the order that the appendix prints as shuffled."""
FIGURE_2 = {"gender": (0.62, 0.34, 10), "class": (0.36, 0.445, 8), "names": (0.425, 0.33, 17)}
"""Share of the first component as listed and shuffled (read off the bars), and how many pairs there are."""

SHUFFLED_FIGURE_1 = (
    "female she woman gal her daughter girl herself mother mary",
    "john man son father male himself guy he his boy",
)
RANDOM_FIGURE_1 = (
    "essential want suspension talked competitive information hero bat seconds black",
    "derby passed achieve discussed providing resulted inmates wearing bid rose",
)
FIGURE_A2 = {
    "gender": (
        "legislature .39|bill .34|assembly .33|alabama .32|chairwoman .32|labour .32|democratic .31|gov .31|senate .31|"
        "impeachment .30|lots -.44|cooking -.45||whole -.45|finding -.45|weird -.45|clothes -.45|these -.46|"
        "constantly -.47|beautiful -.49"
    ),
    "random": (
        "global .38|bonds .37|treasury .37|securities .36| .36|shareholder .35|revenue .35|bond .35|morgan .34|"
        "2017 .33|literally -.31|guns -.32| -.32|children -.32| -.32|bathroom -.32|sisters -.33| -.35| -.35| -.38"
    ),
    "shuffled": (
        "represents .58||profile .46|ranking .40|reflecting .38|historically .38|leads .37|includes .36|include .36|"
        "domestic .35|quick -.34|me -.34| -.34| -.35|clinton -.35|divorce -.35|i -.35|she -.37| -.38| -.38"
    ),
}
"""Words and cosines of Figure A.2 from top to bottom, 20 a column. In our copy of the figure some are
illegible: a cosine alone where the word is doubtful, nothing where the cosine is."""

GATHERED = {
    "career": ("career-Caliskan_et_al_2017", "family-Caliskan_et_al_2017", 0.999),
    "kinship": ("male_2-Caliskan_et_al_2017", "female_2-Caliskan_et_al_2017", 0.968),
    "terrorism": ("terrorism-Garg_et_al_2018", "occupations-Kozlowski_et_al_2019", 0.942),
    "black_white": ("names_black-Garg_et_al_2018", "names_white-Garg_et_al_2018", 0.053),
    "asian_chinese": ("names_asian-Garg_et_al_2018", "names_chinese-Garg_et_al_2018", 0.026),
}
"""Table A.2: pairs of sets that people chose, and their coherence."""
GENERATED = {"1": 1.000, "2": 1.000, "3": 0.999, "-3": 0.062, "-2": 0.059, "-1": 0.053}
"""Table A.2: the three most and the three least coherent pairs of generated sets."""
PAIRS_LEFT = {"gathered": (34, 90), "generated": (1_046, 1_225)}
"""Pairs whose seeds some model has all of, and pairs in all."""

HIGHLIGHTED = {
    "names": (76, "Black vs White names", ("white_names-Knoche_et_al_2019", "black_names-Knoche_et_al_2019")),
    "roles": (20, "Black vs White roles", ("black_roles-Manzini_et_al_2019", "caucasian_roles-Manzini_et_al_2019")),
}
"""Figure 4: the row that the notebook takes, the label, and the pair that is meant."""
FIGURE_3 = {"woman": -0.1737, "her": -0.5661}
"""Cosines with the reference vector in the history corpus, from the notebook."""
TRENDS = {
    "nyt": "negative",
    "wikitext": "negative",
    "romance": "almost absent or slightly positive",
    "history": "almost absent or slightly positive",
}
"""Figure 4: how explained variance goes with similarity, in the words of the text."""
