"""One file a method, each with its `METHOD`, which the registry finds."""
