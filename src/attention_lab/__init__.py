"""What a learner imports: checks, heatmaps and the running example of the lesson."""

from attention_lab.stub import NotWrittenYet

__all__ = ["NotWrittenYet"]
