"""Unknowns of the linear stage: coordinates of bodies and numbers in which forces are linear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.identification.parameters.parameter import SIGNAL, TILT, Parameter
from twin.identification.parameters.select import select
from twin.identification.parameters.words import in_words
from twin.machine.body import parallel_axis
from twin.machine.machine import MachineParameters
from twin.machine.randomisation.paths import nominal_value, numeric_paths
from twin.model.machine_model import MachineModel

ENTRIES = (
    *("mass", "center_of_mass.0", "center_of_mass.1", "center_of_mass.2"),
    *("inertia.0.0", "inertia.0.1", "inertia.0.2", "inertia.1.1", "inertia.1.2", "inertia.2.2"),
)
"""Numbers of a rigid body, in the order of its coordinates."""

UPPER = np.triu_indices(3)
"""Of a tensor, in the same order."""

LINEAR = frozenset(
    {
        *("density", "foot_mass", "upper_mass", "spring_mass", "housing_mass", "follower_mass"),
        *("stiffness", "damping", "viscous", "coulomb"),
    }
)
"""Fields of legs in which forces are linear, apart from those of rigid bodies."""

OF_MOTORS = frozenset(
    {
        *("armature_inertia", "moving_mass", "friction", "friction_torque"),
        *("viscous", "viscous_torque"),
    }
)
"""Fields of drives in which the forces of motors are linear."""

ERRORS = f"{SIGNAL}forces."


class Body(NamedTuple):
    """A rigid body of which a parameter is unknown, by the ten numbers of its table."""

    table: str
    """path of the table, such as "leg.rod" """
    numbers: tuple[float, ...]
    """the ten numbers in the file"""

    @property
    def nominal(self) -> FloatArray:
        """The numbers in the file `(10,)`."""
        return np.array(self.numbers)

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths of the ten numbers."""
        return tuple(f"{self.table}.{entry}" for entry in ENTRIES)

    def values(self, given: Mapping[str, float]) -> FloatArray:
        """Return the ten numbers `(10,)` with those that are given by path."""
        pairs = zip(self.paths, self.numbers, strict=True)
        return np.array([given.get(path, value) for path, value in pairs])


def coordinates(numbers: FloatArray) -> FloatArray:
    """Return mass, mass times centre and tensor about the origin `(10,)` of a body's numbers.

    Forces are linear in these. Units: kg, kg m, kg m2.
    """
    mass, center = float(numbers[0]), numbers[1:4]
    about = parallel_axis(mass, center)[UPPER]
    return np.concatenate([[mass], mass * center, numbers[4:] + about])


def coordinate_slopes(numbers: FloatArray) -> FloatArray:
    """Return the derivatives `(10, 10)` of `coordinates` by the numbers of a body."""
    mass, center = float(numbers[0]), numbers[1:4]
    slopes = np.eye(10)
    slopes[1:4, 0] = center
    slopes[1:4, 1:4] = mass * np.eye(3)
    slopes[4:, 0] = parallel_axis(1.0, center)[UPPER]
    for axis in range(3):
        one = np.eye(3)[axis]
        change = 2.0 * center[axis] * np.eye(3) - np.outer(one, center) - np.outer(center, one)
        slopes[4:, 1 + axis] = mass * change[UPPER]
    return slopes


def pseudo_inertia(numbers: FloatArray) -> FloatArray:
    """Return the second moments `(3, 3)` [kg m2] about the centre of mass, of a body's numbers.

    A body is physical if its mass is above zero and this matrix positive definite; the same as a
    positive definite pseudo-inertia matrix.

    Reference:
        P. Wensing, S. Kim and J.-J. Slotine, Linear matrix inequalities for physically consistent
        inertial parameter identification, IEEE Robotics and Automation Letters 3 (2018).
    """
    tensor = np.zeros((3, 3))
    tensor[UPPER] = numbers[4:]
    tensor = tensor + np.triu(tensor, 1).T
    return np.asarray(0.5 * np.trace(tensor) * np.eye(3) - tensor)


def linear_part(
    platform: MachineModel, parameters: Sequence[Parameter], where: str = "legs"
) -> tuple[Parameter, ...]:
    """Return those of the parameters that the linear stage can estimate.

    Args:
        platform: the machine.
        parameters: any.
        where: whether forces are measured on the "legs" or in the "motors".
    """
    return tuple(each for each in parameters if _is_linear(platform, each.path, where))


def of_drives(
    platform: MachineModel, parameters: Sequence[Parameter], where: str
) -> tuple[Parameter, ...]:
    """Return friction and inertia of each drive, but what is among the parameters.

    Forces of motors depend on them: taken for exact, they would make other estimates too sure.

    Args:
        platform: the machine.
        parameters: those that are estimated anyway.
        where: whether forces are measured on the "legs" or in the "motors".
    """
    if where != "motors":
        return ()
    fields = [
        each for each in numeric_paths(platform.parameters) if each.startswith("leg.1.drive.")
    ]
    asked = {each.path.rpartition(".")[2] for each in parameters if ".drive." in each.path}
    unknown = sorted({each.rpartition(".")[2] for each in fields} & OF_MOTORS - asked)
    return select(platform, [f"leg.*.drive.{name}" for name in unknown]) if unknown else ()


def _is_linear(platform: MachineModel, path: str, where: str) -> bool:
    if path.startswith(SIGNAL):
        return path.startswith(ERRORS)
    if path.startswith(TILT) or table_of(platform.parameters, path):
        return True
    keys = path.split(".")
    if "drive" in keys:
        return where == "motors" and keys[-1] in OF_MOTORS
    # A spring in series with its actuator passes the force on, whatever its stiffness.
    series = platform.leg.has_series_spring and keys[-1] in ("stiffness", "damping")
    return keys[0] == "leg" and keys[-1] in LINEAR and not series


@lru_cache(maxsize=1024)
def table_of(machine: MachineParameters, path: str) -> str:
    """Return the table of the rigid body that a path is a number of; empty for none."""
    for entry in ENTRIES:
        table = path.removesuffix(f".{entry}")
        if table != path and not table.startswith(("base", "home", "imu")):
            try:
                for each in ENTRIES:
                    nominal_value(machine, f"{table}.{each}")
            except ValueError:
                return ""
            return table
    return ""


def coordinate_words(table: str) -> tuple[str, ...]:
    """Return what the ten coordinates of a body are."""
    owner = in_words(f"{table}.mass").removeprefix("mass of ")
    moments = [f"moment {'xyz'[k]}" for k in range(3)]
    tensor = [f"tensor {'xyz'[i]}{'xyz'[j]}" for i, j in zip(*UPPER, strict=True)]
    return tuple(f"{name} of {owner}" for name in ("mass", *moments, *tensor))
