"""Arrays of many machines that kernels read and write: states, and what acts on them."""

from __future__ import annotations

from typing import Any, NamedTuple

from twin.basics.arrays import FloatArray
from twin.kernels.legs.interface import Legs


class Machines(NamedTuple):
    """States of all rows after the last control period; first axis rows."""

    pose: FloatArray
    """`(N, 7)`"""
    twist: FloatArray
    """`(N, 6)`"""
    deflection: FloatArray
    """`(N, 2k)` deflections of springs, then their rates"""
    acceleration: FloatArray
    """`(N, 6)` mean over the last step of the engine; zero after a reset"""
    coordinates: FloatArray
    """`(N, n)` of what the actuators move, without springs in series"""
    rates: FloatArray
    """`(N, n)`"""
    measured: FloatArray
    """`(N, n)` coordinates measured by the encoders"""
    measured_rates: FloatArray
    """`(N, n)` rates measured by the drives"""
    forces: FloatArray
    """`(N, n)` on the legs over the last step of the engine"""
    effort: FloatArray
    """`(N, n)` of the motors"""
    gap: FloatArray
    """`(N,)` largest loop gap [m]"""
    failed: Any
    """`(N,)` True where the engine had to give up; such a row stays where it was"""


class Inputs(NamedTuple):
    """Inputs of all machines over one control period."""

    command: FloatArray
    """`(N, n)` speeds or forces"""
    feedforward: FloatArray
    """`(N, n)` forces added to those of the velocity loops"""
    wrench: FloatArray
    """`(N, 6)` on the platforms"""
    shaking: FloatArray
    """`(N, ratio, 3)` acceleration of the base in each step of the engine [m/s2]"""


class Constants(NamedTuple):
    """Constants of all rows in the analytic reference."""

    body: FloatArray
    """`(N, BODY_SIZE)` of the platforms"""
    legs: Legs
    """rows `(N, n, LEG_SIZE)`"""


class Balls(NamedTuple):
    """States of the balls of all rows; first axis rows."""

    state: FloatArray
    """`(N, 17)` place on the plate, angular velocity, orientation, flight"""
    place: FloatArray
    """`(N, 13)` pose and twist in the base frame"""
    status: Any
    """`(N,)` `ROLLING`, `SLIPPING`, `FLYING` or `LOST`"""
    lost: Any
    """`(N,)` True where the ball has left the plate; it stays where that was"""
