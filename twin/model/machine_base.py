"""Parameters, geometry and constants of one machine, with its constraints and singular poses.

Pillars with their fixed foot, and legs in planes, constrain the platform: they leave height, roll
and pitch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from pydantic import ValidationError

from twin.basics.arrays import BoolArray, FloatArray, as_floats, read_only
from twin.errors import InputError, SingularPoseError, UnreachablePoseError
from twin.kernels.jit import interpreted
from twin.kernels.kinematics import (
    MOTION_TOLERANCE,
    THREE_DOF_CONSTRAINTS,
    constrain_batch,
    constraints_batch,
    inverse_kinematics_batch,
    leg_coordinates_batch,
)
from twin.kernels.legs.dispatch import joint_count
from twin.machine.file.read import parameters_hash
from twin.machine.legs.leg import Leg
from twin.machine.machine import MachineParameters
from twin.model.batch import run_batch
from twin.model.constants import pack, repacked, same_geometry

if TYPE_CHECKING:
    from twin.kernels.legs.interface import Legs

COORDINATE_TOLERANCE = 1e-12
"""Rounding error of a coordinate that still counts as inside, as a fraction of its limit."""

RUN_INTERPRETED: ContextVar[bool] = ContextVar("interpreted", default=False)

FOR_MANY: ContextVar[bool] = ContextVar("for_many", default=False)

ZERO_VECTOR = np.zeros(6)

GEOMETRY_ATTRIBUTES = (
    *("name", "kind", "base_joints", "platform_joints", "first_axes", "n_actuators", "dof"),
    *("home", "home_coordinates", "home_reaches", "minimum_coordinates", "maximum_coordinates"),
    *("stroke", "joint_radius"),
    *("n_deflections", "coordinate_unit", "force_unit"),
)
"""Attributes that machines of the same geometry share."""


@contextmanager
def without_compiling() -> Iterator[None]:
    """Evaluate states in Python: up to a millisecond each, but no seconds of compiling before.

    Results are those of the kernels to rounding, not to the last bit.
    """
    token = RUN_INTERPRETED.set(not FOR_MANY.get())
    try:
        yield
    finally:
        RUN_INTERPRETED.reset(token)


@contextmanager
def for_many_machines(many: bool = True) -> Iterator[None]:
    """Use kernels in place of `without_compiling` where `many` machines are evaluated.

    For many machines, compiling once is faster than evaluating each in Python.
    """
    token = FOR_MANY.set(many or FOR_MANY.get())
    try:
        yield
    finally:
        FOR_MANY.reset(token)


def run(
    kernel: Callable[..., int], constants: tuple[Any, ...], arrays: tuple[FloatArray, ...]
) -> int:
    """Run a batch kernel over `arrays`; return the first state that failed, or -1."""
    if len(arrays[0]) == 0:
        return -1
    if RUN_INTERPRETED.get():
        # Compiled kernels go on with inf and NaN without a word; NumPy's floats would warn.
        with suppress(ZeroDivisionError, ValueError), np.errstate(all="ignore"):
            return int(interpreted(kernel)(*constants, *arrays))
    return run_batch(kernel, constants, arrays)


def run_checked(
    kernel: Callable[..., int],
    constants: tuple[Any, ...],
    arrays: tuple[FloatArray, ...],
    legs: Any,
) -> None:
    """Run a batch kernel; poses come first in `arrays`, results last.

    Raises:
        UnreachablePoseError: a leg cannot reach a pose.
        SingularPoseError: a state without a solution, or one that overflows.
    """
    if len(arrays[0]) == 0:
        return
    check_results(run(kernel, constants, arrays), arrays[-1], legs, arrays[0])


def check_results(failed: int, results: FloatArray, legs: Any, poses: FloatArray) -> None:
    """Raise the error of the first state without a solution.

    Args:
        failed: index of the first state that a kernel could not handle, or -1.
        results: `(batch, ...)`.
        legs: constants of the legs.
        poses: `(batch, 7)`.

    Raises:
        UnreachablePoseError: a leg cannot reach a pose.
        SingularPoseError: a state without a solution, or one that overflows.
    """
    if failed < 0 and np.isfinite(results).all():
        return
    is_bad = ~np.isfinite(results.reshape(len(results), -1)).all(axis=1)
    index = failed if failed >= 0 else int(np.argmax(is_bad))
    raise no_solution(legs, index, poses[index])


def joint_motion(
    legs: Any, home: FloatArray, motion: Sequence[FloatArray], deflections: int
) -> FloatArray:
    """Return values, rates and accelerations of the legs' joints, `(batch, n, joints, 3)`.

    Args:
        legs: constants of the legs.
        home: `(n, HOME_SIZE)` of the legs.
        motion: poses, twists, `deflection`, accelerations and the accelerations of the
            deflections, `(batch, .)` each.
        deflections: number k of the springs in series.

    Raises:
        UnreachablePoseError: a leg cannot reach a pose.
        SingularPoseError: a leg lies along its universal joint's first axis.
    """
    poses, twists, spring_motion, accelerations, deflection_accelerations = motion
    k = deflections
    motion_out = np.empty((len(poses), len(legs.rows), joint_count(type(legs)), 3))
    run_checked(
        leg_coordinates_batch, (legs, home), (poses, twists, accelerations, motion_out), legs
    )
    if k:
        springs = np.stack(
            [spring_motion[:, :k], spring_motion[:, k:], deflection_accelerations], axis=2
        )
        # Kernels put the whole leg length on the actuator (joint 3); joint 2 is the spring.
        motion_out[:, :, 2] += springs
        motion_out[:, :, 3] -= springs
    return motion_out


def no_solution(
    legs: Any, index: int, pose: FloatArray
) -> SingularPoseError | UnreachablePoseError:
    """Return the error of entry `index` of a batch, whose `pose` `(7,)` has no solution."""
    coordinates = np.empty((1, len(legs.rows)))
    inverse_kinematics_batch(legs, pose[None], coordinates)
    unreached_legs = [int(i) + 1 for i in np.flatnonzero(np.isnan(coordinates[0]))]
    data = {"index": index, "pose": pose.copy()}
    if unreached_legs and np.isfinite(pose).all():
        leg_numbers = ", ".join(map(str, unreached_legs))
        return UnreachablePoseError(
            f"entry {index}: leg {leg_numbers} cannot reach the pose {pose.tolist()}; move the "
            "platform closer to home.",
            data | {"legs": unreached_legs},
        )
    return SingularPoseError(
        f"entry {index} has no finite solution at pose {pose.tolist()}: the pose is singular (a "
        "leg without length, along its joint's first axis or stretched, or legs that do not span "
        "the platform's degrees of freedom), or the numbers overflow. Move away from it.",
        data,
    )


def coordinates_given(pose: Any, lengths: Any, n: int) -> tuple[tuple[int, ...], FloatArray | None]:
    """Return the batch shape and actuator coordinates `(..., n)`, None where poses are given.

    Args:
        pose: poses `(..., 7)`; also coordinates `(..., n)` unless n is seven.
        lengths: coordinates `(..., n)`.
        n: number of actuators.

    Raises:
        InputError: both or none of the two, wrong shapes, not finite.
    """
    if (pose is None) == (lengths is None):
        raise InputError("pose, lengths", "give one of the two")
    if lengths is not None:
        values = as_floats(lengths, "lengths", n)
        return values.shape[:-1], values
    values = as_floats(pose, "pose")
    return values.shape[:-1], values if n != 7 and values.shape[-1:] == (n,) else None


def inside(coordinates: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Return `(...)` whether all coordinates `(..., n)` are within limits `(n,)`; NaN is not."""
    tolerance = COORDINATE_TOLERANCE * np.maximum(np.abs(low), np.abs(high))
    return np.asarray(
        ((coordinates >= low - tolerance) & (coordinates <= high + tolerance)).all(axis=-1)
    )


