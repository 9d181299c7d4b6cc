"""Controllers as kernels: position loops, computed torque, observer, supervision and set points."""

from __future__ import annotations

from math import atan2
from typing import Any, NamedTuple

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.forward import inverse_dynamics
from twin.kernels.jit import compiled, device
from twin.kernels.kinematics import newton_step, residual
from twin.kernels.legs.dispatch import actuation_rate, constraint_count, project_onto_constraints
from twin.kernels.legs.interface import platform_state
from twin.kernels.linear_algebra import (
    Vector,
    copy,
    displace,
    norm,
    scale,
    turned,
)

NEWTON_STEPS = 4
"""Largest number of Newton steps; from the pose of the last sample two reach rounding error."""

NEWTON_TOLERANCE = 1e-14
"""Newton step [m] or [rad] below which the iteration has converged: rounding error."""

SINGULAR_PIVOT_RATIO = 1e-12
"""Ratio of the Jacobian's pivots below which no pose is found."""

RESIDUAL_TOLERANCE = 1e-3
"""Largest residual of readings that belong to a pose, relative to the longest coordinate. With
more actuators than degrees of freedom, the encoders' resolution leaves a residual."""


SPEED_ROW, CHANGE_ROW, INTEGRAL_ROW, COMMAND_ROW = range(4)
"""Rows of the loops `(4, n)`: largest speed [m/s, rad/s], largest change of it in a control period,
integral of the error, and the last command."""


@compiled
def limited_speeds(
    loops: FloatArray,
    gain: float,
    integral_gain: float,
    setpoint: FloatArray,
    measured: FloatArray,
    rates: FloatArray,
    fraction: float,
    command: FloatArray,
) -> bool:
    """Fill `command` (n,) with speeds: fraction of `rates`, gain times error, integral; limited.

    Args:
        loops: `(4, n)`; integral and last command are overwritten.
        gain: [1/s].
        integral_gain: of an error over one control period [1/s].
        setpoint: `(n,)`.
        measured: `(n,)` coordinates.
        rates: `(n,)` of the reference.
        fraction: factor on `rates`, 0 to 1.
        command: overwritten.

    Returns:
        Whether any speed was limited. While a speed is limited, only errors that reduce it change
        the integral (anti-windup).
    """
    limited = False
    for i in range(len(command)):
        error, last_speed, integral = (
            setpoint[i] - measured[i],
            loops[COMMAND_ROW, i],
            loops[INTEGRAL_ROW, i],
        )
        unlimited = fraction * rates[i] + gain * error + integral
        lowest_speed = max(-loops[SPEED_ROW, i], last_speed - loops[CHANGE_ROW, i])
        highest_speed = min(loops[SPEED_ROW, i], last_speed + loops[CHANGE_ROW, i])
        limited_speed = (
            min(max(unlimited, lowest_speed), highest_speed)
            if unlimited == unlimited
            else unlimited
        )
        if limited_speed != unlimited:
            limited = True
        if (unlimited - limited_speed) * error <= 0.0:
            loops[INTEGRAL_ROW, i] = integral + integral_gain * error
        command[i] = loops[COMMAND_ROW, i] = limited_speed
    return limited


class LegModels(NamedTuple):
    """Discrete state-space models of n legs: x' = A x + B u, y = C x + D u."""

    A: FloatArray
    """`(n, 3, 3)`"""
    B: FloatArray
    """`(n, 3)`"""
    C: FloatArray
    """`(n, 3)`"""
    D: FloatArray
    """`(n,)`"""


@compiled
def observe(
    model: LegModels,
    gain: FloatArray,
    force: FloatArray,
    position: FloatArray,
    state: FloatArray,
    innovation: FloatArray,
) -> None:
    """Predict over one period under `force` (n,), then correct with `position` (n,), in place.

    Args:
        model: of the legs.
        gain: `(n, 3)`.
        force: `(n,)` held over the past period.
        position: `(n,)` measured now.
        state: `(n, 3)`, overwritten.
        innovation: `(n,)`, overwritten with the error of the prediction.
    """
    for i in range(state.shape[0]):
        a, b, c = state[i, 0], state[i, 1], state[i, 2]
        prediction_error = position[i] - model.D[i] * force[i]
        for k in range(3):
            state[i, k] = (
                model.A[i, k, 0] * a
                + model.A[i, k, 1] * b
                + model.A[i, k, 2] * c
                + model.B[i, k] * force[i]
            )
            prediction_error -= model.C[i, k] * state[i, k]
        for k in range(3):
            state[i, k] += gain[i, k] * prediction_error
        innovation[i] = prediction_error


