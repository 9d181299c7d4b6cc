"""Parameters that logs can identify: groups, paths, priors, and machines with other values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from typing import Any, Literal, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_vector
from twin.errors import InputError, brief
from twin.logs.log import TWIST_UNITS, is_per_leg, signal_units
from twin.machine.hardware.drive import Accelerometers, Gyroscopes
from twin.machine.machine import MachineParameters
from twin.machine.quantity import to_si
from twin.machine.randomisation.sampler import nominal_values, numeric_paths, unit_at, with_values
from twin.model.machine_base import Model
from twin.model.machine_model import MachineModel, as_model

FIELD_LABELS = {
    "center_of_mass": "centre of mass",
    "coulomb": "dry friction",
    "viscous": "viscous friction",
    "friction": "dry friction",
    "friction_torque": "dry friction torque",
    "viscous_torque": "viscous friction torque",
    "stribeck_speed": "Stribeck speed",
    "armature_inertia": "inertia of the armature",
}
"""Labels of the fields that are not called by their own name."""

TABLE_LABELS = {
    "axial": "axial spring",
    "friction": "foot",
    "imu": "inertial sensor",
    "body": "platform body",
}
"""Labels of the tables that are not called by their own name."""

SIGNED_FIELDS = frozenset(
    {
        *("center_of_mass", "coordinates", "position", "attitude", "start", "zero", "first_axis"),
        *("height", "center_angle", "frame_angle", "axis_angles", "bias", "tilt"),
    }
)
"""Keys of parameters that may be negative."""

MAY_VANISH = frozenset(
    {
        *("friction", "friction_torque", "viscous", "viscous_torque", "coulomb", "backlash"),
        *("delay", "current_lag", "foot_mass", "upper_mass"),
    }
)
"""Keys of parameters that may be zero."""

MAX_TILT = 0.1
"""[rad] Largest tilt of the base."""

MAX_DELAY = 0.05
"""[s] Largest delay of a signal, to both sides."""

POSE_BIAS_PRIOR = (1e-3, 2e-3)
"""Prior standard deviations of the frame of a tracker: of its place [m] and of its rotation [rad].
"""

MAX_BIAS_SPREADS = 20.0
"""Distance from the nominal value to the bounds of a bias, in prior standard deviations."""


AXIS_NAMES = ("x", "y", "z")
"""Names of the axes."""

ANGLE_NAMES = ("yaw", "pitch", "roll")
"""Names of the angles."""


def parameter_label(path: str) -> str:
    """Return what a numeric path of platform.toml means, such as "mass of the platform body"."""
    keys = path.split(".")
    leg = ""
    if keys[0] == "leg":
        is_one_leg = keys[1].isdecimal()
        leg = f"of leg {keys[1]}" if is_one_leg else "of all legs"
        keys = keys[2:] if is_one_leg else keys[1:]
    if keys[:2] == ["platform", "body"]:
        keys = keys[1:]
    names = [key for key in keys if not key.isdecimal()]
    field_label = _field_label(names[-1], [int(key) for key in keys if key.isdecimal()])
    table_labels = [TABLE_LABELS.get(name, name.replace("_", " ")) for name in names[:-1]]
    return " ".join(
        [field_label, *(f"of the {table_label}" for table_label in reversed(table_labels)), leg]
    ).strip()


def _field_label(name: str, indices: list[int]) -> str:
    """Return the label of a field with the axes or joints of its indices."""
    label = FIELD_LABELS.get(name, name.replace("_", " ").replace("center", "centre"))
    if not indices:
        return label
    if name == "inertia":
        return f"{label} {''.join(AXIS_NAMES[index] for index in indices)}"
    if name == "attitude":
        return ANGLE_NAMES[indices[0]]
    if len(indices) == 2 and indices[1] < len(AXIS_NAMES):
        return f"{AXIS_NAMES[indices[1]]} of joint {indices[0] + 1}"
    return f"{label} {indices[0] + 1 if indices[0] > 2 else AXIS_NAMES[indices[0]]}"


TILT_PREFIX = "tilt."
"""Beginning of the paths of the tilts, which no platform.toml has."""

SIGNAL_PREFIX = "signal."
"""Beginning of the paths of the errors of signals, which no platform.toml has."""

TERM_PREFIX = "term."
"""Beginning of the paths of free terms: effects that the machine's model leaves out, such as a
cable or warming. No platform.toml has them."""


@dataclass(frozen=True)
class Parameter:
    """A parameter with its data-sheet value, its prior standard deviation and its bounds, in SI."""

    path: str
    """numeric path of platform.toml, or one that begins with "tilt.", "signal." or "term." """
    label: str
    """description, such as "mass of the platform body", for reports"""
    unit: str
    """SI unit; empty for none"""
    nominal: float
    """value of the file or data sheet"""
    prior_std: float
    """standard deviation of the prior, above zero"""
    lower: float
    """smallest value that is possible"""
    upper: float
    """largest value that is possible"""

    def __post_init__(self) -> None:
        """Check that the numbers are finite and fit together."""
        for field in fields(self)[3:]:
            if not math.isfinite(getattr(self, field.name)):
                raise InputError(f"{self.path}.{field.name}", "must be a finite number")
        if not self.prior_std > 0.0:
            raise InputError(
                f"{self.path}.prior_std", f"must be above zero, not {self.prior_std:g}"
            )
        if not self.lower <= self.nominal <= self.upper or not self.lower < self.upper:
            bounds = f"{self.lower:g} to {self.upper:g} {self.unit}"
            raise InputError(self.path, f"{self.nominal:g} {self.unit} is not inside {bounds}")

    @property
    def is_of_machine(self) -> bool:
        """Whether it is a number of platform.toml; else a tilt, an error of a signal, or a term."""
        return not self.path.startswith((TILT_PREFIX, SIGNAL_PREFIX, TERM_PREFIX))

    @property
    def leg(self) -> int | None:
        """Index (from 0) of the leg if it belongs to one leg alone; else None."""
        match = re.match(r"leg\.(\d+)\.", self.path)
        return int(match[1]) - 1 if match else None


def nominal_array(parameters: Sequence[Parameter]) -> FloatArray:
    """Return the nominal values `(p,)` of parameters in SI."""
    return np.array([parameter.nominal for parameter in parameters])


def prior_std_array(parameters: Sequence[Parameter]) -> FloatArray:
    """Return the prior standard deviations `(p,)` of parameters in SI."""
    return np.array([parameter.prior_std for parameter in parameters])


def bounds_array(parameters: Sequence[Parameter]) -> FloatArray:
    """Return the lower and the upper bounds `(2, p)` of parameters in SI."""
    return np.array([[parameter.lower, parameter.upper] for parameter in parameters]).T


class PriorStd(NamedTuple):
    """Standard deviation of a prior: `amount` times a reference quantity of the machine."""

    amount: float
    of: Literal["value", "arm", "moment", "unit"] = "value"
    """the value itself; the mean distance of the platform joints; the mean moment of inertia of
    the same body; or the SI unit"""


PAYLOAD_PRIORS = {
    "platform.body.mass": PriorStd(0.10),
    "platform.body.center_of_mass.*": PriorStd(0.05, "arm"),
    "platform.body.inertia.*": PriorStd(0.20, "moment"),
}
"""Prior standard deviations of the platform with what is fixed to it, which is often only guessed.
"""

PLATFORM_PRIORS = {
    "platform.body.mass": PriorStd(0.02),
    "platform.body.center_of_mass.*": PriorStd(0.01, "arm"),
    "platform.body.inertia.*": PriorStd(0.05, "moment"),
}
"""Prior standard deviations of the same numbers where a drawing gives them."""

LEG_PRIORS = {
    "leg.*.mass": PriorStd(0.05),
    "leg.*.center_of_mass.*": PriorStd(0.02, "arm"),
    "leg.*.inertia.*": PriorStd(0.10, "moment"),
    "leg.*.density": PriorStd(0.05),
    "leg.foot_mass": PriorStd(0.05),
    "leg.upper_mass": PriorStd(0.05),
    "leg.spring_mass": PriorStd(0.05),
    "leg.housing_mass": PriorStd(0.05),
    "leg.follower_mass": PriorStd(0.05),
    "leg.axial.stiffness": PriorStd(0.20),
    "leg.axial.damping": PriorStd(0.50),
    "leg.stiffness": PriorStd(0.20),
    "leg.damping": PriorStd(0.50),
}
"""Prior standard deviations of bodies and springs of the legs."""

FRICTION_PRIORS = {
    "leg.drive.friction": PriorStd(0.30),
    "leg.drive.friction_torque": PriorStd(0.30),
    "leg.drive.viscous": PriorStd(0.30),
    "leg.drive.viscous_torque": PriorStd(0.30),
    "leg.drive.breakaway": PriorStd(0.15, "unit"),
    "leg.drive.stribeck_speed": PriorStd(0.50),
    "leg.friction.coulomb": PriorStd(0.30),
    "leg.friction.viscous": PriorStd(0.30),
    "leg.friction.transition_speed": PriorStd(0.50),
}
"""Prior standard deviations of friction: it changes that much with load, temperature and wear
(`hardware_spread`).
"""

DRIVE_PRIORS = {
    "leg.drive.delay": PriorStd(0.50),
    "leg.drive.current_lag": PriorStd(0.40),
    "leg.drive.backlash": PriorStd(0.50),
    "leg.drive.stiffness": PriorStd(0.20),
    "leg.drive.damping": PriorStd(0.50),
    "leg.drive.armature_inertia": PriorStd(0.10),
    "leg.drive.moving_mass": PriorStd(0.10),
    "signal.forces.scale": PriorStd(0.05, "unit"),
}
"""Prior standard deviations of the drives; the scale of measured forces is the error of the torque
constant, where currents give them.
"""

TILT_PRIORS = {"tilt.x": PriorStd(5e-3, "unit"), "tilt.y": PriorStd(5e-3, "unit")}
"""Prior standard deviations of the tilts of the base [rad]: 5 mm/m, as of a floor that was not
levelled.
"""

SENSOR_PRIORS = {
    "signal.*": PriorStd(1.0),
    "imu.position.*": PriorStd(5e-3, "unit"),
    "imu.attitude.*": PriorStd(1e-2, "unit"),
}
"""Prior standard deviations of the errors of sensors; `added_parameters` has those of signals, and
the 1.0 here is not used.
"""

TERM_GROUPS: dict[str, dict[str, PriorStd]] = {
    "cable": {"term.cable.*": PriorStd(1.0)},
    "motor_constants": {"term.motor.*": PriorStd(1.0)},
    "friction_drift": {"term.friction.drift.*": PriorStd(1.0)},
    "load_friction": {"term.friction.load": PriorStd(1.0)},
    "lugre": {
        "term.friction.presliding": PriorStd(1.0),
        "term.friction.bristle_time": PriorStd(1.0),
    },
    "leads": {"term.lead.*": PriorStd(1.0)},
    "pendulum": {"term.pendulum.*": PriorStd(1.0)},
}
"""Groups of free terms; `added_parameters` has their priors, and the 1.0 here is not used."""

PARAMETER_GROUPS: dict[str, dict[str, PriorStd]] = {
    "payload": PAYLOAD_PRIORS,
    "platform": PLATFORM_PRIORS,
    "legs": LEG_PRIORS,
    "friction": FRICTION_PRIORS,
    "drives": DRIVE_PRIORS,
    "gravity": TILT_PRIORS,
    "sensors": SENSOR_PRIORS,
    **TERM_GROUPS,
}
"""Patterns of paths by name of the group."""

OTHER_PRIORS = {
    "*.joints.radius": PriorStd(2e-4, "unit"),
    "*.joints.height": PriorStd(2e-4, "unit"),
    "*.joints.coordinates.*": PriorStd(2e-4, "unit"),
    "*.joints.*": PriorStd(1e-3, "unit"),
    "home.position.*": PriorStd(5e-4, "unit"),
    "*": PriorStd(0.05),
}
"""Prior standard deviations of paths of no group; the first pattern that fits counts."""


class SignalErrors(NamedTuple):
    """Errors of one signal: it reads scale * value(t - delay) + bias."""

    scale: float
    bias: FloatArray
    """`(w,)` bias in the unit of the signal; of a pose a displacement `(6,)` [m], [rad]"""
    delay: float
    """delay of the signal [s]"""


def with_parameters(platform: Model, parameters: Sequence[Parameter], values: Any) -> Model:
    """Return a machine of the same class with values `(p,)` of its parameters, in SI.

    Tilts and errors of signals belong to no machine; see `gravity_field` and `signal_errors`.

    Raises:
        InputError: not p finite numbers, or values that no machine can have (names the paths).
    """
    value_of_path = values_by_path(parameters, values)
    of_machine = {
        parameter.path: value_of_path[parameter.path]
        for parameter in parameters
        if parameter.is_of_machine
    }
    changed_parameters = with_values(platform.parameters, of_machine)
    if changed_parameters is platform.parameters:
        return platform
    return type(platform)(changed_parameters, limits=platform.limits, like=platform)


def values_by_path(parameters: Sequence[Parameter], values: Any) -> dict[str, float]:
    """Return values `(p,)` of parameters by path.

    Raises:
        InputError: not p finite numbers.
    """
    checked_values = as_vector(values, "values", len(parameters))
    paths = [parameter.path for parameter in parameters]
    return dict(zip(paths, checked_values.tolist(), strict=True))


def gravity_field(
    platform: MachineModel, parameters: Sequence[Parameter], values: Any
) -> FloatArray:
    """Return the field of gravity `(3,)` [m/s2] in base axes, for a base that is tilted.

    The tilts are the components of one rotation vector from level axes to those of the base. An
    engine feels the same with a base that is accelerated by the level field minus this one.

    Raises:
        InputError: not p finite numbers.
    """
    value_of_path = values_by_path(parameters, values)
    x, y = (value_of_path.get(f"{TILT_PREFIX}{axis}", 0.0) for axis in "xy")
    angle = math.hypot(x, y)
    sinc = float(np.sinc(angle / math.pi))
    gravity = value_of_path.get("gravity", platform.parameters.gravity)
    return gravity * np.array([y * sinc, -x * sinc, -math.cos(angle)])


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
    errors: dict[str, SignalErrors] = {}
    for path, value in values_by_path(parameters, values).items():
        if not path.startswith(SIGNAL_PREFIX):
            continue
        _, signal, error, *column = path.split(".")
        width = len(bias_units(platform, signal))
        previous = errors.get(signal, SignalErrors(1.0, np.zeros(width), 0.0))
        if error == "bias":
            bias = previous.bias.copy()
            bias[int(column[0])] = value
            errors[signal] = previous._replace(bias=bias)
        elif error == "scale":
            errors[signal] = previous._replace(scale=value)
        else:
            errors[signal] = previous._replace(delay=value)
    return errors


DELAY_PRIOR = 1e-3
"""[s] Prior standard deviation of a delay."""

SCALE_PRIOR = 1e-3
"""Prior standard deviation of a scale."""

BIAS_PRIOR = 2e-3
"""Prior standard deviation of a bias, as a fraction of the range of the signal."""

FORCE_SCALE_PRIOR = 0.05
"""Prior standard deviation of the scale of forces, which drives compute from currents and a torque
constant.
"""

FORCE_BIAS_PRIOR = 0.01
"""Prior standard deviation of the bias of forces, as a fraction of their range."""


def added_parameters(platform: MachineModel) -> dict[str, Parameter]:
    """Return tilts, scale, delay and biases of each signal, and free terms, by path.

    A signal is read as scale * value(t - delay) + bias; poses have no scale. An inertial sensor has
    errors of its own only where the machine has one.
    """
    parameters = []
    if platform.parameters.gravity > 0.0:
        for axis in "xy":
            label = f"tilt of the base about its {axis} axis"
            bounds = (-MAX_TILT, MAX_TILT)
            parameters.append(Parameter(f"{TILT_PREFIX}{axis}", label, "rad", 0.0, 5e-3, *bounds))
    for signal, (scale_std, bias_std) in _signal_priors(platform).items():
        stds = [bias_std] * len(bias_units(platform, signal))
        label = f"scale of the measured {signal}"
        path = f"{SIGNAL_PREFIX}{signal}.scale"
        parameters.append(Parameter(path, label, "", 1.0, scale_std, 0.5, 2.0))
        parameters += _delay_and_biases(platform, signal, stds)
    position_std, rotation_std = POSE_BIAS_PRIOR
    parameters += _delay_and_biases(platform, "pose", [position_std] * 3 + [rotation_std] * 3)
    parameters += _terms(platform)
    return {parameter.path: parameter for parameter in parameters}


CABLE_FORCE_PRIOR = 0.05
"""Prior standard deviation of the force with which supply cables or hoses pull at the platform, as
a fraction of its weight."""

PENDULUM_FREQUENCY = (1.0, 0.5)
"""[Hz] Nominal frequency of what swings in the payload, and its prior standard deviation."""

PENDULUM_MASS_PRIOR = 0.1
"""Prior standard deviation of what swings, as a fraction of the mass of the platform."""

DRIFT_PRIOR = 0.3
"""Prior standard deviation of the relative change of friction over a recording."""

LOAD_FRICTION_PRIOR = 0.05
"""Prior standard deviation of the dry friction per force of a leg."""


PRESLIDING_PRIOR = 1e-5
"""[m] Prior standard deviation of the way over which friction rises before a motor slides. That
of cranks is divided by the mean distance of the platform joints."""

BRISTLE_TIME_PRIOR = 1e-3
"""[s] Prior standard deviation of the damping of friction's bristles over their stiffness."""

