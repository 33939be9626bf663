"""Parts of an audit: each module holds its `PART`, which the registry finds."""
