"""Rows of a learning curve in TensorBoard's own files."""

from __future__ import annotations

import time as clock
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from twin.basics.optional import optional
from twin.training.learning_curve import Callback, Row

FOLDER = "tensorboard"
"""In the folder of a training."""

EPISODES = "episodes"
"""Name of the run beside those of Stable-Baselines3, and of the group of its charts."""


@contextmanager
def with_tensorboard(folder: Path, callback: Callback | None) -> Iterator[tuple[Callback, ...]]:
    """Yield the callbacks of a learning curve: the given one, and TensorBoard where it is there.

    Args:
        folder: of the training.
        callback: None for none.
    """
    given = () if callback is None else (callback,)
    if find_spec("tensorboard") is None:
        yield given
        return
    # Looked up in its module: Weights & Biases puts a class of its own there.
    files = optional("tensorboard.summary.writer.event_file_writer")
    event = optional("tensorboard.compat.proto.event_pb2").Event
    summary = optional("tensorboard.compat.proto.summary_pb2").Summary
    writer = files.EventFileWriter(str(folder / FOLDER / EPISODES))

    def write(row: Row) -> None:
        numbers = summary(
            value=[
                summary.Value(tag=f"{EPISODES}/{name}", simple_value=value)
                for name, value in row.items()
                if name != "steps"
            ]
        )
        writer.add_event(event(wall_time=clock.time(), step=int(row["steps"]), summary=numbers))

    try:
        yield (write, *given)
    finally:
        writer.close()
