"""Kinematics and dynamics of one state, checked and computed in one call from Python.

A call from Python costs more than the equations of one state. Here all arguments come in one array,
pose first. Each function normalises the quaternion in that array, and returns whether the state
keeps the rules of `as_floats`, `as_pose` and `check_constraints` and has a finite result. A caller
that gets False leaves the state to those, for their errors. Results are those of the batch
functions, to the last bit.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from twin.basics.arrays import LARGEST_ENTRY, QUATERNION_TOLERANCE, FloatArray
from twin.kernels.dynamics.assembly import make_work
from twin.kernels.dynamics.forward import forward_dynamics, inverse_dynamics
from twin.kernels.jit import allocating, compiled, device, exact
from twin.kernels.kinematics import (
    MOTION_TOLERANCE,
    allowed,
    forward_kinematics,
    inverse_kinematics,
    jacobian,
)
from twin.kernels.kinematics import make_work as make_newton_work
from twin.kernels.legs.dispatch import constraint_count, fill_constraints
from twin.kernels.legs.interface import Legs, platform_state


@exact
def normalise(state: FloatArray) -> bool:
    """Normalise the quaternion of a state; return whether its entries and its norm are allowed."""
    for k in range(state.shape[0]):
        if not abs(state[k]) <= LARGEST_ENTRY:
            return False
    w, x, y, z = state[3], state[4], state[5], state[6]
    norm = sqrt(w * w + x * x + y * y + z * z)
    for k in range(3, 7):
        state[k] /= norm
    return abs(norm - 1.0) <= QUATERNION_TOLERANCE


@allocating
def meets_constraints(
    legs: Legs, pose: FloatArray, twist: FloatArray, acceleration: FloatArray
) -> bool:
    """Return whether pose, twist and acceleration, both empty at rest, keep the constraints."""
    motion = twist if twist.shape[0] > 0 else np.zeros(6)
    rows = np.empty((constraint_count(legs), 8))
    fill_constraints(legs, platform_state(pose, motion), rows)
    for i in range(rows.shape[0]):
        if not abs(rows[i, 7]) <= MOTION_TOLERANCE:
            return False
    return allowed(rows, motion, 0.0) and (
        acceleration.shape[0] == 0 or allowed(rows, acceleration, 1.0)
    )


@allocating
def is_allowed(legs: Legs, state: FloatArray, twist: FloatArray, acceleration: FloatArray) -> bool:
    """Normalise the quaternion of a state; return whether it keeps all rules."""
    return normalise(state) and (
        constraint_count(legs) == 0 or meets_constraints(legs, state, twist, acceleration)
    )


@device
def is_finite(result: FloatArray) -> bool:
    """Return whether all entries of a result `(m,)` are finite."""
    finite = True
    for k in range(result.shape[0]):
        finite = abs(result[k]) < inf and finite
    return finite


@compiled
def inverse_kinematics_single(legs: Legs, state: FloatArray, result: FloatArray) -> bool:
    """Fill the actuator coordinates `(n,)` of a pose."""
    if not is_allowed(legs, state, state[:0], state[:0]):
        return False
    return inverse_kinematics(legs, state, result)


@compiled
def forward_kinematics_single(
    legs: Legs, lower_bound: float, state: FloatArray, result: FloatArray
) -> bool:
    """Fill the pose `(7,)` by Newton from a guess, for coordinates all above `lower_bound`."""
    guess, coordinates = state[:7], state[7:]
    if not normalise(state):
        return False
    for i in range(coordinates.shape[0]):
        if not coordinates[i] > lower_bound:
            return False
    work = make_newton_work(coordinates.shape[0], constraint_count(legs))
    return forward_kinematics(legs, coordinates, guess, result, work)[0]


@compiled
def jacobian_single(legs: Legs, state: FloatArray, result: FloatArray) -> bool:
    """Fill the Jacobian `(n, 6)` of a pose."""
    if not is_allowed(legs, state, state[:0], state[:0]):
        return False
    jacobian(legs, state, result)
    finite = True
    for i in range(result.shape[0]):
        finite = is_finite(result[i]) and finite
    return finite


@compiled
def forward_dynamics_single(
    body: FloatArray, legs: Legs, state: FloatArray, result: FloatArray
) -> bool:
    """Fill accelerations `(6 + k,)` of pose, twist, deflection, forces and wrench."""
    pose, twist = state[:7], state[7:13]
    if not is_allowed(legs, state, twist, state[:0]):
        return False
    end = 13 + 2 * (result.shape[0] - 6)
    deflection, forces, wrench = state[13:end], state[end:-6], state[-6:]
    work = make_work(legs)
    return forward_dynamics(
        body, legs, platform_state(pose, twist), deflection, forces, wrench, result, work
    ) and is_finite(result)


@compiled
def inverse_dynamics_single(
    body: FloatArray, legs: Legs, state: FloatArray, result: FloatArray
) -> bool:
    """Fill forces `(n,)` of pose, twist, deflection, acceleration and wrench."""
    pose, twist, acceleration = state[:7], state[7:13], state[-12:-6]
    if not is_allowed(legs, state, twist, acceleration):
        return False
    deflection, wrench, work = state[13:-12], state[-6:], make_work(legs)
    return inverse_dynamics(
        body, legs, platform_state(pose, twist), deflection, acceleration, wrench, result, work
    ) and is_finite(result)
