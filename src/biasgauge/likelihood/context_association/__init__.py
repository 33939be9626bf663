"""StereoSet, the Context Association Test (Nadeem et al. 2021): does a model prefer stereotypes, or nonsense?"""