def evaluate_constraints(
    legs: Legs, poses: FloatArray, twists: FloatArray | None = None
) -> FloatArray:
    """Return the constraints of poses and twists, at rest by default, `(batch, 3, 8)`.

    Columns 0 to 5 are the row C of C twist = 0, column 6 is the drift of
    C acceleration + drift = 0, and column 7 the error of the pose.
    """
    constraint_values = np.empty((len(poses), THREE_DOF_CONSTRAINTS, 8))
    motion = np.zeros((len(poses), 6)) if twists is None else twists
    run(constraints_batch, (legs,), (poses, motion, constraint_values))
    return constraint_values


def meets_constraints(legs: Legs, poses: FloatArray) -> BoolArray:
    """Return `(batch,)` whether poses `(batch, 7)` meet the constraints of their legs."""
    errors = evaluate_constraints(legs, poses)[:, :, 7]
    return np.asarray(np.abs(errors).max(axis=1, initial=0.0) <= MOTION_TOLERANCE)


def has_nearest(legs: Legs, poses: FloatArray) -> BoolArray:
    """Return `(batch,)` whether legs allow poses `(batch, 7)`; False where they allow none near.

    Raises:
        InputError: a pose that the legs do not allow, though one of its height and normal.
    """
    nearest = nearest_allowed(legs, poses)
    exists = meets_constraints(legs, nearest)
    is_off = exists & ~meets_constraints(legs, poses)
    if is_off.any():
        entry = int(np.argmax(is_off))
        raise _not_allowed("pose", entry, f" The nearest is {nearest[entry].round(9).tolist()}.")
    return exists


