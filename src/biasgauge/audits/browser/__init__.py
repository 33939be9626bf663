"""The workbench: a page that measures lists of the reader's own words, in the browser."""

PAGE = "workbench.html"
"""Name of the workbench beside the page of an audit."""
