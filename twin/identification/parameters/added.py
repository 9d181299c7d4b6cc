"""Parameters that no platform.toml has: tilt of the base, errors of the recorded signals."""

from __future__ import annotations

from collections.abc import Sequence

from twin.identification.parameters.parameter import SIGNAL, TILT, Parameter
from twin.identification.parameters.values import bias_units
from twin.logs.signals import is_per_leg
from twin.machine.hardware.sensors import Accelerometers, Gyroscopes
from twin.model.machine_model import MachineModel

LARGEST_TILT = 0.1
"""[rad]"""

LATEST = 0.05
"""Largest delay of a signal, to both sides [s]."""

DELAY, SCALE, BIAS = 1e-3, 1e-3, 2e-3
"""Spreads: of a delay [s], of a scale, and of a bias in parts of the range of the signal."""

FORCE_SCALE, FORCE_BIAS = 0.05, 0.01
"""The same of forces, which drives compute from currents and a torque constant."""

POSE_BIAS = (1e-3, 2e-3)
"""Of the poses of a tracker: place [m] and rotation [rad] of its frame."""

MOST_SPREADS = 20.0
"""From the nominal value to the bounds of a bias."""


def added(platform: MachineModel) -> dict[str, Parameter]:
    """Return tilts of the base, and scale, delay and biases of each signal, by path.

    A signal is read as scale * value(t - delay) + bias; poses have no scale. An inertial sensor has
    errors of its own only where the machine has one.
    """
    found = []
    if platform.parameters.gravity > 0.0:
        for axis in "xy":
            words = f"tilt of the base about its {axis} axis"
            bounds = (-LARGEST_TILT, LARGEST_TILT)
            found.append(Parameter(f"{TILT}{axis}", words, "rad", 0.0, 5e-3, *bounds))
    for signal, (scale, bias) in _spreads(platform).items():
        words = f"scale of the measured {signal}"
        found.append(Parameter(f"{SIGNAL}{signal}.scale", words, "", 1.0, scale, 0.5, 2.0))
        found += _errors(platform, signal, [bias] * len(bias_units(platform, signal)))
    place, turn = POSE_BIAS
    found += _errors(platform, "pose", [place] * 3 + [turn] * 3)
    return {parameter.path: parameter for parameter in found}


def _spreads(platform: MachineModel) -> dict[str, tuple[float, float]]:
    """Return the spreads of scale and bias of each signal."""
    ranges = platform.maximum_coordinates - platform.minimum_coordinates
    found = {"coordinates": (SCALE, BIAS * float(ranges.mean()))}
    parameters = platform.parameters
    weight = parameters.platform.body.mass * max(parameters.gravity, 1.0) / platform.n_actuators
    efforts = [leg.actuator.effort or weight for leg in parameters.legs]
    found["forces"] = (FORCE_SCALE, FORCE_BIAS * max(efforts))
    if parameters.imu is not None:
        imu = parameters.imu
        found["accelerometer"] = _of_triad(imu.accelerometers, 0.05)
        found["gyroscope"] = _of_triad(imu.gyroscopes, 1e-3)
    return found


def _of_triad(triad: Accelerometers | Gyroscopes | None, bias: float) -> tuple[float, float]:
    """Return the spreads of scale and bias; where the file has none, the usual ones."""
    if triad is None:
        return SCALE, bias
    return triad.scale_factor or SCALE, triad.bias or bias


def _errors(platform: MachineModel, signal: str, biases: Sequence[float]) -> list[Parameter]:
    """Return the delay of a signal, and its biases with these spreads."""
    path, words = f"{SIGNAL}{signal}", f"measured {signal}"
    text = f"delay of the {words}"
    found = [Parameter(f"{path}.delay", text, "s", 0.0, DELAY, -LATEST, LATEST)]
    pairs = zip(biases, bias_units(platform, signal), strict=True)
    for column, (bias, unit) in enumerate(pairs):
        whose = f"leg {column + 1}" if is_per_leg(signal, platform) else "xyz"[column % 3]
        turned = "rotation about " if signal == "pose" and unit == "rad" else ""
        text = f"bias of the {words}, {turned}{whose}"
        bounds = (-MOST_SPREADS * bias, MOST_SPREADS * bias)
        found.append(Parameter(f"{path}.bias.{column}", text, unit, 0.0, bias, *bounds))
    return found
