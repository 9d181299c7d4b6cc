"""Datasets of episodes in the formats of Minari and LeRobot, for learning from recorded data."""

from twin.datasets.lerobot import write_lerobot
from twin.datasets.record import record_dataset

__all__ = ["record_dataset", "write_lerobot"]
