"""From a heard sentence to a decision."""
