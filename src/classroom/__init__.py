"""What a teaching assistant runs: the editions, the grading, the reports."""
