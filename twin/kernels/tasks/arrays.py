"""Groups of arrays that all tasks have; first axis environments, unless another is given."""

from __future__ import annotations

from typing import Any, NamedTuple

from twin.basics.arrays import FloatArray, IndexArray


class Scales(NamedTuple):
    """Typical sizes of the quantities of a machine's actuators."""

    lower: FloatArray
    """`(n,)` least coordinate [m, rad]"""
    upper: FloatArray
    """`(n,)` greatest"""
    middle: FloatArray
    """`(n,)` between both"""
    half: FloatArray
    """`(n,)` half the way from one to the other"""
    speed: FloatArray
    """`(n,)` the actuator's limit; without one, half the way in 1 / (2 pi) s [m/s, rad/s]"""
    effort: FloatArray
    """`(n,)` the actuator's limit; without one, twice the force that holds the machine [N, N m]"""
    holding: FloatArray
    """`(n,)` forces that hold the machine at home"""


class History(NamedTuple):
    """Control periods since the reset, with the last two actions."""

    steps: IndexArray
    """`(N,)` control periods"""
    action: FloatArray
    """`(N, a)` of the last period, within 1"""
    before: FloatArray
    """`(N, a)` of the period before"""


class Results(NamedTuple):
    """Results of a control period, with the constants that scale them."""

    observation: Any
    """`(N, o)`, float32"""
    scale: FloatArray
    """`(o,)` physical value that 1 in an observation means"""
    term: FloatArray
    """`(N, t)` of the reward, not weighted"""
    weights: FloatArray
    """`(t,)`"""
    reward: FloatArray
    """`(N,)`"""
    reason: IndexArray
    """`(N,)` code of why the episode ends; 0 where it continues"""
