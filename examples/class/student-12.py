"""Handed in as it was released."""