LEAD_PRIOR = 1e-3
"""Prior standard deviation of the lead of a screw, relative to the lead in the file."""


def _terms(platform: MachineModel) -> list[Parameter]:
    """Return the parameters of the effects that a machine's model leaves out (free terms)."""
    machine, n = platform.parameters, platform.n_actuators
    arm, mass = machine.mean_arm, machine.platform.body.mass
    pull = CABLE_FORCE_PRIOR * mass * max(machine.gravity, 1.0)
    frequency, frequency_std = PENDULUM_FREQUENCY

    def term(
        path: str, label: str, unit: str, std: float, nominal: float = 0.0, lower: float = -np.inf
    ) -> Parameter:
        lowest = max(lower, nominal - MAX_PRIOR_STDS * std)
        upper = nominal + MAX_PRIOR_STDS * std
        return Parameter(f"{TERM_PREFIX}{path}", label, unit, nominal, std, lowest, upper)

    terms = [
        *(term(f"cable.force.{k}", f"force of the cable, {'xyz'[k]}", "N", pull) for k in range(3)),
        term("cable.stiffness", "stiffness of the cable", "N/m", 10.0 * pull / arm),
        *(term(f"cable.point.{k}", f"point of the cable, {'xyz'[k]}", "m", arm) for k in range(3)),
        term("pendulum.mass", "mass that swings", "kg", PENDULUM_MASS_PRIOR * mass, lower=0.0),
        term("pendulum.frequency", "frequency of the swing", "Hz", frequency_std, frequency, 0.1),
        term("pendulum.damping", "damping ratio of the swing", "", 0.03, 0.03, 0.0),
    ]
    if any(leg.drive is None for leg in machine.legs):
        return terms
    unit = platform.coordinate_unit
    presliding = PRESLIDING_PRIOR / (1.0 if unit == "m" else arm)
    drift, sliding = "drift of friction over a log", "deflection before friction slides"
    bristles, load = "damping time of friction's bristles", "dry friction per force of a leg"
    constant, lead = "constant of the motor of leg {}, over the mean", "lead of the screw of leg {}"
    return [
        *terms,
        term("friction.drift.0", f"{drift}, linear", "", DRIFT_PRIOR),
        term("friction.drift.1", f"{drift}, quadratic", "", DRIFT_PRIOR),
        term("friction.load", load, "", LOAD_FRICTION_PRIOR, lower=0.0),
        term("friction.presliding", sliding, unit, presliding, lower=0.0),
        term("friction.bristle_time", bristles, "s", BRISTLE_TIME_PRIOR, lower=0.0),
        *(
            term(
                f"lead.{k + 1}", f"{lead.format(k + 1)}, over the file's", "", LEAD_PRIOR, 1.0, 0.5
            )
            for k in range(n)
        ),
        *(
            term(f"motor.constant.{k}", constant.format(k), "", FORCE_SCALE_PRIOR, 1.0, 0.5)
            for k in range(1, n)
        ),
    ]