@compiled
def all_near(values: FloatArray, others: FloatArray, bounds: FloatArray) -> bool:
    """Return whether no `values` (n,) is further from `others` (n,) than `bounds` (n,)."""
    all_close = True
    for i in range(len(bounds)):
        all_close &= abs(values[i] - others[i]) <= bounds[i]
    return all_close


@compiled
def all_within(values: FloatArray, bounds: FloatArray) -> bool:
    """Return whether the magnitudes of `values` (n,) are at most `bounds` (n,)."""
    all_inside = True
    for i in range(len(bounds)):
        all_inside &= abs(values[i]) <= bounds[i]
    return all_inside


@compiled
def any_reaches(values: FloatArray, bounds: FloatArray) -> bool:
    """Return whether the magnitude of one of `values` (n,) is at least its bound `(n,)`."""
    any_reached = False
    for i in range(len(bounds)):
        any_reached |= abs(values[i]) >= bounds[i]
    return any_reached


@device
def find_pose(legs: Any, coordinates: FloatArray, y: FloatArray, work: Any) -> bool:
    """Move the pose in `y` (13,) to that of `coordinates` (n,); return whether there is one.

    By Newton from the last pose, in the least-squares sense where readings are more than degrees of
    freedom.
    """
    largest_coordinate = 0.0
    for i in range(legs.rows.shape[0]):
        largest_coordinate = max(largest_coordinate, abs(coordinates[i]))
    step = work.step
    pose = y[:7]
    for _ in range(NEWTON_STEPS):
        residual(legs, pose, coordinates, work.right, work.matrix, work.rows)
        if (
            not abs(newton_step(work.matrix, work.right, work.step, work.normal))
            > SINGULAR_PIVOT_RATIO
        ):
            return False
        largest_entry = 0.0
        for k in range(6):
            largest_entry = max(largest_entry, abs(step[k]))
        if not largest_entry < 1.0:
            return False
        displace(pose, 1.0, step, pose)
        if largest_entry <= NEWTON_TOLERANCE:
            break
    largest_residual = residual(legs, pose, coordinates, work.right, work.matrix, work.rows)
    return bool(largest_residual <= RESIDUAL_TOLERANCE * max(largest_coordinate, 1.0))


@device
def find_twist(legs: Any, rates: FloatArray, y: FloatArray, work: Any) -> bool:
    """Fill the twist in `y` (13,) from actuator `rates` (n,) at its pose.

    `find_pose` has left the Jacobian at that pose in `work.matrix`. Returns whether it is regular.
    """
    n = legs.rows.shape[0]
    for i in range(n):
        work.right[i] = rates[i]
    for i in range(constraint_count(legs)):
        work.right[n + i] = 0.0
    regular = (
        abs(newton_step(work.matrix, work.right, work.step, work.normal)) > SINGULAR_PIVOT_RATIO
    )
    for k in range(6):
        y[7 + k] = work.step[k]
    project_onto_constraints(legs, y)
    return regular


@device
def moved(y: FloatArray, acceleration: FloatArray, span: float) -> None:
    """Move a state `y` (13,) on by `span` [s] under an acceleration (6,) that does not change."""
    half_square = 0.5 * span * span
    rotation_vector = (
        span * y[10] + half_square * acceleration[3],
        span * y[11] + half_square * acceleration[4],
        span * y[12] + half_square * acceleration[5],
    )
    for k in range(3):
        y[k] += span * y[7 + k] + half_square * acceleration[k]
    y[3], y[4], y[5], y[6] = turned(
        y[3], y[4], y[5], y[6], rotation_vector[0], rotation_vector[1], rotation_vector[2]
    )
    for k in range(6):
        y[7 + k] += span * acceleration[k]


@device
def rotation_error(reference: FloatArray, pose: FloatArray) -> Vector:
    """Return the rotation vector [rad], base axes, from `pose` (7,) to `reference` (7,).

    It is the shorter way round.
    """
    # reference times the conjugate of pose
    w, x, y, z = pose[3], -pose[4], -pose[5], -pose[6]
    a, b, c, d = reference[3], reference[4], reference[5], reference[6]
    scalar = a * w - b * x - c * y - d * z
    vector = (
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    )
    shorter_sign = -1.0 if scalar < 0.0 else 1.0
    sine = norm(vector)
    factor = 2.0 * atan2(sine, shorter_sign * scalar) / sine if sine > 1e-12 else 2.0
    return scale(shorter_sign * factor, vector)