def check_nearest(legs: Legs, nearest: FloatArray) -> None:
    """Raise UnreachablePoseError where `nearest_allowed` `(batch, 7)` are off the constraints."""
    errors = evaluate_constraints(legs, nearest)[:, :, 7]
    entry = _first_off(errors, np.ones(len(nearest)))
    if entry >= 0:
        raise UnreachablePoseError(
            f"entry {entry}: the legs allow no pose of this height and tilt, whatever x, y and the "
            f"turn about the platform's normal: the nearest, {nearest[entry].round(9).tolist()}, "
            f"is {np.abs(errors[entry]).max():.3g} m off the planes of the legs. Tilt it less.",
            {"index": entry, "pose": nearest[entry].copy(), "legs": []},
        )


def check_constraints(
    legs: Legs,
    poses: FloatArray,
    twists: FloatArray | None = None,
    accelerations: FloatArray | None = None,
) -> None:
    """Check poses, twists and accelerations `(batch, .)`.

    Raises:
        InputError: a motion that the legs do not allow.
        UnreachablePoseError: as `check_nearest`.
    """
    constraint_values = evaluate_constraints(legs, poses, twists)
    # Columns of a constraint: its row C (0 to 5), drift (6), and error of the pose (7).
    if _first_off(constraint_values[:, :, 7], np.ones(len(poses))) >= 0:
        has_nearest(legs, poses)
        check_nearest(legs, nearest_allowed(legs, poses))
    if twists is not None:
        violations = np.einsum("kij,kj->ki", constraint_values[:, :, :6], twists)
        if (entry := _first_off(violations, _sizes(twists))) >= 0:
            raise _not_allowed("twist", entry)
    if accelerations is not None:
        violations = np.einsum("kij,kj->ki", constraint_values[:, :, :6], accelerations)
        entry = _first_off(violations + constraint_values[:, :, 6], _sizes(accelerations))
        if entry >= 0:
            raise _not_allowed("acceleration", entry)


def nearest_allowed(legs: Legs, poses: FloatArray) -> FloatArray:
    """Return the poses `(batch, 7)` of the same height and normal nearest to the constraints."""
    zero = np.zeros((len(poses), 6))
    return constrained(legs, poses, zero, zero)[0]


