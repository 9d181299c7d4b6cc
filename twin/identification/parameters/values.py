"""A machine, its gravity and its signals with other values of parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_vector
from twin.identification.parameters.parameter import SIGNAL, TILT, Parameter
from twin.logs.signals import TWIST_UNITS, signal_units
from twin.machine.randomisation.paths import with_values
from twin.model.machine_base import Model
from twin.model.machine_model import MachineModel


class SignalErrors(NamedTuple):
    """Errors of one signal: it reads scale * value(t - delay) + bias."""

    scale: float
    bias: FloatArray
    """`(w,)` in the unit of the signal; of a pose a displacement `(6,)` [m], [rad]"""
    delay: float
    """[s]"""


def with_parameters(platform: Model, parameters: Sequence[Parameter], values: Any) -> Model:
    """Return a machine of the same class with values `(p,)` of its parameters, in SI.

    Tilts and errors of signals belong to no machine; see `gravity_field` and `signal_errors`.

    Raises:
        InputError: not p finite numbers, or values that no machine can have (names the paths).
    """
    given = values_by_path(parameters, values)
    own = {each.path: given[each.path] for each in parameters if each.is_of_machine}
    changed = with_values(platform.parameters, own)
    if changed is platform.parameters:
        return platform
    return type(platform)(changed, limits=platform.limits, like=platform)


def values_by_path(parameters: Sequence[Parameter], values: Any) -> dict[str, float]:
    """Return values `(p,)` of parameters by path.

    Raises:
        InputError: not p finite numbers.
    """
    found = as_vector(values, "values", len(parameters))
    paths = [parameter.path for parameter in parameters]
    return dict(zip(paths, found.tolist(), strict=True))


def gravity_field(
    platform: MachineModel, parameters: Sequence[Parameter], values: Any
) -> FloatArray:
    """Return the field of gravity `(3,)` [m/s2] in base axes, for a base that is tilted.

    The tilts are the components of one rotation vector from level axes to those of the base. An
    engine feels the same with a base that is accelerated by the level field minus this one.

    Raises:
        InputError: not p finite numbers.
    """
    given = values_by_path(parameters, values)
    x, y = (given.get(f"{TILT}{axis}", 0.0) for axis in "xy")
    angle = math.hypot(x, y)
    share = float(np.sinc(angle / math.pi))
    gravity = given.get("gravity", platform.parameters.gravity)
    return gravity * np.array([y * share, -x * share, -math.cos(angle)])


def bias_units(platform: MachineModel, signal: str) -> tuple[str, ...]:
    """Return the units of the biases of a signal: those of its columns, six of a pose."""
    if signal == "pose":
        return tuple(unit.removesuffix("/s") for unit in TWIST_UNITS)
    return signal_units(platform)[signal]


def signal_errors(
    platform: MachineModel, parameters: Sequence[Parameter], values: Any
) -> dict[str, SignalErrors]:
    """Return the errors of those signals of which a parameter is among the given, by signal.

    Raises:
        InputError: not p finite numbers.
    """
    found: dict[str, SignalErrors] = {}
    for path, value in values_by_path(parameters, values).items():
        if not path.startswith(SIGNAL):
            continue
        _, signal, error, *column = path.split(".")
        width = len(bias_units(platform, signal))
        old = found.get(signal, SignalErrors(1.0, np.zeros(width), 0.0))
        if error == "bias":
            bias = old.bias.copy()
            bias[int(column[0])] = value
            found[signal] = old._replace(bias=bias)
        elif error == "scale":
            found[signal] = old._replace(scale=value)
        else:
            found[signal] = old._replace(delay=value)
    return found
