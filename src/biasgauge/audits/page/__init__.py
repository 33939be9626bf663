"""The page and the terminal summary of an audit."""