def _signal_priors(platform: MachineModel) -> dict[str, tuple[float, float]]:
    """Return the prior standard deviations of scale and bias of each signal."""
    priors = {"coordinates": (SCALE_PRIOR, BIAS_PRIOR * float(platform.stroke.mean()))}
    parameters = platform.parameters
    weight = parameters.platform.body.mass * max(parameters.gravity, 1.0) / platform.n_actuators
    efforts = [leg.actuator.effort or weight for leg in parameters.legs]
    priors["forces"] = (FORCE_SCALE_PRIOR, FORCE_BIAS_PRIOR * max(efforts))
    if parameters.imu is not None:
        imu = parameters.imu
        priors["accelerometer"] = _of_triad(imu.accelerometers, 0.05)
        priors["gyroscope"] = _of_triad(imu.gyroscopes, 1e-3)
    return priors


def _of_triad(triad: Accelerometers | Gyroscopes | None, bias: float) -> tuple[float, float]:
    """Return prior standard deviations of scale and bias; defaults where the file has none."""
    if triad is None:
        return SCALE_PRIOR, bias
    return triad.scale_factor or SCALE_PRIOR, triad.bias or bias


def _delay_and_biases(platform: MachineModel, signal: str, stds: list[float]) -> list[Parameter]:
    """Return the delay of a signal, and its biases with these prior standard deviations."""
    path, label = f"{SIGNAL_PREFIX}{signal}", f"measured {signal}"
    text = f"delay of the {label}"
    parameters = [Parameter(f"{path}.delay", text, "s", 0.0, DELAY_PRIOR, -MAX_DELAY, MAX_DELAY)]
    pairs = zip(stds, bias_units(platform, signal), strict=True)
    for column, (std, unit) in enumerate(pairs):
        whose = f"leg {column + 1}" if is_per_leg(signal, platform) else "xyz"[column % 3]
        axis_prefix = "rotation about " if signal == "pose" and unit == "rad" else ""
        text = f"bias of the {label}, {axis_prefix}{whose}"
        bounds = (-MAX_BIAS_SPREADS * std, MAX_BIAS_SPREADS * std)
        parameters.append(Parameter(f"{path}.bias.{column}", text, unit, 0.0, std, *bounds))
    return parameters


