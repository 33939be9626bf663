"""Association tests: how sets of words lean towards each other. Arrays in, frozen results out.

A test is one module of this room with a `TEST`; the registry finds it (`biasgauge.registry`, group "association_test").
"""
