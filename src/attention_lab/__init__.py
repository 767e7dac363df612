"""What a learner imports: checks, heatmaps and the running example of the lesson."""

from attention_lab.heatmap import show_heads
from attention_lab.stub import NotWrittenYet

__all__ = ["NotWrittenYet", "show_heads"]