MIN_VALUE_FRACTION = 0.02
"""Lower bound of a number that stays above zero, as a fraction of its value."""

MAX_VALUE_RATIO = 10.0
"""Upper bound of a number that stays above zero, over its value."""

MAX_PRIOR_STDS = 20.0
"""Distance of the bounds of other numbers from their values, in prior standard deviations."""


def groups_of(platform: MachineModel) -> tuple[str, ...]:
    """Return the groups of which a machine has at least one parameter."""
    extra_parameters = added_parameters(as_model(platform))
    return tuple(name for name in PARAMETER_GROUPS if _of_group(platform, name, extra_parameters))


def select(
    platform: MachineModel,
    names: str | Iterable[str],
    spreads: Mapping[str, float | str] | None = None,
) -> tuple[Parameter, ...]:
    """Return parameters of a machine, each once, in the order of the names.

    Args:
        platform: the machine.
        names: groups (`PARAMETER_GROUPS`), numeric paths of platform.toml, paths of tilts
            ("tilt.x") and of errors of signals ("signal.forces.scale"), or patterns of them with
            `*`; a list, or one text with commas. A path below "leg." is one parameter of all legs,
            or one for each where they differ. A group leaves out what is zero in the file.
        spreads: prior standard deviations in place of the defaults, by path: in SI or with a unit.

    Raises:
        InputError: a group, path or pattern that the machine does not have, a number that cannot
            be identified, or a spread that is missing or not above zero.
    """
    as_model(platform)
    given_names = names.split(",") if isinstance(names, str) else list(names)
    if not given_names or not all(isinstance(name, str) and name.strip() for name in given_names):
        raise InputError("parameters", f"must be names of groups or paths, not {brief(names)}")
    extra_parameters, selected = added_parameters(platform), dict[str, Parameter]()
    user_stds = {
        path: _user_std(platform, path, value, extra_parameters)
        for path, value in dict(spreads or {}).items()
    }
    for name in map(str.strip, given_names):
        for path, prior in _paths(platform, name, extra_parameters).items():
            parameters = _parameters(platform, path, prior, extra_parameters, user_stds)
            if not parameters and path == name:
                raise InputError(path, "is zero in the file, so its spread has to be given")
            for parameter in parameters:
                selected.setdefault(parameter.path, parameter)
    unused = sorted(user_stds.keys() - selected.keys())
    if unused:
        raise InputError(f"spreads[{unused[0]!r}]", "is no path of the selected parameters")
    return tuple(selected.values())


