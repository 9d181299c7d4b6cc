"""A machine with its platform's body scaled: forces are affine in the body's mass."""

from __future__ import annotations

from math import floor, inf
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, one_of, positive, read_only
from twin.errors import InputError
from twin.machine.machine import MachineParameters
from twin.model.machine_model import MachineModel, as_model
from twin.simulation.platform import Platform

SENSES = ("magnitude", "signed")
"""Whether pulling counts as much as pushing, or only forces above the limit do."""


START_KG, STEP_KG = 600.0, 50.0
"""Stewart thesis, section 4.2.1."""

SAME = 1e-9
"""Relative difference of masses that is rounding."""


class AffineForces(NamedTuple):
    """Actuator forces that grow with the mass of the body: fixed + mass * per_kilogram."""

    fixed: FloatArray
    """`(..., n)` [N] or [N m] of a body without mass"""
    per_kilogram: FloatArray
    """`(..., n)`"""

    def of(self, mass: Any) -> FloatArray:
        """Return the forces `(..., n)` with a body of this mass [kg]."""
        return np.asarray(self.fixed + mass * self.per_kilogram)

    def largest_mass(self, limits: FloatArray, sense: str) -> FloatArray:
        """Return, per force `(..., n)`, the mass [kg] up to which it keeps its limit.

        Zero where the legs alone exceed it, infinite where more mass never does.
        """
        sides = (1.0, -1.0) if sense == "magnitude" else (1.0,)
        found = [_largest(side * self.fixed, side * self.per_kilogram, limits) for side in sides]
        return np.asarray(np.minimum.reduce(found))


class ScaledPayload:
    """A machine whose body keeps its geometry and changes its mass.

    Attributes:
        platform: the machine as it is.
        limits: `(n,)` largest forces [N] or torques [N m], read-only.
    """

    def __init__(self, platform: MachineModel, limit: Any = None) -> None:
        """Prepare the machine.

        Args:
            platform: the machine.
            limit: largest force [N] or torque [N m], one for all actuators or `(n,)`; default what
                its file gives.

        Raises:
            InputError: not a machine, legs that give way under load, no limit known, or no gravity.
        """
        self.platform = as_model(platform)
        if platform.leg.has_spring:
            raise InputError(
                "platform",
                f"{platform.name} has {platform.kind} legs, which give way under load: where the "
                "platform is depends on the payload. Searched are machines with legs that have no "
                "springs; for springs see twin.analysis.stiffness.sag",
            )
        self.limits = read_only(_limits(platform, limit))
        self._mass = platform.parameters.platform.body.mass
        self._double = scaled_payload(platform, 2.0 * self._mass)

    def forces(self, pose: Any, twist: Any, acceleration: Any) -> AffineForces:
        """Return the forces `(..., n)` of motions `(..., 7)`, `(..., 6)`, `(..., 6)`.

        Raises:
            InputError: wrong shapes, not finite, a motion the machine cannot have.
            UnreachablePoseError: a leg cannot reach a pose.
            SingularPoseError: a pose is singular.
        """
        once, twice = (
            machine.inverse_dynamics(pose, twist, acceleration)
            for machine in (self.platform, self._double)
        )
        return AffineForces(2.0 * once - twice, (twice - once) / self._mass)


def scaled_payload(platform: MachineModel, mass: Any) -> Platform:
    """Return the machine with a platform body of that mass [kg], its tensor scaled along.

    Raises:
        InputError: not a machine, or not a number above zero.

    Reference:
        Stewart thesis, section 4.2.1: "payload increment units" keep the geometry.
    """
    content = as_model(platform).parameters.model_dump()
    kilograms = positive(mass, "mass")
    body = content["platform"]["body"]
    body["inertia"] = (np.array(body["inertia"]) * (kilograms / body["mass"])).tolist()
    body["mass"] = kilograms
    return Platform(MachineParameters.model_validate(content))


def first_lowest(masses: FloatArray) -> tuple[int, int]:
    """Return row and column of the lowest of masses `(k, n)`, of equal ones the first.

    A symmetrical machine has several, which differ by rounding.
    """
    first = int((masses <= masses.min() * (1.0 + SAME)).argmax())
    return first // masses.shape[1], first % masses.shape[1]


def as_sense(sense: Any) -> str:
    """Return a checked sense; raises InputError listing the known ones."""
    return one_of(sense, "sense", SENSES)


class MassSteps(NamedTuple):
    """Neighbours among the masses tried: the last that holds, the first that does not."""

    passes: float | None
    """[kg]; None: not even the first mass above zero"""
    fails: float | None
    """[kg]; None: every mass holds"""


def mass_steps(exact: float, start: Any, step: Any) -> MassSteps:
    """Return where a search that begins at `start` and adds `step` [kg] ends.

    Masses below the start are tried too, so that a start that is too heavy is no error.

    Raises:
        InputError: start or step are no numbers above zero.
    """
    first, width = positive(start, "start"), positive(step, "step")
    if exact == inf:
        return MassSteps(inf, None)
    count = floor((exact - first) / width)
    passes = first + count * width
    if passes > 0.0:
        return MassSteps(passes, first + (count + 1) * width)
    return MassSteps(None, first - floor(first / width) * width or width)


def _limits(platform: MachineModel, limit: Any) -> FloatArray:
    n = platform.n_actuators
    if limit is None:
        given = [leg.actuator.effort for leg in platform.parameters.legs]
        if any(value is None for value in given):
            raise InputError(
                "limit",
                f"the file of {platform.name} gives no largest {platform.force_unit} of its "
                "actuators; say one",
            )
        return np.array(given, dtype=np.float64)
    values = as_floats(limit, "limit")
    if values.shape not in ((), (n,)) or not (values > 0.0).all():
        raise InputError("limit", f"must be one number above zero, or {n} of them")
    return np.broadcast_to(values, (n,)).copy()


def _largest(fixed: FloatArray, slope: FloatArray, limits: FloatArray) -> FloatArray:
    room = limits - fixed
    growing = slope > 0.0
    mass = np.where(growing, room / np.where(growing, slope, 1.0), np.inf)
    return np.where(room < 0.0, 0.0, mass)
