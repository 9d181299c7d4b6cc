"""Datasets of episodes in the format of Minari, for learning from recorded data."""

from twin.datasets.record import record_dataset

__all__ = ["record_dataset"]
