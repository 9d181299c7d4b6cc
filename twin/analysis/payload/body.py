"""Payloads: bodies fixed to the platform, merged into its own by the parallel-axis theorem.

Where the whole body keeps its geometry and only its mass changes, forces are affine in the mass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from math import floor, inf
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import (
    FloatArray,
    as_floats,
    as_instance,
    as_text,
    as_vector,
    one_or_each,
    positive,
    read_only,
)
from twin.charts.panels import round_below
from twin.errors import InputError
from twin.machine.body import parallel_axis
from twin.model.machine_base import ZERO_VECTOR, Model, changed
from twin.model.machine_model import MachineModel, as_model

FORCE_SENSES = ("magnitude", "signed")
"""Senses of a force limit: on the magnitude, or on the signed force (pushing only)."""

MASS_STEPS = 30.0
"""Number of mass steps up to the largest mass at home. That makes 50 kg on the machine of the
Stewart thesis, which has that step (section 4.2.1) and whose starts are multiples of it.
"""

MASS_TOLERANCE = 1e-9
"""Relative difference of masses that counts as rounding."""

EXAMPLE_LIMITS = {"N": "2 kN", "N m": "20 N m"}
"""Limits by unit, as examples in error messages."""


class AffineForces(NamedTuple):
    """Actuator forces that grow with the mass of the body: fixed + mass * per_kilogram."""

    fixed: FloatArray
    """`(..., n)` forces [N] or [N m] with a body of no mass"""
    per_kilogram: FloatArray
    """change of the forces per mass `(..., n)` [N/kg] or [N m/kg]"""

    def of(self, mass: Any) -> FloatArray:
        """Return the forces `(..., n)` with a body of this mass [kg]."""
        return np.asarray(self.fixed + mass * self.per_kilogram)

    def largest_mass(self, limits: FloatArray, sense: str) -> FloatArray:
        """Return, per force `(..., n)`, the mass [kg] up to which it keeps its limit.

        Zero where the legs alone exceed it, infinite where no mass does.
        """
        largest = _largest_mass(self.fixed, self.per_kilogram, limits)
        if sense == "magnitude":
            reverse = _largest_mass(-self.fixed, -self.per_kilogram, limits)
            largest = np.minimum(largest, reverse)
        return largest


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
            InputError: not a machine, legs that give way under load, or no limit known.
        """
        self.platform = as_model(platform)
        if platform.leg.has_spring:
            raise InputError(
                "platform",
                f"{platform.name} has {platform.kind} legs, whose springs give way under load: "
                "the platform's pose depends on the payload. Take a machine without springs in "
                "its legs; for springs see twin.analysis.stiffness",
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
        forces_at_one, forces_at_two = (
            machine.inverse_dynamics(pose, twist, acceleration)
            for machine in (self.platform, self._double)
        )
        return AffineForces(
            2.0 * forces_at_one - forces_at_two, (forces_at_two - forces_at_one) / self._mass
        )

    @property
    def step(self) -> float:
        """Default step [kg] of the masses tried: a round fraction of the largest mass at home."""
        forces = self.forces(self.platform.home, ZERO_VECTOR, ZERO_VECTOR)
        largest = float(forces.largest_mass(self.limits, "magnitude").min())
        return round_below(largest / MASS_STEPS if 0.0 < largest < inf else self._mass)


def scaled_payload(platform: Model, mass: Any) -> Model:
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
    return changed(platform, content)


def first_lowest(masses: FloatArray) -> tuple[int, int]:
    """Return row and column of the lowest of masses `(k, n)`, of equal ones the first.

    A symmetrical machine has several, which differ by rounding.
    """
    first_row = int((masses <= masses.min() * (1.0 + MASS_TOLERANCE)).argmax())
    row, column = divmod(first_row, masses.shape[1])
    return row, column


class MassSteps(NamedTuple):
    """The largest tried mass that holds, and the next one, which does not."""

    passes: float | None
    """[kg]; None: not even the first mass above zero"""
    fails: float | None
    """[kg]; None: every mass holds"""


def mass_steps(largest_mass: float, start: Any, step: Any) -> MassSteps:
    """Return where a search that begins at `start` (None: at `step`) and adds `step` [kg] ends.

    It ends at `largest_mass` [kg]. Masses below the start are tried too, so that a start that is
    too heavy is no error.

    Raises:
        InputError: start or step are no numbers above zero.
    """
    step_size = positive(step, "step")
    first_mass = step_size if start is None else positive(start, "start")
    if largest_mass == inf:
        return MassSteps(inf, None)
    rounding = MASS_TOLERANCE * step_size
    count = floor((largest_mass - first_mass) / step_size)
    passes = first_mass + count * step_size
    if passes > rounding:
        return MassSteps(passes, first_mass + (count + 1) * step_size)
    # The lowest mass above zero that such a search tries.
    remainder = first_mass % step_size
    is_multiple = remainder <= rounding or step_size - remainder <= rounding
    return MassSteps(None, step_size if is_multiple else remainder)


def _limits(platform: MachineModel, limit: Any) -> FloatArray:
    n = platform.n_actuators
    if limit is None:
        force_limits = [leg.actuator.effort for leg in platform.parameters.legs]
        if None in force_limits:
            raise InputError(
                "limit",
                f"the file of {platform.name} gives no largest {platform.force_unit} of its "
                f"actuators; give one: --limit '{EXAMPLE_LIMITS[platform.force_unit]}', in Python "
                "limit=",
            )
        return np.array(force_limits, dtype=np.float64)
    return one_or_each(limit, "limit", n)


def _largest_mass(fixed: FloatArray, slope: FloatArray, limits: FloatArray) -> FloatArray:
    force_margin = limits - fixed
    is_growing = slope > 0.0
    mass = np.where(is_growing, force_margin / np.where(is_growing, slope, 1.0), np.inf)
    return np.where(force_margin < 0.0, 0.0, mass)


@dataclass(frozen=True, eq=False)
class Payload:
    """A rigid body fixed to the platform. Cannot be changed: sweeps share payloads.

    Raises:
        InputError: wrong shapes, not finite, a mass not above zero, or a tensor that no body has.
    """

    mass: float
    """[kg]"""
    center: Any = (0.0, 0.0, 0.0)
    """centre of mass `(3,)` [m] in the platform frame, read-only"""
    inertia: Any = None
    """tensor `(3, 3)` [kg m2] about the centre of mass, platform axes, read-only; may be given as
    three principal moments, or as None for a point mass"""
    name: str = field(default="", kw_only=True)
    """name in tables and plots; default: its mass"""

    def __post_init__(self) -> None:
        mass = positive(self.mass, "mass")
        as_text(self.name, "name")
        for name, value in (
            ("mass", mass),
            ("center", read_only(as_vector(self.center, "center", 3))),
            ("inertia", read_only(_tensor(self.inertia))),
            ("name", self.name or f"{mass:g} kg"),
        ):
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Payload, name=self.name), (self.mass, self.center, self.inertia)


