"""What a learner imports: checks, heatmaps and the running example of the lesson."""

from attention_lab.heatmap import explore, follow, play, show_heads
from attention_lab.stub import NotWrittenYet

__all__ = ["NotWrittenYet", "explore", "follow", "play", "show_heads"]
