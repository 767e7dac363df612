"""Attention weights one would rather look at than read."""

from attention_lab.heatmap.explore import explore
from attention_lab.heatmap.features import FeatureMap, show_features
from attention_lab.heatmap.follow import follow
from attention_lab.heatmap.play import play
from attention_lab.heatmap.query import follow_query
from attention_lab.heatmap.show import Heatmap, show_heads

__all__ = [
    "FeatureMap",
    "Heatmap",
    "explore",
    "follow",
    "follow_query",
    "play",
    "show_features",
    "show_heads",
]