def _user_std(
    platform: MachineModel, path: str, value: float | str, extra: dict[str, Parameter]
) -> float:
    """Return a standard deviation that the user gives, in SI."""
    try:
        unit = extra[path].unit if path in extra else unit_at(platform.parameters, path)
        prior_std = to_si(value, unit)
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"spreads[{path!r}]", str(error)) from None
    if not prior_std > 0.0:
        raise InputError(f"spreads[{path!r}]", f"must be above zero, not {prior_std:g}")
    return prior_std


def _paths(platform: MachineModel, name: str, extra: dict[str, Parameter]) -> dict[str, PriorStd]:
    """Return the paths of one name, a group, a pattern or a path, with their priors.

    Raises:
        InputError: the machine has none of that name.
    """
    paths: dict[str, PriorStd] = {}
    if name in PARAMETER_GROUPS:
        paths = _of_group(platform, name, extra)
        message = f"has none of the group {name!r}; it has {', '.join(groups_of(platform))}"
        message += _configurations_hint(platform)
    elif "*" in name:
        known = (path for path in _known(platform, extra) if fnmatchcase(path, name))
        paths = {path: _default_prior(path) for path in known}
        message = f"has no path like {name!r}"
    elif name.startswith((TILT_PREFIX, SIGNAL_PREFIX, TERM_PREFIX)) and name not in extra:
        message = f"has no {name!r}; known: {', '.join(extra)}"
    elif "." not in name:
        known_groups = f"groups ({', '.join(groups_of(platform))}) or a path with dots"
        message = f"has no group {name!r}; name one of the {known_groups}"
    else:  # a path that the machine may not have: reading its value says so
        return {name: _default_prior(name)}
    if not paths:
        raise InputError("parameters", f"{platform.name} {message}")
    return paths


