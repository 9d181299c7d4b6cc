"""Trained policies: episodes on an engine they never saw, and the tables shipped with them."""
