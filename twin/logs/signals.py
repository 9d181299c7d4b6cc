"""Signals of a machine that a log can hold: their names and SI units."""

from __future__ import annotations

from twin.logs.channel import POSE_UNITS
from twin.model.machine_model import MachineModel

TWIST_UNITS = ("m/s",) * 3 + ("rad/s",) * 3

PARTS_OF_POSE = {
    **dict.fromkeys(("x", "y", "z", "position_noise"), ("m",)),
    **dict.fromkeys(("yaw", "pitch", "roll", "angle_noise"), ("rad",)),
}
"""Of a pose that is measured in part, with angles of `yaw_pitch_roll`, and their noise."""


def signal_units(machine: MachineModel) -> dict[str, tuple[str, ...]]:
    """Return the units of the columns of every signal; leg by leg, the n legs of the machine."""
    n, coordinate, force = machine.n_actuators, machine.coordinate_unit, machine.force_unit
    return {
        **dict.fromkeys(("coordinates", "setpoint", "measured"), (coordinate,) * n),
        **dict.fromkeys(("rates", "command_rates"), (f"{coordinate}/s",) * n),
        **dict.fromkeys(("forces", "motor_forces", "command_forces"), (force,) * n),
        "currents": ("A",) * n,
        "temperatures": ("degC",) * n,
        **dict.fromkeys(("pose", "reference_pose"), POSE_UNITS),
        "twist": TWIST_UNITS,
        "wrench": ("N",) * 3 + ("N m",) * 3,
        "accelerometer": ("m/s2",) * 3,
        "gyroscope": ("rad/s",) * 3,
        **PARTS_OF_POSE,
        "coordinate_noise": (coordinate,),
    }


def is_per_leg(name: str, machine: MachineModel) -> bool:
    """Return whether a signal has one column per leg."""
    fixed = ("pose", "reference_pose", "twist", "wrench", "accelerometer", "gyroscope")
    single = (*PARTS_OF_POSE, "coordinate_noise")
    return name in signal_units(machine) and name not in (*fixed, *single)
