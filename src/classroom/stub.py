"""What stands in place of a solution in the notebook that is released."""

CODE_STUB = {"python": "# YOUR CODE HERE\nraise NotWrittenYet"}
