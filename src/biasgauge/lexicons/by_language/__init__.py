"""What each language has: its lists, its grammatical gender, and what can be wrong with a list in it."""
