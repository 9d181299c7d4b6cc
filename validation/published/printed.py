"""Numbers that the papers print, each with the place it is from."""

from __future__ import annotations

from math import pi
from typing import NamedTuple

STEWART_BASE_JOINTS = (
    (0.5701, 0.6097, -0.0519, -0.1661, -0.5181, -0.4436),
    (-0.2692, -0.1602, 0.6283, 0.6081, -0.3591, -0.4479),
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
)
"""[m] rows x, y, z; thesis, appendix A.2: pos_base."""

STEWART_PLATFORM_JOINTS = (
    (0.1445, 0.3710, 0.2785, -0.3737, -0.4230, 0.0027),
    (-0.4050, 0.2173, 0.3277, 0.2127, 0.0773, -0.4300),
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
)
"""[m] rows x, y, z; thesis, appendix A.2: body_pts."""

STEWART_RETRACTED_LENGTH = 0.8644
"""[m] all legs; thesis, appendix A.2: leg_length."""

STEWART_RETRACTED_HEIGHT = 0.740
"""[m] thesis, appendix A.1: height."""

STEWART_DOF = 6
"""Thesis, equation (2.1) with 14 links, 18 joints and 36 joint degrees of freedom."""


class PitchSine(NamedTuple):
    """A sine about y of the base, all else at rest."""

    amplitude: float
    """[rad]"""
    frequency: float
    """[Hz]"""
    position: tuple[float, float, float]
    """reference point [m]"""


STEWART_PITCH_SINE = PitchSine(3.0 * pi / 180.0, 1.0, (0.0, 0.0, 0.74))
"""Thesis, figures 2.6 and 3.6: (0, 3 pi/180 sin(2 pi t) rad, 0, 0, 0, 0.74 m)."""


class StaticPayload(NamedTuple):
    """The search for the largest payload that six retracted to extended legs can hold."""

    thrust: float
    """[N] limit of an actuator"""
    held: float
    """[kg] largest payload, in steps of 50 kg"""
    refused: float
    """[kg] the next one"""
    extensions: tuple[float, ...]
    """[m] first position found at which `refused` exceeds the limit"""
    grid: int
    """positions tried per leg, evenly from retracted to extended"""


STEWART_STATIC_PAYLOAD = StaticPayload(3073.0, 700.0, 750.0, (0.0, 0.0, 0.0767, 0.0, 0.23, 0.23), 4)
"""Thesis, section 4.2.1 and appendix A.5 (nested loops, the sixth leg innermost)."""


class SpeedCheck(NamedTuple):
    """Sines on all axes at once, about mid-stroke."""

    accelerations: dict[str, float]
    """[m/s2], [rad/s2] amplitudes"""
    frequency: float
    """[Hz]"""
    speed: float
    """[m/s] that one actuator comes close to"""


STEWART_SPEED_CHECK = SpeedCheck(
    {"x": 2.0, "y": 2.0, "z": 2.5, "yaw": 1.0, "pitch": 3.0, "roll": 0.5}, 2.0, 0.254
)
"""Thesis, section 4.2.2 and figure 4.7."""


class DynamicPayload(NamedTuple):
    """The search for the largest payload that can be shaken as the speed check does."""

    held: float
    """[kg] largest payload, in steps of 50 kg"""
    refused: float
    """[kg] the next one"""
    extensions: tuple[float, ...]
    """[m] first position found at which `refused` exceeds the limit"""
    frequency: float
    """[Hz] there"""


STEWART_DYNAMIC_PAYLOAD = DynamicPayload(500.0, 550.0, (0.15, 0.05, 0.05, 0.15, 0.05, 0.05), 22.0)
"""Thesis, section 4.2.2; the phases between the axes are not given."""


class FreeFall(NamedTuple):
    """The end of a fall from home that lasts one second."""

    x: str
    z: str
    """[m] as printed"""
    singular_time: float
    """[s] at which actuator-space equations end"""
    output_step: float
    """[s] of the published simulation"""


FREE_FALLS = {"srspm": FreeFall("0.005068193", "-2.133568", 0.48, 0.01)}
"""x, z: C++ code published with the paper; singular time: section 5.2, tables 5 and 6."""
