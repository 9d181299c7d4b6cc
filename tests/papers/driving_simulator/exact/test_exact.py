"""The exact model: laws of mechanics, moving masses by plain geometry, and the compiled kernels."""

from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from paper_plate import PLATE
from refusals import refused
from scipy.spatial.transform import Rotation
from tolerance import assert_within

import twin
from twin.errors import SingularPoseError
from twin.papers.driving_simulator.exact import ExactModel, SlidingFriction, exact_head_motion
from twin.papers.driving_simulator.kinematics import CORNERS, FIXED_CORNER, ExactKinematics
from twin.rotations import pose_from_angles

Array = NDArray[np.float64]

FRICTION = SlidingFriction(300.0, 40.0, 0.01)

MODELS = {"smooth": ExactModel(PLATE), "rubbing": ExactModel(PLATE, FRICTION)}


class States(NamedTuple):
    """Random states, one per row, fast enough for all velocity terms to matter."""

    q: Array
    v: Array
    a: Array


def states(count=50):
    """Return heave, roll and pitch with derivatives."""
    random = np.random.default_rng(17)
    q = random.uniform(-1.0, 1.0, (count, 3)) * [0.1, 0.5, 0.4] + [0.4, 0.0, 0.0]
    return States(q, *random.normal(size=(2, count, 3)))


def turned(q):
    """Return the attitudes."""
    return Rotation.from_euler("XY", q[:, 1:])


@pytest.fixture(params=MODELS)
def model(request):
    """The plate of the paper, with and without friction."""
    return MODELS[request.param]


def masses_and_places(q):
    """Return all point masses with their places `(k, 3)`, by plain geometry."""
    attitude = turned(q)
    normal = attitude.apply([0.0, 0.0, 1.0])
    joints = np.hstack([PLATE.corners, np.zeros((len(CORNERS), 1))])
    arms = [attitude.apply(joint) for joint in joints]
    lengths = [(q[:, 0] + arm[:, 2]) / normal[:, 2] for arm in arms]
    center = joints[FIXED_CORNER] + lengths[FIXED_CORNER][:, None] * normal - arms[FIXED_CORNER]
    found = [(PLATE.plate_mass, center)]
    for arm, length in zip(arms, lengths, strict=True):
        found.append((PLATE.upper_mass, center + arm))
        found.append((PLATE.foot_mass, center + arm - length[:, None] * normal))
    return found


def test_energies_are_those_of_the_moving_masses(derivative):
    s = states()
    kinetic, potential = MODELS["smooth"].energy(s.q, s.v)
    expected_kinetic, expected_potential = np.zeros(len(s.q)), np.zeros(len(s.q))
    for k, (mass, place) in enumerate(masses_and_places(s.q)):
        velocity = derivative(lambda t, k=k: masses_and_places(s.q + s.v * t)[k][1], 1e-3)
        expected_kinetic += 0.5 * mass * (velocity**2).sum(axis=1)
        expected_potential += mass * PLATE.gravity * place[:, 2]
    attitude = turned(s.q)
    spin = derivative(lambda t: (attitude.inv() * turned(s.q + s.v * t)).as_rotvec(), 1e-3)
    inertia = [PLATE.roll_inertia, PLATE.pitch_inertia, PLATE.yaw_inertia]
    expected_kinetic += 0.5 * spin**2 @ inertia
    assert_allclose(potential, expected_potential, rtol=1e-14)
    # Rounding of the difference quotients, 1e-16 / 1e-3.
    assert_allclose(kinetic, expected_kinetic, rtol=1e-11)


def test_kinetic_energy_belongs_to_the_mass_matrix(model):
    s = states()
    mass = model.mass_matrix(s.q)
    assert_allclose(mass, np.swapaxes(mass, 1, 2), rtol=1e-14, atol=1e-12)
    assert np.linalg.eigvalsh(mass).min() > 1.0
    kinetic, _ = model.energy(s.q, s.v)
    assert_allclose(kinetic, 0.5 * np.einsum("ki,kij,kj->k", s.v, mass, s.v), rtol=1e-13)


def test_forces_are_those_of_lagrange(model, derivative):
    """For each coordinate d/dt dT/dv - dT/dq + dV/dq, less what friction brings."""
    s = states()

    def momentum(time):
        rates = s.v + s.a * time
        mass = model.mass_matrix(s.q + s.v * time + 0.5 * s.a * time**2)
        return np.einsum("kij,kj->ki", mass, rates)

    expected = derivative(momentum, 1e-3)
    for j, along in enumerate(np.eye(3)):

        def lagrangian(step, along=along):
            kinetic, potential = model.energy(s.q + step * along, s.v)
            return kinetic - potential

        expected[:, j] -= derivative(lagrangian, 1e-3)
        sliding = model.feet(s.q, np.tile(along, (len(s.q), 1)))[0]
        expected[:, j] -= (sliding * model.feet(s.q, s.v)[1]).sum(axis=(1, 2))
    # Rounding of energies of 1e3 J over the step.
    assert_within(model.required(s.q, s.v, s.a), expected, 1e-8)


