"""Inverse dynamics of the engines' open trees, projected, against the analytic ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused
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
from twin.machine import MachineParameters

TOLERANCE = 1e-9
"""Relative; the project's limit. 1e-14 measured."""


@pytest.fixture(params=TREE_MODULES)
def engine(request):
    """Return every engine with an open tree, where its library is installed."""
    pytest.importorskip({"bullet": "pybullet"}.get(request.param, request.param))
    return str(request.param)


def test_projection_equals_inverse_dynamics(engine, any_platform, random_motion, random_internal):
    platform = any_platform
    motion, inside = random_motion(platform, 0), random_internal(platform, 0)
    wanted = platform.inverse_dynamics(*motion, deflection=inside)
    found = projection(engine, platform, *motion, inside).forces
    assert_within(found, wanted, TOLERANCE * max_abs(wanted))


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


def test_projection_notices_small_differences(subtests, engine, stewart, random_motion):
    for table, field in [("platform", "mass"), ("leg", "mass"), ("leg", "center_of_mass")]:
        with subtests.test(f"{table}"):
            content = stewart.parameters.model_dump()
            body = content["platform"]["body"] if table == "platform" else content["leg"]["rod"]
            body[field] = np.multiply(body[field], 1.0 + 1e-6).tolist()
            other = Platform(MachineParameters.model_validate(content))
            motion = random_motion(stewart, 0)
            wanted = stewart.inverse_dynamics(*motion)
            found = projection(engine, other, *motion).forces
            assert max_abs(found - wanted) > 10 * TOLERANCE * max_abs(wanted)


def test_platform_without_legs_mass_needs_its_own_wrench(stewart):
    """Loops that tie each leg's rates to the twist directly: the map is their transpose."""
    rows = np.random.default_rng(0).normal(size=(18, 6))
    wrench = np.arange(1.0, 7.0)
    tree = OpenTree(np.concatenate([wrench, np.zeros(18)]), np.hstack([rows, -np.eye(18)]))
    equations = project(tree, make_mechanism(stewart.parameters))
    assert_allclose(equations.load, wrench, rtol=1e-14)
    assert_within(equations.map, rows[2::3].T, 1e-14)
    assert_within(equations.residual(equations.forces), 0.0, 1e-13)


def test_singular_legs_are_an_error(stewart):
    tree = OpenTree(np.ones(24), np.zeros((18, 24)))
    with pytest.raises(SingularPoseError):
        project(tree, make_mechanism(stewart.parameters))


def test_forces_that_cannot_move_the_platform_are_an_error():
    with pytest.raises(SingularPoseError):
        _ = Projection(np.ones(6), np.zeros((6, 6)), 6).forces


def test_bad_motions_are_refused(subtests, stewart):
    for bad in ["x", np.zeros(5), np.full(7, np.nan), np.zeros((2, 7))]:
        for place in range(3):
            with subtests.test(f"{bad}, {place}"):
                motion = [stewart.home, np.zeros(6), np.zeros(6)]
                motion[place] = bad
                with refused():
                    projection("mujoco", stewart, *motion)