def with_payload(platform: Model, payload: Payload | None) -> Model:
    """Return the machine with a payload merged into its platform's body; None adds nothing.

    Masses add, the common centre is their weighted mean, and the tensors about it follow from the
    parallel-axis theorem.

    Raises:
        InputError: not a machine, not a payload.
    """
    as_model(platform)
    if payload is None:
        return platform
    as_instance(payload, "payload", Payload)
    body = platform.parameters.platform.body
    mass = body.mass + payload.mass
    center = (body.mass * body.center_of_mass_vector + payload.mass * payload.center) / mass
    inertia = body.inertia_tensor + parallel_axis(body.mass, body.center_of_mass_vector - center)
    inertia += payload.inertia + parallel_axis(payload.mass, payload.center - center)
    content = platform.parameters.model_dump()
    content["platform"]["body"] |= {
        "source": f"{body.source}; payload {payload.name} added",
        "mass": mass,
        "center_of_mass": center.tolist(),
        "inertia": inertia.tolist(),
    }
    return changed(platform, content)


def _tensor(inertia: Any) -> FloatArray:
    if inertia is None:
        return np.zeros((3, 3))
    array = as_floats(inertia, "inertia")
    if array.shape == (3,):
        array = np.diag(array)
    if array.shape != (3, 3):
        raise InputError("inertia", f"must be (3, 3), three moments or None, got {array.shape}")
    size = np.abs(array).max()
    moments = np.linalg.eigvalsh(array)
    symmetric = np.allclose(array, array.T, rtol=0.0, atol=1e-12 * size)
    smallest = min(moments[0], moments[:2].sum() - moments[2])
    if not symmetric or smallest < -1e-9 * moments[2]:
        raise InputError(
            "inertia",
            "no body has this tensor: it must be symmetric, without negative principal moments, "
            "none of them larger than the sum of the other two",
        )
    return array
