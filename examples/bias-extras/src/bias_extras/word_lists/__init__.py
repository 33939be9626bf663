"""Lexicons: every TOML file of this folder, by the name of the file."""
