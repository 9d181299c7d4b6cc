"""Arrays of ball balance; first axis environments."""

from __future__ import annotations

from typing import NamedTuple

from twin.basics.arrays import FloatArray, IndexArray


class Targets(NamedTuple):
    """Targets of the balls, in plate axes."""

    centers: FloatArray
    """`(N, k, 2)` one after the other [m]"""
    circles: FloatArray
    """`(N, 3)` about them: radius [m], rate [rad/s], phase [rad]"""
    now: FloatArray
    """`(N, 4)` position [m] and velocity [m/s]"""


class Increments(NamedTuple):
    """State of actions that are increments of the pose, with work arrays."""

    axes: IndexArray
    """`(a,)` axes, 3 along and 3 about the base axes, that the actions move"""
    offset: FloatArray
    """`(N, a)` displacement from home [m, rad]; `(N, 0)` where actions are speeds"""
    setpoint: FloatArray
    """`(N, n)` coordinates commanded for now"""
    home: FloatArray
    """`(7,)`"""
    target: FloatArray
    """`(n,)` work: coordinates at the end of the period"""
    displacement: FloatArray
    """`(6,)` work"""
    state: FloatArray
    """`(13,)` work"""


class Limits(NamedTuple):
    """Numbers of targets, reward and termination."""

    period: float
    """of control [s]"""
    hold: float
    """time between targets [s]"""
    fine: float
    """scale of distances in the reward [m]"""
    wide: float
    """distance that gives no reward [m]"""
    quick: float
    """scale of speeds [m/s]"""
    overtravel: float
    """share of the travel"""


class Balls(NamedTuple):
    """Balls of the batched plant."""

    state: FloatArray
    """`(N, 13)` pose and twist in the base frame"""
    lost: IndexArray
    """`(N,)` whether they have left the plate"""
    seen: FloatArray
    """`(6,)` work: position and velocity in plate axes"""


class Signals(NamedTuple):
    """Motion of ball and plate in physical units and plate axes, for `info`."""

    ball_position: FloatArray
    """`(N, 2)` [m]"""
    ball_velocity: FloatArray
    """`(N, 2)` [m/s] against the plate"""
    target: FloatArray
    """`(N, 2)` [m]"""
    target_error: FloatArray
    """`(N, 2)` target less ball [m]"""
    slope: FloatArray
    """`(N, 2)` how far the plate's x and y axes point down"""
    tilt_rate: FloatArray
    """`(N, 2)` of roll and pitch [rad/s]"""
