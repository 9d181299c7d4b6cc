"""Tables 5, 6 and 7 of the extended-configuration-space paper."""

from __future__ import annotations

from typing import NamedTuple


class Printed(NamedTuple):
    """What the paper prints about one formulation's free fall."""

    title: str
    real_time: float
    """[s] simulated, table 6"""
    mathematica: float
    """simulation time per real time, table 5"""
    compiled: float
    """simulation time per real time in C++, table 6"""
    errors: tuple[float, float, float]
    """orders of e1 [m], e2 [m/s], e3 [m/s2], table 7"""
    energy: float
    """order of the energy error [percent], table 7"""


PRINTED = {
    "configuration": Printed("configuration", 1.0, 0.705, 0.794, (1e-7, 1e-6, 1e-4), 1e-8),
    "actuator": Printed("actuator", 0.48, 0.717, 1.619, (1e-15, 1e-15, 1e-13), 1e-7),
    "task": Printed("task", 1.0, 0.469, 0.721, (1e-15, 1e-14, 1e-13), 1e-6),
    "extended_to_task": Printed("extended-to-task", 1.0, 0.289, 0.042, (1e-16, 1e-21, 1e-20), 1e-8),
    "extended_to_actuator": Printed(
        "extended-to-actuator", 0.48, 0.423, 0.143, (1e-16, 1e-15, 1e-13), 1e-7
    ),
}
"""By the formulation's name here."""

PRINTED_STOP = 0.48
"""[s] at which actuator-space simulations end; section 5.2, table 6."""