def _configurations_hint(platform: MachineModel) -> str:
    """Return a sentence on the machine's configurations; empty if it has none."""
    configuration = platform.parameters.configuration
    names = ", ".join(configuration.known) if configuration else ""
    return f". Its configurations may have more: {names}" if names else ""


def _known(platform: MachineModel, extra: dict[str, Parameter]) -> tuple[str, ...]:
    return (*numeric_paths(platform.parameters), *extra)


def _of_group(
    platform: MachineModel, group: str, extra: dict[str, Parameter]
) -> dict[str, PriorStd]:
    """Return the paths of a group with their priors; those of legs are common to all legs."""
    priors: dict[str, PriorStd] = {}
    for path in _known(platform, extra):
        if path.startswith("leg.") and path.split(".")[1].isdecimal():
            continue
        for pattern, prior in PARAMETER_GROUPS[group].items():
            is_present = path in extra or any(nominal_values(platform.parameters, path).values())
            if fnmatchcase(path, pattern) and (is_present or prior.of != "value"):
                priors.setdefault(path, prior)
    return priors


def _default_prior(path: str) -> PriorStd:
    """Return the prior of a path that is named alone: that of the first group which has it."""
    keys = path.split(".")
    common_path = ".".join([keys[0], *keys[2:]]) if keys[1:2] and keys[1].isdecimal() else path
    return next(
        prior
        for group in (*PARAMETER_GROUPS.values(), OTHER_PRIORS)
        for pattern, prior in group.items()
        if fnmatchcase(common_path, pattern)
    )


