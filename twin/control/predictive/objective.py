"""Objective of a plan: weights of its cost, limits of the machine, feedback that suits both."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.drive_model import DriveModel
from twin.kernels.control.predictive.course import Cost
from twin.model.constraints import characteristic_length
from twin.model.machine_model import MachineModel
from twin.plant.drives import actuator_limit

RETURN = 20.0
"""[rad/s] Adopted: bandwidth with which a plan returns to its reference where nothing limits it."""

SPEED_SHARE = 0.5
"""Adopted: weight of the twist over that of the pose, times bandwidth squared."""

MARGIN = 0.02
"""Adopted: share of force and speed that plans leave to the loop that follows them."""

STROKE_MARGIN = 0.01
"""Adopted: share of the stroke that plans keep from its ends."""

STROKE_SCALE, SPEED_SCALE = 0.02, 0.4
"""Adopted: shares of stroke and limit of speed that cost as much beyond them as a displacement by
the radius of the platform's joints."""

REDUNDANT = 1e-3
"""Adopted: weight of forces that move nothing, against the mean of the others."""


class Objective(NamedTuple):
    """The objective of plans for one machine."""

    cost: Cost
    feedback: tuple[float, float]
    """of pose [1/s2] and twist [1/s]: the optimum of the cost where nothing limits the machine"""
    effort: FloatArray
    """`(n, n)` weights of the motors' forces, which are those of the accelerations at home"""
    largest: FloatArray
    """`(n,)` forces of the motors that plans use, infinite where there is no limit"""
    gains: FloatArray
    """`(n, 12)` forces of that feedback per deviation, at home"""


def objective(model: MachineModel, drives: DriveModel, span: float) -> Objective:
    """Return the objective of plans with a node every `span` [s].

    A deviation costs its displacement at the platform's joints, over their radius, squared. The
    twist costs `SPEED_SHARE` / w^2 and the acceleration 1 / w^4 of that, w being `RETURN`. Every
    axis by itself is then the same double integrator, whose Riccati equation gives feedback and
    terminal cost.

    Args:
        model: the machine as the controller knows it.
        drives: the same of its drives.
        span: between nodes [s].
    """
    radius = characteristic_length(model.platform_joints)
    scale = np.array([radius**-2.0] * 3 + [1.0] * 3)
    speed, weight = SPEED_SHARE / RETURN**2, RETURN**-4.0
    terminal, gain = double_integrator(span, speed, weight)
    stroke = model.maximum_coordinates - model.minimum_coordinates
    fastest = (1.0 - MARGIN) * actuator_limit(model, "speed")
    cost = Cost(
        scale,
        speed,
        weight,
        terminal,
        model.minimum_coordinates + STROKE_MARGIN * stroke,
        model.maximum_coordinates - STROKE_MARGIN * stroke,
        fastest,
        (STROKE_SCALE * stroke) ** -2.0,
        (SPEED_SCALE * fastest) ** -2.0,
    )
    jacobian = model.jacobian(model.home)
    mass = model.mass_matrix(model.home) + jacobian.T @ np.diag(drives.inertia) @ jacobian
    by_force = _free_inverse(mass, model.constraints(model.home)) @ jacobian.T
    effort = weight * by_force.T @ (scale[:, None] * by_force)
    if model.n_actuators > model.dof:
        effort += REDUNDANT * np.trace(effort) / len(effort) * np.eye(len(effort))
    by_acceleration = -np.linalg.pinv(jacobian.T) @ mass
    gains = np.hstack([gain[0] * by_acceleration, gain[1] * by_acceleration])
    return Objective(cost, gain, effort, (1.0 - MARGIN) * drives.largest, gains)


def _free_inverse(mass: FloatArray, constraints: FloatArray) -> FloatArray:
    """Return accelerations `(6, 6)` per wrench of a platform under constraints `(c, 6)`."""
    free = np.linalg.svd(constraints)[2][len(constraints) :].T if len(constraints) else np.eye(6)
    return np.asarray(free @ np.linalg.solve(free.T @ mass @ free, free.T))


def double_integrator(
    span: float, speed: float, effort: float
) -> tuple[FloatArray, tuple[float, float]]:
    """Return the terminal cost `(2, 2)` and the feedback of a sampled double integrator.

    For the cost x^2 + speed x'^2 + effort x''^2 of a sample.
    """
    from scipy.linalg import solve_discrete_are

    a, b = np.array([[1.0, span], [0.0, 1.0]]), np.array([[0.5 * span**2], [span]])
    value = solve_discrete_are(a, b, np.diag([1.0, speed]), np.array([[effort]]))
    gain = (b.T @ value @ a / (effort + b.T @ value @ b)).ravel()
    return np.asarray(value), (float(gain[0]), float(gain[1]))
