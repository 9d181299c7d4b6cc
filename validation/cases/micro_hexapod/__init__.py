"""Positioning hexapod."""