def _parameters(
    platform: MachineModel,
    path: str,
    prior: PriorStd,
    extra: dict[str, Parameter],
    own: dict[str, float],
) -> list[Parameter]:
    """Return the parameter of a path, or one for each leg where legs differ; none without prior."""
    if path in extra:
        return [replace(extra[path], prior_std=own.get(path, extra[path].prior_std))]
    machine, parameters = platform.parameters, []
    for single_path, value in nominal_values(machine, path).items():
        prior_std = (
            own.get(single_path) or own.get(path) or _prior_std(machine, single_path, prior, value)
        )
        if prior_std:
            parameters.append(_parameter(machine, single_path, value, prior_std))
    return parameters


def _prior_std(machine: MachineParameters, path: str, prior: PriorStd, value: float) -> float:
    """Return a standard deviation in the unit of the number."""
    reference = abs(value)
    if prior.of == "unit":
        reference = 1.0
    elif prior.of == "arm":
        reference = machine.mean_arm
    elif prior.of == "moment":
        body, _, entry = path.rpartition(".inertia.")
        moments = [nominal_values(machine, f"{body}.inertia.{k}.{k}") for k in entry.split(".")]
        reference = math.sqrt(math.prod(max(moment_of_axis.values()) for moment_of_axis in moments))
    return prior.amount * reference


def _parameter(machine: MachineParameters, path: str, value: float, prior_std: float) -> Parameter:
    """Return the parameter at a path with its label and bounds."""
    keys = path.split(".")
    unit = unit_at(machine, path)
    if keys[-1] in ("counts", "analogue_bits", "microsteps"):
        raise InputError(path, "is a whole number, which logs cannot identify")
    entries = keys[-2:] if "inertia" in keys else []
    signed = SIGNED_FIELDS.intersection(keys) or len(set(entries)) == 2 or value < 0.0
    lower, upper = value - MAX_PRIOR_STDS * prior_std, value + MAX_PRIOR_STDS * prior_std
    if not signed:
        min_value = 1.0 if keys[-1] == "breakaway" else MIN_VALUE_FRACTION * value
        lower = 0.0 if MAY_VANISH.intersection(keys) else min_value
        upper = max(MAX_VALUE_RATIO * value, MAX_PRIOR_STDS * prior_std)
    return Parameter(path, parameter_label(path), unit, value, prior_std, lower, upper)