@device
def pose_error(reference: FloatArray, pose: FloatArray, error: FloatArray) -> None:
    """Fill `error` (6,) with displacement and rotation vector from `pose` to `reference` (7,).

    Both in base axes; turned by the rotation vector, the platform has the reference's attitude.
    """
    rotation_vector = rotation_error(reference, pose)
    for k in range(3):
        error[k] = reference[k] - pose[k]
        error[3 + k] = rotation_vector[k]


POSE_FOUND, NO_POSE, SINGULAR_POSE = 0, 1, 2
"""Outcome of estimating the pose at one sample."""


class RigidMachine(NamedTuple):
    """Constants of a machine whose legs have no springs in series."""

    body: FloatArray
    """`(BODY_SIZE,)` of the platform"""
    legs: Any
    """constants of the legs for the kinematics"""
    inertia: FloatArray
    """`(n,)` of the motors, in the actuators' coordinates [kg, kg m2]"""
    no_deflection: FloatArray
    """`(0,)` empty deflection of a machine without springs"""
    no_wrench: FloatArray
    """`(6,)` zeros"""


@compiled
def task_state(
    legs: Any, coordinates: FloatArray, rates: FloatArray, y: FloatArray, work: Any
) -> int:
    """Fill the state `y` (13,) of readings, from that of the sample before; return a code."""
    if not find_pose(legs, coordinates, y, work):
        return NO_POSE
    return POSE_FOUND if find_twist(legs, rates, y, work) else SINGULAR_POSE


@compiled
def predict(y: FloatArray, spans: FloatArray, accelerations: FloatArray, ahead: FloatArray) -> None:
    """Fill `ahead` (13,) with `y` (13,) after `spans` (d,) [s] under `accelerations` (d, 6)."""
    copy(y, ahead)
    for k in range(spans.shape[0]):
        moved(ahead, accelerations[k], spans[k])


@compiled
def corrected_acceleration(
    ahead: FloatArray,
    pose: FloatArray,
    twist: FloatArray,
    acceleration: FloatArray,
    gains: FloatArray,
    integral: FloatArray,
    error: FloatArray,
    out: FloatArray,
) -> None:
    """Fill `error` (6,) of the pose and `out` (6,): a_ref + Kd e' + Kp e + integral.

    Args:
        ahead: `(13,)` state.
        pose: `(7,)` of the reference.
        twist: `(6,)` of the reference.
        acceleration: `(6,)` of the reference.
        gains: `(6, 2)` Kp [1/s2] and Kd [1/s].
        integral: `(6,)`.
        error: `(6,)`, overwritten.
        out: `(6,)`, overwritten.
    """
    pose_error(pose, ahead, error)
    for k in range(6):
        out[k] = (
            acceleration[k]
            + gains[k, 1] * (twist[k] - ahead[7 + k])
            + gains[k, 0] * error[k]
            + integral[k]
        )


@compiled
def required_forces(
    machine: RigidMachine,
    ahead: FloatArray,
    acceleration: FloatArray,
    forces: FloatArray,
    inertia_forces: FloatArray,
    work: Any,
) -> int:
    """Fill `forces` (n,) on the legs and `inertia_forces` (n,) of the motors; return a code."""
    twist, legs, state = ahead[7:], machine.legs, platform_state(ahead[:7], ahead[7:])
    if not inverse_dynamics(
        machine.body, legs, state, machine.no_deflection, acceleration, machine.no_wrench,
        forces, work,
    ):  # fmt: skip
        return SINGULAR_POSE
    for i in range(legs.rows.shape[0]):
        linear, angular = actuation_rate(legs, i, state)
        coordinate_acceleration = 0.0
        for k in range(3):
            coordinate_acceleration += work.jacobian[i, k] * acceleration[k]
            coordinate_acceleration += work.jacobian[i, 3 + k] * acceleration[3 + k]
            coordinate_acceleration += linear[k] * twist[k] + angular[k] * twist[3 + k]
        inertia_forces[i] = machine.inertia[i] * coordinate_acceleration
    return POSE_FOUND
