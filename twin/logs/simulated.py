"""The log of a simulated motion."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray, as_instance, without
from twin.kernels.plant.columns import FORCE_MODE, VELOCITY_MODE
from twin.logs.log import POSE_UNITS, TWIST_UNITS, Channel, Log
from twin.simulation.simulate import Trajectory


def log_of(trajectory: Trajectory) -> Log:
    """Return the log of a trajectory: its motion, and the signals of a closed loop.

    Commands of one mode become `command_forces`, or `command_rates` with their feedforward as
    `command_forces`; of several modes they stay `command`, without unit. Signals that a controller
    adds have no units; those with more than one axis beside time are written as one row.

    Raises:
        InputError: not a trajectory.
    """
    checked_trajectory = as_instance(trajectory, "trajectory", Trajectory)
    unit = checked_trajectory.coordinate_unit
    force = "N" if unit == "m" else "N m"
    times = checked_trajectory.time
    channels = [
        Channel("coordinates", times, checked_trajectory.lengths, (unit,)),
        Channel("rates", times, checked_trajectory.rates, (f"{unit}/s",)),
        Channel("forces", times, checked_trajectory.forces, (force,)),
        Channel("pose", times, checked_trajectory.pose, POSE_UNITS),
        Channel("twist", times, checked_trajectory.twist, TWIST_UNITS),
    ]
    time = checked_trajectory.signals.get("time", np.empty(0))
    units_of_signals = {
        **dict.fromkeys(("setpoint", "measured"), unit),
        "limited": "1", "command_forces": force, "command_rates": f"{unit}/s",
    }  # fmt: skip
    for name, values in _with_known_commands(checked_trajectory.signals).items():
        rows = values.reshape(len(values), -1)
        if name == "inertial":
            channels.append(Channel("accelerometer", time, rows[:, :3], ("m/s2",)))
            channels.append(Channel("gyroscope", time, rows[:, 3:], ("rad/s",)))
        elif name != "time" and rows.shape[1]:
            units = POSE_UNITS if name == "reference_pose" else (units_of_signals.get(name, ""),)
            channels.append(Channel(name, time, rows, units))
    metadata_names = ("machine", "engine", "fidelity", "parameters_hash", "stopped")
    return Log(
        tuple(channels), {name: getattr(checked_trajectory, name) for name in metadata_names}
    )


def _with_known_commands(signals: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """Return signals with commands renamed by their mode, if the mode never changes."""
    commands = without(signals, "command_mode", "command_feedforward")
    modes = set(signals.get("command_mode", np.empty(0)).tolist())
    if modes == {float(FORCE_MODE)}:
        commands["command_forces"] = commands.pop("command")
    elif modes == {float(VELOCITY_MODE)}:
        commands["command_rates"] = commands.pop("command")
        if signals["command_feedforward"].any():
            commands["command_forces"] = signals["command_feedforward"]
    return commands
