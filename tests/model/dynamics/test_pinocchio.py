"""Dynamics against Pinocchio, an independent multibody library.

The loops of the open tree are closed by projecting its equations on the six degrees of freedom of
the platform, with Jacobians from Pinocchio, and a second time by its own constraint solver.
"""

from __future__ import annotations

import tomllib
from typing import Any, NamedTuple

import numpy as np
import pytest
from paths import poses_within_limits
from scales import scale_of
from tolerance import assert_within, max_abs
from unsymmetric import content_without_symmetry

from twin.analysis.platform import Platform
from twin.machine.file.read import parameters_from
from twin.machine.machine import parameters_path

pinocchio = pytest.importorskip("pinocchio")

from pinocchio_tree import KINDS, Tree  # noqa: E402

CLOSE = 1e-9
"""Relative to the largest entry: the project's limit."""

COUNT = 200


class States(NamedTuple):
    """Random states of one machine, one per row."""

    pose: Any
    twist: Any
    acceleration: Any
    forces: Any
    wrench: Any


MACHINES = ("srspm", "stewart", "rss", "micro_hexapod", *(f"lopsided_{kind}" for kind in KINDS))
"""Shipped machines on the kinds of legs that Pinocchio's tree knows, and one each without
symmetry."""


@pytest.fixture(scope="module", params=MACHINES)
def description(request):
    """Return what is written in the file of every machine."""
    if request.param.startswith("lopsided"):
        return content_without_symmetry(request.param.removeprefix("lopsided_"))
    return tomllib.loads(parameters_path(request.param).read_text())


@pytest.fixture(scope="module")
def platform(description):
    """The machine here."""
    return Platform(parameters_from(description, "platform.toml"))


@pytest.fixture(scope="module")
def tree(description):
    """The machine in Pinocchio."""
    return Tree(description)


@pytest.fixture(scope="module")
def states(platform):
    """States inside the limits, fast enough for all velocity terms to matter."""
    scale, random = scale_of(platform), np.random.default_rng(20240)
    return States(
        poses_within_limits(platform, COUNT, 20241),
        0.3 * scale.twist * random.normal(size=(COUNT, 6)),
        0.5 * scale.twist / scale.time * random.normal(size=(COUNT, 6)),
        0.5 * scale.effort * random.normal(size=(COUNT, 6)),
        0.1 * scale.wrench * random.normal(size=(COUNT, 6)),
    )


def test_forward_and_inverse_dynamics(tree, platform, states):
    found = platform.forward_dynamics(*states[:2], states.forces, states.wrench)
    needed = platform.inverse_dynamics(*states[:3], states.wrench)
    jacobian = platform.jacobian(states.pose)
    for k in range(0, len(states.pose), 8):
        pose, twist, acceleration, forces, wrench = (rows[k] for rows in states[:5])
        q = tree.close(pose)
        transform, v, bias = tree.motion(q, twist)
        actuators = transform[tree.actuated]
        rounding = 1e-12 * max(1.0, max_abs(jacobian[k]))
        assert_within(actuators, jacobian[k], rounding)
        mass = pinocchio.crba(tree.model, tree.data, q)
        mass = np.triu(mass) + np.triu(mass, 1).T
        rest = mass @ bias + pinocchio.nonLinearEffects(tree.model, tree.data, q, v)
        rest -= tree.passive(q, v)
        reduced = transform.T @ mass @ transform
        pull = actuators.T @ forces + wrench - transform.T @ rest
        expected = np.linalg.solve(reduced, pull)
        assert_within(found[k], expected, CLOSE * max_abs(expected))
        loads = reduced @ acceleration + transform.T @ rest - wrench
        expected = np.linalg.solve(actuators.T, loads)
        assert_within(needed[k], expected, CLOSE * max_abs(expected))


def test_forward_dynamics_with_its_own_constraint_solver(tree, platform, states):
    """Nothing of the projection above is used here: Pinocchio closes the loops itself."""
    contacts, contact_data = tree.contacts()
    settings = pinocchio.ProximalSettings(1e-14, 1e-12, 100)
    found = platform.forward_dynamics(*states[:2], states.forces, states.wrench)
    for k in range(0, len(states.pose), 4):
        pose, twist, _, forces, wrench = (rows[k] for rows in states)
        q = tree.close(pose)
        _, v, _ = tree.motion(q, twist)
        rotation = pinocchio.Quaternion(pose[3], *pose[4:]).toRotationMatrix()
        torque = np.zeros(24)
        torque[:6] = np.concatenate([rotation.T @ wrench[:3], rotation.T @ wrench[3:]])
        torque[tree.actuated] = forces
        torque += tree.passive(q, v)
        a = pinocchio.constraintDynamics(
            tree.model, tree.data, q, v, torque, contacts, contact_data, settings
        )
        linear = rotation @ a[:3] + np.cross(twist[3:], twist[:3])
        expected = np.concatenate([linear, rotation @ a[3:6]])
        assert_within(found[k], expected, CLOSE * max_abs(expected))
