"""The workbench: a page that measures lists of the reader's own words, in the browser."""

TAB = "workbench"
"""Name of the workbench in the page of an audit, and in its address."""
