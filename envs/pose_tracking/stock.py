"""Stock of motions of pose tracking, with the machines at their starts, as arrays for a card."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.envs.channels import width
from twin.envs.pose_tracking.task import PoseTracking
from twin.kernels.cuda.periods import Period
from twin.kernels.cuda.pose_tracking import Layout, States, Tables, Views, tracking_kernel
from twin.kernels.cuda.rows import Rows
from twin.kernels.cuda.sizes import Sizes
from twin.plant.signals import MODES


def place(task: PoseTracking) -> tuple[Rows, Views]:
    """Give the arrays of a task places in rows; return these and what views them."""
    machines, _, history, results, _, _, signals = task.groups
    size, n = task.size, task.platform.n_actuators
    drives, rows = task.batch.drives, Rows()
    own = (
        np.zeros((size, n)),
        np.zeros_like(task.last_action),
        *(results[index] for index in (2, 4, 5)),
    )
    groups = (machines, drives[:-1], history, signals, own)
    return rows, Views(*(rows.add(group) for group in groups))


def layout_of(task: PoseTracking, rows: Rows, views: Views, last: int) -> Layout:
    """Return the numbers that the kernel of a task is made for.

    Args:
        task: with its stock of motions.
        rows: of its arrays.
        views: of the same.
        last: control periods of an episode.
    """
    batch, law, reference, limits = task.batch, task.acting.law, task.groups[4], task.groups[5]
    legs = batch.platform.constants.legs
    return Layout(
        Sizes(type(legs), *legs.rows.shape),
        Period(batch.ratio, MODES.index(batch.mode), batch.timestep),
        views,
        (rows.sizes[0], rows.sizes[1]),
        task.size,
        reference[0].shape[1],
        width(task.actions),
        width(task.observations),
        len(task.weights),
        tuple(limits),
        (float(law.gain), float(law.period), bool(law.residual)),
        batch.mode == "velocity",
        last,
    )


def tables_of(task: PoseTracking, rows: Rows, copy: Any) -> Tables:
    """Return the stock on a card; `copy` takes a flat array there."""
    body, legs = task.platform.constants[:2]
    scales, results, reference = task.groups[1], task.groups[3], task.groups[4]
    shared = np.concatenate([*scales, task.acting.law.scale, results[1], results[3]])
    floats, numbers = rows.packed()
    arrays = (body, legs.rows, shared, floats, numbers, task.observation, *reference)
    return Tables(*(copy(np.ascontiguousarray(array).reshape(-1)) for array in arrays))


def empty_states(size: int, layout: Layout, copy: Any) -> States:
    """Return states of machines that all begin an episode next, each on the motion of its index."""
    floats, numbers = layout.entries
    motion = (np.arange(size) - 1) % layout.motions
    arrays = (
        np.zeros(floats * size),
        np.zeros(numbers * size, dtype=np.int64),
        np.zeros(size * layout.observations, dtype=np.float32),
        np.zeros(size),
        np.zeros(size, dtype=bool),
        np.zeros(size, dtype=bool),
        np.ones(size, dtype=bool),
        motion,
    )
    return States(*(copy(array) for array in arrays))


def prepare(task: PoseTracking, size: int, last: int, copy: Any) -> tuple[Any, Tables, States]:
    """Return the kernel of a task whose episodes have begun, its tables and states.

    Args:
        task: with its stock of motions.
        size: number of machines on the card.
        last: control periods of an episode.
        copy: takes a flat array to the card.
    """
    rows, views = place(task)
    layout = layout_of(task, rows, views, last)
    states = empty_states(size, layout, copy)
    return tracking_kernel(layout), tables_of(task, rows, copy), states