def constrained(
    legs: Legs, poses: FloatArray, twists: FloatArray, accelerations: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the motion that meets all constraints with the same height and normal of the platform.

    Args:
        legs: constants of legs that constrain the platform.
        poses: `(batch, 7)`.
        twists: `(batch, 6)`.
        accelerations: `(batch, 6)`.
    """
    states, changed = np.concatenate([poses, twists], axis=1), accelerations.copy()
    run(constrain_batch, (legs,), (states, changed))
    return states[:, :7].copy(), states[:, 7:].copy(), changed


def _sizes(values: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(1.0, np.abs(values).max(axis=1, initial=0.0)))


def _first_off(violations: FloatArray, scales: FloatArray) -> int:
    """Return the first of motions `(m, c)` off the constraints by more than rounding, or -1."""
    is_off = ~(np.abs(violations).max(axis=1, initial=0.0) <= MOTION_TOLERANCE * scales)
    return int(np.argmax(is_off)) if is_off.any() else -1


def _not_allowed(field: str, entry: int, nearest: str = "") -> InputError:
    """Return the error of a pose or motion that the legs of a machine do not allow."""
    return InputError(
        field,
        f"entry {entry} is none that the legs allow: the machine has three degrees of freedom, "
        f"height, roll and pitch, and the rest follows from these.{nearest} "
        "platform.constrain(pose, twist, acceleration) returns what fits",
    )


def condition_number(jacobian: FloatArray, constraints: FloatArray, length: float) -> FloatArray:
    """Return the condition numbers `(...)` of Jacobians `(..., n, 6)`, moments scaled by `length`.

    Conditions `(..., c, 6)` restrict the twists. 1 is the best a machine can have; infinite at a
    singular pose.
    """
    units = np.repeat([1.0, length], 3)
    scaled = jacobian / units
    if constraints.shape[-2]:
        scaled = scaled @ null_space(constraints / units)
    singular = np.linalg.svd(scaled, compute_uv=False)
    largest_value, smallest_value = singular[..., 0], singular[..., -1]
    return np.divide(
        largest_value,
        smallest_value,
        out=np.full_like(largest_value, np.inf),
        where=smallest_value > 0.0,
    )


def null_space(constraints: FloatArray) -> FloatArray:
    """Return orthonormal vectors `(..., 6, 6 - c)` that meet the constraints `(..., c, 6)`."""
    n_constraints = constraints.shape[-2]
    return np.swapaxes(np.linalg.svd(constraints)[2][..., n_constraints:, :], -1, -2)


ZERO_VECTOR.flags.writeable = False
"""Twist or acceleration of a platform at rest, or no wrench."""


class LegCoordinates(NamedTuple):
    """Joint coordinates of all legs with two time derivatives; zero at home.

    The joints of each kind of leg, in order: UPS and strut: first and second universal angle,
    extension; RSS: crank, first and second angle of the elbow; viscoelastic: first, second, spring,
    actuator; pillar: place of the foot along x and y, extension (fixed foot: roll, pitch,
    extension); RPS: hinge, extension; RRS: crank, elbow.
    """

    values: FloatArray
    """`(..., n, joints)` [rad, m]"""
    rates: FloatArray
    """`(..., n, joints)` [rad/s, m/s]"""
    accelerations: FloatArray
    """`(..., n, joints)` [rad/s2, m/s2]"""


class LegSprings(NamedTuple):
    """Springs and dampers along the legs: force = stiffness * (rest - length) - damping * rate."""

    stiffness: FloatArray
    """`(n,)` [N/m], zero where a leg has none"""
    damping: FloatArray
    """`(n,)` [N s/m]"""
    rest: FloatArray
    """`(n,)` lengths [m] without spring force: of the leg, or of a spring in series"""


def leg_springs(parameters: MachineParameters) -> LegSprings:
    """Return the springs along the legs; one without a given rest length is unloaded at home."""
    pairs = zip(parameters.legs, parameters.home_leg_geometry, strict=True)
    springs = [leg.spring(leg_geometry) for leg, leg_geometry in pairs]
    return LegSprings(*(read_only(values) for values in zip(*springs, strict=True)))


class PlatformMotion(NamedTuple):
    """A motion that meets the constraints of the platform."""

    pose: FloatArray
    """`(..., 7)` of the platform in the base: position [m], unit quaternion (scalar first)"""
    twist: FloatArray
    """`(..., 6)` of the platform, base axes [m/s, rad/s]"""
    acceleration: FloatArray
    """`(..., 6)` of the platform, base axes [m/s2, rad/s2]"""


class MachineBase:
    """A machine without its kinematics and dynamics; see `MachineModel`."""

    def __init__(
        self,
        parameters: MachineParameters,
        *,
        limits: bool = True,
        like: MachineBase | None = None,
    ) -> None:
        """Prepare the machine that `parameters` describe.

        Args:
            parameters: checked ones.
            limits: whether the actuators' limits of force and speed hold in simulations.
            like: a machine whose geometry is taken over where the parameters share its tables; the
                result is the same without it, later.

        Raises:
            InputError: not checked parameters.
        """
        if not isinstance(parameters, MachineParameters):
            raise InputError("parameters", "must be MachineParameters; use twin.load(name or path)")
        self.parameters, self.limits = parameters, limits
        if like is not None and same_geometry(like.parameters, parameters):
            self._share(like)
            return
        self.name = parameters.name
        self.kind: str = parameters.leg.kind
        self.leg: Leg = parameters.leg
        self.constants = pack(parameters)
        self.base_joints = read_only(parameters.base.joints.points)
        self.platform_joints = read_only(parameters.platform.joints.points)
        self.first_axes = parameters.first_axes
        self.home = read_only([*parameters.home.position, *parameters.home.orientation])
        self.home_coordinates = parameters.home_coordinates
        self.home_reaches = read_only(np.linalg.norm(parameters.home_leg_vectors, axis=1))
        self.n_actuators = len(self.base_joints)
        self.dof = parameters.leg.dof
        self.n_deflections = self.n_actuators if self.leg.has_series_spring else 0
        actuators = [leg.actuator for leg in parameters.legs]
        self.coordinate_unit = actuators[0].coordinate_unit
        self.force_unit = actuators[0].effort_unit
        self.minimum_coordinates = read_only([actuator.minimum for actuator in actuators])
        self.maximum_coordinates = read_only([actuator.maximum for actuator in actuators])
        self.stroke = read_only(self.maximum_coordinates - self.minimum_coordinates)
        self.joint_radius = float(np.linalg.norm(self.platform_joints, axis=1).mean())

    def _share(self, other: MachineBase) -> None:
        """Share the attributes that follow from the geometry with another machine."""
        for name in GEOMETRY_ATTRIBUTES:
            setattr(self, name, getattr(other, name))
        self.leg = self.parameters.leg
        self.constants = repacked(other.constants, other.parameters, self.parameters)

    @cached_property
    def hash(self) -> str:
        """Hexadecimal digest of all parameter values."""
        return parameters_hash(self.parameters)

    @cached_property
    def leg_springs(self) -> LegSprings:
        """Springs along the legs, in series or in parallel with the actuators."""
        return leg_springs(self.parameters)

    def __repr__(self) -> str:
        size = f"{self.n_actuators} actuators, {self.dof} dof"
        return f"<{type(self).__name__} {self.name!r}: {size}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), limits=self.limits), (self.parameters,)


Model = TypeVar("Model", bound=MachineBase)


def changed(platform: Model, content: Mapping[str, Any]) -> Model:
    """Return a machine of the same class with other parameters.

    Args:
        platform: the machine.
        content: all its parameters, as `model_dump` gives them, with changes.

    Raises:
        InputError: values that no machine can have; names the first.
    """
    try:
        parameters = MachineParameters.model_validate(content)
        return type(platform)(parameters, limits=platform.limits)
    except ValidationError as error:
        first_error = error.errors(include_url=False)[0]
        field = ".".join(map(str, first_error["loc"])) or "platform"
        message = first_error["msg"].removeprefix("Value error, ")
        raise InputError(field, f"no machine can have it: {message}") from None
