"""The tasks that ship."""
