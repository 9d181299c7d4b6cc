"""Datasets of episodes in the format of Minari, for learning; episodes as logs."""

from twin.datasets.record import episode_log, record_dataset

__all__ = ["episode_log", "record_dataset"]
