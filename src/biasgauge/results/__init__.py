"""What every analysis hands back: results as data, and how they are summed up."""

from biasgauge.results.opening import show
from biasgauge.results.result import Record, Result
from biasgauge.results.stored import Stored
from biasgauge.results.summary import Chart, Column, Extra, Listing, Shown, Summary, Table

__all__ = ["Chart", "Column", "Extra", "Listing", "Record", "Result", "Shown", "Stored", "Summary", "Table", "show"]
