"""The page of an audit, section by section: what each says, draws and lists; and what makes it one file."""
