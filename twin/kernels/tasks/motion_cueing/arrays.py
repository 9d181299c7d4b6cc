"""Arrays of motion cueing; first axis environments, unless another is given."""

from __future__ import annotations

from typing import Any, NamedTuple

from twin.basics.arrays import FloatArray, IndexArray


class Command(NamedTuple):
    """Constants that turn actions into the actuators' speeds."""

    legs: Any
    """constants of the machine's kinematics"""
    home: FloatArray
    """`(7,)`"""
    free: IndexArray
    """`(k,)` indices of the axes that the machine has"""
    mode: int
    """meaning of an action"""
    period: float
    """[s]"""
    scale: FloatArray
    """`(6,)` physical value that 1 in an action means"""
    speed: FloatArray
    """`(6,)` largest of each axis"""
    reach: FloatArray
    """`(n,)` way of each actuator in a period at full speed"""
    brake: FloatArray
    """`(n,)` deceleration of each actuator as it comes to its end"""
    low: FloatArray
    """`(n,)` least coordinates of a command"""
    high: FloatArray
    """`(n,)` greatest"""
    gain: float
    """[1/s] of the correction of position"""


class CommandState(NamedTuple):
    """Commanded axes and what the actuators follow."""

    axes: FloatArray
    """`(N, 6)` x, y, z [m], yaw, pitch, roll [rad] about home"""
    rates: FloatArray
    """`(N, 6)` of the axes at the end of the period"""
    offsets: FloatArray
    """`(N, n)` of the actuators' coordinates from kinematics"""
    targets: FloatArray
    """`(N, n)` coordinates at the command"""


class Constants(NamedTuple):
    """Constants of perception, reward and observation."""

    models: FloatArray
    """`(2, MODEL_SIZE)` of otoliths and canals"""
    head: FloatArray
    """`(3,)` [m]"""
    home: FloatArray
    """`(7,)`"""
    free: IndexArray
    """`(k,)` indices of the axes that the machine has"""
    travel: FloatArray
    """`(6,)` of each axis alone"""
    threshold: FloatArray
    """`(6,)` of perception"""
    period: float
    """[s]"""
    low: FloatArray
    """`(N, n)` least coordinates of the actuators"""
    high: FloatArray
    """`(N, n)` greatest"""
    middle: FloatArray
    """`(n,)` between both"""
    ahead: IndexArray
    """`(s,)` periods after which the vehicle's motion is shown, the first 0"""
    on_pose: bool
    """whether actions move a commanded pose"""


class Senses(NamedTuple):
    """Manoeuvres and the perception of the drivers of vehicle and platform."""

    table: FloatArray
    """`(N, L, 6)` manoeuvres: specific force less rest, angular rate"""
    vehicle_states: FloatArray
    """`(N, 6, 2)` of perception"""
    platform_states: FloatArray
    """`(N, 6, 2)`"""
    vehicle: FloatArray
    """`(N, 6)` perceived in the vehicle [m/s2, rad/s]"""
    platform: FloatArray
    """`(N, 6)` perceived on the platform"""
    left: FloatArray
    """`(N, 6)` felt by the platform's driver as a period begins, less rest"""
    right: FloatArray
    """`(N, 6)` the same as it ends"""
    before: FloatArray
    """`(N, 7)` velocity of the head and attitude one period ago"""
    turning: FloatArray
    """`(N, 6)` twist one period ago"""
    sums: FloatArray
    """`(N, 2)` of the squares of errors and of false cues, in thresholds"""


class Signals(NamedTuple):
    """Numbers that `info` shows beside the senses."""

    axes: FloatArray
    """`(N, 6)` about home"""
    error: FloatArray
    """`(N, 6)` perceived on the platform less perceived in the vehicle"""
    score: FloatArray
    """`(N,)` `PerceivedError.total` since the reset"""
    false_cues: FloatArray
    """`(N,)` `PerceivedError.total_false_cue` since the reset"""
