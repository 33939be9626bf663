"""The workbench: a page that measures lists of the reader's own words, in the browser."""
