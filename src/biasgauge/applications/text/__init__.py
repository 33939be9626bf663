"""Text classification on frozen vectors."""
