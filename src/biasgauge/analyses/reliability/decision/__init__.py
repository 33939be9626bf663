"""Decision studies: how many replicates, pairs and words are enough."""
