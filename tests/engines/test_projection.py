"""Inverse dynamics of the engines' open trees, projected, against the analytic ones."""

import numpy as np
import pytest
from laid_out import CRANK, servos
from refusals import assert_all_refused
from tolerance import assert_within, max_abs

import twin
from twin.analysis.platform import Platform
from twin.engines.mechanism import make_mechanism
from twin.engines.projection import (
    TREE_MODULES,
    OpenTree,
    Projection,
    project,
    projection,
)
from twin.errors import SingularPoseError
from twin.rotations import displaced

TOLERANCE = 1e-9
"""Relative; the project's limit. 1e-14 measured."""


@pytest.fixture(params=TREE_MODULES)
def engine(request):
    """Return every engine with an open tree, where its library is installed."""
    pytest.importorskip({"bullet": "pybullet"}.get(request.param, request.param))
    return str(request.param)


def test_all_equations_of_motion_hold(engine, any_platform, random_motion, random_internal):
    """Of the springs in the legs too; and of all forces that move a redundant machine."""
    platform = any_platform
    pose, twist, _ = random_motion(platform, 0)
    inside = random_internal(platform, 0)
    random = np.random.default_rng(0)
    mass = platform.parameters.platform.body.mass
    forces = 5.0 * mass * random.normal(size=platform.n_actuators)
    found = platform.forward_dynamics(pose, twist, forces, deflection=inside)
    equations = projection(engine, platform, pose, twist, found[:6], inside, found[6:])
    assert len(equations.load) == platform.dof + platform.n_deflections
    residual = equations.residual(forces)
    assert max_abs(residual) < TOLERANCE * max_abs(equations.load)


def test_smallest_forces_of_a_redundant_machine(engine, random_motion):
    platform = twin.load("driving_simulator")
    equations = projection(engine, platform, *random_motion(platform, 0))
    assert equations.map.shape == (3, 4)
    deflection = np.linalg.svd(equations.map)[2][-1]
    assert abs(deflection @ equations.forces) < TOLERANCE * np.linalg.norm(equations.forces)
    assert_within(equations.map @ deflection, 0.0, 1e-14)


def test_singular_legs_are_an_error(stewart):
    tree = OpenTree(np.ones(24), np.zeros((18, 24)))
    with pytest.raises(SingularPoseError):
        project(tree, make_mechanism(stewart.parameters))


def test_forces_that_cannot_move_the_platform_are_an_error():
    with pytest.raises(SingularPoseError):
        _ = Projection(np.ones(6), np.zeros((6, 6)), 6).forces


def test_bad_motions_are_refused(stewart):
    assert_all_refused(
        lambda *motion: projection("mujoco", stewart, *motion),
        [
            ("x", np.zeros(6), np.zeros(6), "pose"),
            (stewart.home, np.zeros(5), np.zeros(6), "twist"),
            (stewart.home, np.zeros(6), np.full(6, np.nan), "acceleration"),
        ],
    )


def test_cranks_on_radial_axes_in_mirrored_pairs(engine):
    platform = Platform(servos(crank=CRANK))
    random = np.random.default_rng(0)
    pose = displaced(platform.home, random.uniform(-1.0, 1.0, 6) * np.repeat([4e-3, 0.05], 3))
    motion = pose, random.normal(size=6), random.normal(size=6)
    wanted = platform.inverse_dynamics(*motion)
    found = projection(engine, platform, *motion).forces
    assert_within(found, wanted, TOLERANCE * max_abs(wanted))
