"""What tests report when there is nothing to find."""
