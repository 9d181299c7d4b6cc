"""Spreads of the parameters of real machines about the values of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from twin.errors import InputError
from twin.machine.machine import MachineParameters
from twin.machine.randomisation.distributions import AnyDistribution, LogUniform, Uniform
from twin.machine.randomisation.paths import nominal_values, numeric_paths
from twin.machine.randomisation.randomisation import Randomisation

PAYLOAD_MASS = 0.1
"""Share by which the mass on the platform is unknown."""

PAYLOAD_PLACE = 0.05
"""Largest shift of the centre of mass, per mean distance of the platform joints."""

OWN_DRIVE: dict[str, AnyDistribution] = {
    "drive.friction": Uniform(low=0.5, high=1.5, relative=True, each_leg=True),
    "drive.friction_torque": Uniform(low=0.5, high=1.5, relative=True, each_leg=True),
    "drive.viscous": Uniform(low=0.5, high=1.5, relative=True, each_leg=True),
    "drive.viscous_torque": Uniform(low=0.5, high=1.5, relative=True, each_leg=True),
    "drive.backlash": Uniform(low=0.0, high=2.0, relative=True, each_leg=True),
    "friction.viscous": Uniform(low=0.5, high=1.5, relative=True, each_leg=True),
}
"""Values that depend on wear, temperature and lubrication: every leg has its own."""

COMMON_DRIVE: dict[str, AnyDistribution] = {
    "drive.delay": Uniform(low=0.0, high=2.0, relative=True),
    "drive.current_lag": LogUniform(low=0.5, high=2.0, relative=True),
}
"""Values of the electronics: the same for all legs, as they share one controller."""


def hardware_spread(parameters: MachineParameters) -> Randomisation:
    """Return the spread of a machine's payload and drives about the values of its file.

    Mass and inertia of the platform by 10 % either way, together; its centre of mass by 5 % of the
    mean distance of the platform joints along each axis; friction of every drive 0.5 to 1.5 times,
    backlash 0 to 2 times; delay of all drives 0 to 2 times, lag of their current loops 0.5 to 2
    times. Numbers that are zero or left out stay. The bounds are adopted: friction of screws
    changes that much with load, temperature and wear, play is given as a largest value in data
    sheets, and delay depends on where in the cycle a command arrives.

    Raises:
        InputError: a machine without drives.
    """
    if all(leg.drive is None for leg in parameters.legs):
        configuration = parameters.configuration
        known = (
            "; load it with one of its configurations: " + ", ".join(configuration.known)
            if configuration
            else ""
        )
        raise InputError("parameters", f"{parameters.name} has no drives{known}")
    offset = PAYLOAD_PLACE * parameters.mean_arm
    found: dict[str, AnyDistribution] = {
        "platform.body.mass, platform.body.inertia.*.*": Uniform(
            low=1.0 - PAYLOAD_MASS, high=1.0 + PAYLOAD_MASS, relative=True
        )
    }
    for axis in range(3):
        found[f"platform.body.center_of_mass.{axis}"] = Uniform(
            low=-offset, high=offset, offset=True
        )
    found |= dict(_present(parameters))
    return Randomisation(found, "Adopted: wear, temperature, payload and a controller's cycle")


def _present(parameters: MachineParameters) -> Iterator[tuple[str, AnyDistribution]]:
    known = set(numeric_paths(parameters))
    for name, distribution in (OWN_DRIVE | COMMON_DRIVE).items():
        path = f"leg.{name}"
        if path in known and any(nominal_values(parameters, path).values()):
            yield path, distribution


def wide_spread(parameters: MachineParameters) -> Randomisation:
    """Return a spread for policies that shall hold on other machines than the file's.

    That of `hardware_spread`, with mass and inertia of the platform half to twice, together, and
    friction of every drive 0 to 2 times.

    Raises:
        InputError: a machine without drives.
    """
    found = dict(hardware_spread(parameters).distributions)
    for name in found:
        if name.startswith("platform.body.mass"):
            found[name] = LogUniform(low=0.5, high=2.0, relative=True)
        elif "friction" in name:
            found[name] = Uniform(low=0.0, high=2.0, relative=True, each_leg=True)
    return Randomisation(found, "Adopted: another payload, new and worn drives")


SPREADS: dict[str, Callable[[MachineParameters], Randomisation]] = {
    "hardware_spread": hardware_spread,
    "wide_spread": wide_spread,
}
"""Spreads by name."""
