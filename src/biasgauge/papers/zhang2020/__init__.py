"""Zhang, Sneyd & Stevenson 2020: do measurements of gender bias survive another base pair, word form, measure?"""
