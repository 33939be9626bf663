"""What `reliability` found, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biasgauge.reliability.bands import SOURCES
from biasgauge.reliability.estimate import paragraph

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from biasgauge.reliability.lists import WordList
    from biasgauge.reliability.relations import Correlation, FormComparison
    from biasgauge.reliability.rows import Rows
    from biasgauge.reliability.summary import Summary
    from biasgauge.reliability.untrusted import Untrusted

PARTS = ("test_retest", "inter_rater", "inter_rater_standardised", "internal")


@dataclass(frozen=True, eq=False)
class ReliabilityResult:
    """Three reliabilities of words, pairs, queries and measures, and what follows from them.

    Attributes:
        test_retest: over replicates, ICC(2,1): words, pairs and measures ("rule").
        inter_rater: over measures, ICC(3,1), of the scores as they are (as published): words and pairs.
        inter_rater_standardised: the same once every measure has standard deviation 1.
        internal: Cronbach's alpha of queries and of all pairs as one scale.
        omega: McDonald's omega of the same, row by row.
        summaries: distribution of each of these, by measure and list.
        measures: how every two measures correlate over words, and how much wider one spreads.
        relations: test-retest with inter-rater reliability, over pairs and over words.
        forms: pairs in the singular against the plural.
        untrusted: words, pairs and queries that are too unreliable, with the reason.
        verdicts: what it all comes to, in sentences.
        lists, queries: which words each stands on, which are lost.
        settings: everything that decides the result.
        warnings: what the reader should know before trusting any number.
    """

    test_retest: Rows
    inter_rater: Rows
    inter_rater_standardised: Rows
    internal: Rows
    omega: Rows
    summaries: tuple[Summary, ...]
    measures: tuple[Correlation, ...]
    relations: tuple[Correlation, ...]
    forms: tuple[FormComparison, ...]
    untrusted: tuple[Untrusted, ...]
    verdicts: tuple[str, ...]
    lists: tuple[WordList, ...]
    queries: tuple[WordList, ...]
    settings: Mapping[str, Any]
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object; `test_retest`, `inter_rater` and `internal` are a contract."""
        internal: list[dict[str, Any]] = self.internal.to_dicts()
        omegas = self.omega.to_dicts()
        for row, other in zip(internal, omegas, strict=True):
            row["omega"] = {name: other[name] for name in ("value", "low", "high", "reason")}
        tables = {name: getattr(self, name) for name in PARTS}
        return {
            "test_retest": self.test_retest.to_dicts(),
            "inter_rater": self.inter_rater.to_dicts(),
            "inter_rater_standardised": self.inter_rater_standardised.to_dicts(),
            "internal": internal,
            "summary": [one.to_dict() for one in self.summaries],
            "measures": [one.to_dict() for one in self.measures],
            "relations": [one.to_dict() for one in self.relations],
            "word_forms": [one.to_dict() for one in self.forms],
            "untrusted": [one.to_dict() for one in self.untrusted],
            "verdicts": list(self.verdicts),
            "intervals": {
                **{
                    name: {"statistic": table.statistic, "level": table.level, "method": table.method}
                    for name, table in tables.items()
                },
                "omega": {"statistic": "omega", "level": self.omega.level, "method": self.omega.method},
            },
            "bands": dict(SOURCES),
            "coverage": {
                "lists": {one.name: one.to_dict() for one in self.lists},
                "queries": {one.name: one.to_dict() for one in self.queries},
            },
            "settings": dict(self.settings),
            "warnings": list(self.warnings),
        }

    def to_frame(self) -> pd.DataFrame:
        """Every reliability in one tidy table; the column `reliability` says which of the parts a row is of."""
        import pandas as pd  # noqa: PLC0415 - pandas takes longer to import than most results take to compute

        tables: dict[str, Rows] = {**{name: getattr(self, name) for name in PARTS}, "omega": self.omega}
        return pd.concat(
            [table.to_frame().assign(reliability=name) for name, table in tables.items() if len(table)],
            ignore_index=True,
        )

    def summary(self) -> pd.DataFrame:
        """The distributions: one row for each reliability, kind, measure and list."""
        import pandas as pd  # noqa: PLC0415 - as in to_frame

        return pd.DataFrame([one.to_dict() for one in self.summaries])

    def _repr_html_(self) -> str:
        said = "".join(paragraph(sentence) for sentence in (*self.warnings, *self.verdicts))
        return said + self.summary().to_html(index=False, float_format=lambda number: f"{number:.2f}")
