"""Zhang, Sneyd & Stevenson 2020: do measurements of gender bias survive another base pair, word form, measure?"""

from __future__ import annotations

from biasgauge.papers.data import Need
from biasgauge.papers.paper import Paper, Part
from biasgauge.papers.row import Row
from biasgauge.papers.zhang2020 import analogies as section_7
from biasgauge.papers.zhang2020 import lists, scores
from biasgauge.papers.zhang2020.kappas import ALL_FORMS, fill
from biasgauge.papers.zhang2020.runs import VECTORS
from biasgauge.papers.zhang2020.tables import WITH_ALL_FORMS, figure_2_rows, kappa_rows, table_1_rows, table_2_rows

GOOGLENEWS = Need(
    VECTORS,
    "GoogleNews word2vec vectors: 3,000,000 words and phrases, 300 dimensions",
    "From the word2vec project page (code.google.com/archive/p/word2vec, “Pre-trained word and phrase vectors”) fetch "
    "GoogleNews-vectors-negative300.bin.gz (1.6 GB; its license is not stated) and put it into the folder, gzipped or "
    "not. It takes about 4 GB of memory. A part of it as .npz (words, vectors, and raw_norm: which vectors have kept "
    "their length) gives what its words allow.",
    (
        "GoogleNews-vectors-negative300.bin",
        "GoogleNews-vectors-negative300.bin.gz",
        "**/GoogleNews-vectors-negative300.bin*",
        "googlenews_subset_union/*.npz",
        "googlenews*.npz",
    ),
)

_ALL_FORMS = Row(ALL_FORMS, "professions whose plural, capitalized and upper-case forms are all there", "§6",
                 WITH_ALL_FORMS, tolerance=0)  # fmt: skip
_NEEDED = (VECTORS,)

PAPER = Paper(
    name="zhang2020",
    title="Robustness and Reliability of Gender Bias Assessment in Word Embeddings: The Role of Base Pairs",
    citation="Haiyang Zhang, Alison Sneyd & Mark Stevenson, AACL-IJCNLP 2020",
    needs=(GOOGLENEWS,),
    parts=(
        Part("lists", "Word lists and how long they are.", lists.LISTS, lists.fill_lists),
        Part("sums", "Do the printed numbers fit each other?", lists.SUMS, lists.fill_sums),
        Part("table1", "Scores of all frequent words.", table_1_rows(), scores.fill_table_1, _NEEDED),
        Part("table2", "Agreement over ten base pairs.", table_2_rows(), scores.fill_table_2, _NEEDED),
        Part("table3", "A pair and its capitalized form.", kappa_rows(3), fill(3), _NEEDED),
        Part("table4", "Words and their other forms.", (_ALL_FORMS, *kappa_rows(4)), fill(4), _NEEDED),
        Part("table5", "Directions and known gender.", kappa_rows(5), fill(5), _NEEDED),
        Part("table6", "Measures compared.", kappa_rows(6), fill(6), _NEEDED),
        Part("figure2", "Like pairs agree more.", figure_2_rows(), scores.fill_figure_2, _NEEDED),
        Part("text", "Examples in the text.", scores.TEXT, scores.fill_text, _NEEDED),
        Part("analogies", "Man is to x as woman is to …?", section_7.ROWS, section_7.fill, _NEEDED),
    ),
    about=(
        "With the whole of GoogleNews every number can be checked: nothing in the paper is random but two samples. The "
        "part of it that has 31,927 words allows what rests on the same words and neighbors: DB/WA and RIPA in Tables "
        "3 and 6, the examples, cosines; the others stand beside the published ones with what differs. Table 2's "
        "magnitudes are inverted, the analogies asked in reverse, and Figure 2 holds each pair against itself too."
    ),
)
