"""Badder Seeds 2022: are lists of seed words fit to measure bias? A reproduction of Antoniak & Mimno 2021."""

from __future__ import annotations

from biasgauge.papers.badderseeds2022 import bank, coherence, corpora, files, subspaces
from biasgauge.papers.badderseeds2022.models import need
from biasgauge.papers.badderseeds2022.tables import CORPORA
from biasgauge.papers.data import Need
from biasgauge.papers.paper import Paper, Part

_GOODREADS = (
    "From the UCSD Book Graph (Goodreads datasets, “by genre”; for academic use) fetch "
    "goodreads_reviews_{genre}.json.gz and put it into the folder."
)
_TEXTS = (
    Need(
        "nyt",
        "New York Times articles of 15 April to 30 June 2016",
        "From Kaggle, dataset nzalake52/new-york-times-articles (see its page for the license), fetch "
        "nytimes_news_articles.txt and put it into the folder.",
        ("nytimes_news_articles.txt", "**/nytimes_news_articles.txt"),
    ),
    Need(
        "wikitext",
        "WikiText-103, the training text",
        "From the WikiText page of Stephen Merity and colleagues (CC BY-SA) fetch wikitext-103-v1.zip and put its "
        "wiki.train.tokens into the folder.",
        ("wiki.train.tokens", "wikitext-103/wiki.train.tokens", "**/wiki.train.tokens"),
    ),
    Need(
        "romance",
        "Goodreads reviews of romance",
        _GOODREADS.format(genre="romance"),
        ("goodreads_reviews_romance.json.gz", "goodreads_reviews_romance.json", "**/goodreads_reviews_romance.json*"),
    ),
    Need(
        "history",
        "Goodreads reviews of history and biography",
        _GOODREADS.format(genre="history_biography"),
        (
            "goodreads_reviews_history_biography.json.gz",
            "goodreads_reviews_history_biography.json",
            "**/goodreads_reviews_history_biography.json*",
        ),
    ),
)

PAPER = Paper(
    name="badderseeds2022",
    title="Badder Seeds: Reproducing the Evaluation of Lexical Methods for Bias Measurement",
    citation="ML Reproducibility Challenge 2021, 2022; a reproduction of Maria Antoniak & David Mimno, ACL 2021",
    needs=(
        *files.NEEDS,
        *_TEXTS,
        *(need(corpus, coherence.MIN_COUNT) for corpus in CORPORA),
        need("nyt", 0),
        need("nyt", 100),
    ),
    parts=(
        Part("bank", "The seed bank: sets, seeds, pairs.", bank.BANK, bank.fill_bank),
        Part("files", "The released files: are they what ships here?", files.ROWS, files.fill),
        Part("sums", "Do the printed numbers and lists fit each other?", bank.SUMS, bank.fill_sums),
        Part("labels", "Which pairs Figure 4 highlights.", bank.LABELS, bank.fill_labels),
        Part("tableA1", "Sizes of the corpora.", corpora.ROWS, corpora.fill),
        Part("tableA2", "Coherence of pairs of seed sets.", coherence.ROWS, coherence.fill),
        Part("figure2", "Explained variance of ordered and shuffled pairs.", subspaces.ROWS, subspaces.fill_figure_2),
        Part("figure3", "Does the choice of the list decide?", subspaces.FIGURE_3_ROWS, subspaces.fill_figure_3),
        Part("figure4", "Similarity against robustness.", coherence.FIGURE_4, coherence.fill_figure_4),
        Part("figureA2", "Words along second components.", subspaces.FIGURE_A2_ROWS, subspaces.fill_figure_a2),
    ),
    about=(
        "The seed bank and its pairs can be checked to the last seed, and the corpora counted by whoever fetches them. "
        "The models were not released, so that numbers of Table A.2 and the figures can be set beside those of other "
        "models, not reached. The released code trains CBOW by default where the text says skip-gram, and never aligns "
        "its models. Figure 3 measures letters, Figure 4 highlights the wrong pairs, Figures 1 and A.2 give words each "
        "other's values. Table A.3, time and memory on the authors' machine, is not checked."
    ),
)
