"""Evaluation of policies and baselines in the same episodes."""
