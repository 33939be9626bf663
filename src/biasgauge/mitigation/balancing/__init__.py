"""A corpus sub-sampled so that stereotypical lines become rarer, or rule."""
