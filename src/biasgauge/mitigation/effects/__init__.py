"""What a change of vectors did."""
