"""Do scores of words follow something that is known about these words?"""
