"""Settings of homing for one machine: speeds, times, tolerances, calibration."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_vector, positive, read_only
from twin.errors import InputError
from twin.model.machine_model import MachineModel, as_model
from twin.plant.drives import actuator_limit

CREEP = 0.08
"""Adopted: strokes per second towards the switch, and the largest share of the speed limit."""

SEARCH = 0.5
"""Adopted: speed to the index pulse, per creep speed."""

APPROACH = 0.4
"""Adopted: peak of the way to the start, strokes per second and share of the speed limit."""

MARGIN = 2.0
"""Adopted: time allowed for a search, per time that the whole stroke takes."""

TOLERANCE = 40.0
"""Adopted: counts from the start that count as there; 0.05 mm for the thesis' actuators."""


class HomingSettings(NamedTuple):
    """Numbers of one machine's homing; coordinates and speeds in m or rad."""

    resolution: FloatArray
    """`(n,)` one count"""
    turn: FloatArray
    """`(n,)` counts over one turn"""
    index_coordinates: FloatArray
    """`(n,)` coordinate of one index pulse, from calibration; the others are whole turns away"""
    switch: FloatArray
    """`(n,)` coordinate of the lower switch, good to less than half a turn"""
    start: FloatArray
    """`(n,)` coordinates to go to"""
    creep: FloatArray
    """`(n,)` speed to the switch"""
    search: FloatArray
    """`(n,)` speed to the index pulse"""
    approach: FloatArray
    """`(n,)` largest speed on the way to the start"""
    longest_search: FloatArray
    """`(n,)` [s] for a switch or a pulse"""
    tolerance: FloatArray
    """`(n,)` distance from the start that counts as there"""
    release_time: float = 0.2
    """[s] until brakes are taken to be open"""
    stall_time: float = 0.5
    """[s] in which a moving actuator must have moved"""
    shortest_approach: float = 0.5
    """[s]"""
    settling: float = 0.1
    """[s] at the start before it counts as reached"""
    longest_settling: float = 2.0
    """[s] after the way to the start"""
    gain: float = 10.0
    """[1/s] of the position on the way to the start"""


def homing_settings(
    platform: MachineModel,
    resolution: Any,
    turn: Any,
    index_coordinates: Any,
    *,
    start: Any = None,
    period: float = 1e-3,
    **options: float,
) -> HomingSettings:
    """Return settings that suit a machine.

    The creep speed also stays below the limit of the decoder in homing mode: 32 counts a period.

    Args:
        platform: the machine; its lower switches are at its shortest coordinates.
        resolution: `(n,)` one count [m, rad].
        turn: `(n,)` counts over one turn.
        index_coordinates: `(n,)` of one index pulse per actuator [m, rad].
        start: coordinates `(n,)` to go to; default those of home.
        period: of the controller [s].
        options: further entries of `HomingSettings`.

    Raises:
        InputError: wrong shapes, a start outside the limits, unknown options, or a machine whose
            actuators cannot move one by one.
    """
    n = as_model(platform).n_actuators
    if platform.dof != n:
        raise InputError(
            "platform",
            f"has {n} actuators for {platform.dof} dof: they cannot move one by one, as "
            "homing does",
        )
    low, high = platform.minimum_coordinates, platform.maximum_coordinates
    goal = platform.inverse_kinematics(platform.home) if start is None else start
    goals = as_vector(goal, "start", n)
    if not ((goals >= low) & (goals <= high)).all():
        raise InputError("start", "must lie within the limits of the actuators")
    known = set(HomingSettings._field_defaults)
    if unknown := set(options) - known:
        raise InputError("options", f"unknown: {sorted(unknown)}; known: {sorted(known)}")
    steps, counts = as_vector(resolution, "resolution", n), as_vector(turn, "turn", n)
    stroke = high - low
    fastest = np.minimum(stroke, actuator_limit(platform, "speed", stroke))
    creep = np.minimum(CREEP * fastest, 32.0 * steps / positive(period, "period"))
    approach = APPROACH * fastest
    return HomingSettings(
        read_only(steps),
        read_only(counts),
        read_only(as_vector(index_coordinates, "index_coordinates", n)),
        low,
        read_only(goals),
        read_only(creep),
        read_only(SEARCH * creep),
        read_only(approach),
        read_only(MARGIN * np.maximum(stroke / creep, counts * steps / (SEARCH * creep))),
        read_only(TOLERANCE * steps),
        **{name: positive(value, name) for name, value in options.items()},
    )
