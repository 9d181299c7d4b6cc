"""Datasets of episodes in the formats of Minari and LeRobot, for learning; episodes as logs."""

from twin.datasets.lerobot import write_lerobot
from twin.datasets.record import episode_log, record_dataset

__all__ = ["episode_log", "record_dataset", "write_lerobot"]
