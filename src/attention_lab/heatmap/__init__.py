"""Attention weights one would rather look at than read."""

from attention_lab.heatmap.show import Heatmap, show_heads

__all__ = ["Heatmap", "show_heads"]