def test_forward_dynamics_inverts_inverse_dynamics(model):
    s = states()
    forces = model.forces(s.q, s.v, s.a)
    assert_within(model.accelerations(s.q, s.v, forces), s.a, 1e-11)


def test_forces_are_the_smallest_of_those_that_push(subtests):
    for pushing in [None, [0, 1, 2], [1, 2, 3]]:
        with subtests.test(f"{pushing}"):
            model, s = MODELS["smooth"], states()
            forces = model.forces(s.q, s.v, s.a, pushing=pushing)
            given = np.einsum("kni,kn->ki", model.length_jacobian(s.q), forces)
            assert_within(given, model.required(s.q, s.v, s.a), 1e-10)
            if pushing is None:
                assert_within(forces @ [1, -1, 1, -1], 0.0, 1e-9)
            else:
                (idle,) = set(range(4)) - set(pushing)
                assert_array_equal(forces[:, idle], 0.0)


def test_actuators_that_do_not_hold_the_plate_are_refused():
    with pytest.raises(SingularPoseError):
        MODELS["smooth"].forces([0.35, 0, 0], np.zeros(3), np.zeros(3), pushing=[0, 1, 0])


def test_friction_only_takes_energy():
    s = states()
    velocity, drag = MODELS["rubbing"].feet(s.q, s.v)
    speed = np.linalg.norm(velocity, axis=-1)
    size = (FRICTION.viscous + FRICTION.coulomb / np.hypot(speed, 0.01)) * speed
    assert_allclose(np.linalg.norm(drag, axis=-1), size, rtol=1e-13, atol=1e-15)
    assert_allclose((velocity * drag).sum(axis=-1), -size * speed, rtol=1e-13)
    assert_within(drag[:, FIXED_CORNER], 0.0, 1e-10)
    assert not MODELS["smooth"].feet(s.q, s.v)[1].any()


def test_batches_broadcast(model):
    s = states(3)
    forces = np.full((2, 1, 4), 100.0)
    together = model.accelerations(s.q, s.v, forces)
    assert together.shape == (2, 3, 3)
    assert_allclose(together[0, 1], model.accelerations(s.q[1], s.v[1], forces[0, 0]), rtol=1e-12)


def test_refused_arguments(subtests):
    for wrong in ["none", [[1.0, 2.0]], np.full(3, np.nan)]:
        for field in ["coordinates", "rates", "forces"]:
            with subtests.test(f"{wrong}, {field}"):
                given = {"coordinates": [0.35, 0.0, 0.0], "rates": np.zeros(3)}
                given["forces"] = np.zeros(4)
                with refused(field):
                    MODELS["smooth"].accelerations(**given | {field: wrong})


@pytest.mark.parametrize("configuration", [None, "hardware"])
def test_kernels_agree(configuration):
    """Both are exact: only rounding of accelerations of the order of a hundred."""
    platform, s = twin.load("driving_simulator", configuration), states(100)
    model = ExactModel.from_parameters(platform.parameters)
    center = exact_head_motion(model.plate, np.zeros(3), s.q, s.v, s.a)
    pose = pose_from_angles(center.position, s.q[:, 1:], "roll_pitch")
    twist = np.hstack([center.velocity, center.angular_velocity])
    acceleration = model.acceleration(s.q, s.v, s.a)
    forces = model.forces(s.q, s.v, s.a)
    lengths = ExactKinematics(model.plate).inverse(s.q).lengths
    assert_within(platform.inverse_kinematics(pose), lengths, 1e-13)
    found = platform.inverse_dynamics(pose, twist, acceleration)
    assert_allclose(found, forces, rtol=1e-10, atol=1e-8)
    pushed = forces + np.random.default_rng(4).normal(size=forces.shape) * 200.0
    expected = model.acceleration(s.q, s.v, model.accelerations(s.q, s.v, pushed))
    found = platform.forward_dynamics(pose, twist, pushed)
    assert_within(found, expected, 1e-10 * np.abs(expected).max())
    assert_allclose(platform.energy(pose, twist)[0], model.energy(s.q, s.v)[0], rtol=1e-12)
