"""The exact model: laws of mechanics, closed forms, and the compiled kernels against it."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from exact_plate import Pillars, WholeModel, exact_terms
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from paper_plate import PLATE
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from tolerance import assert_within

import twin
from twin.analysis.platform import Platform
from twin.errors import InputError, SingularPoseError
from twin.machine.file.read import parameters_from
from twin.machine.machine import parameters_path
from twin.papers.driving_simulator.exact import ExactModel, SlidingFriction
from twin.papers.driving_simulator.kinematics import ExactKinematics

Array = NDArray[np.float64]

GENERAL = Pillars(
    joints=np.array(
        [
            [0.7, -0.4, 0.02],
            [0.9, 0.5, -0.03],
            [-0.6, 0.3, 0.0],
            [-0.8, -0.5, 0.05],
            [0.1, 0.7, 0.0],
        ]
    ),
    fixed=1,
    foot=np.array([0.9, 0.55, 0.1]),
    mass=120.0,
    center_of_mass=np.array([0.1, -0.05, 0.2]),
    inertia=np.array([[30.0, 2.0, -1.0], [2.0, 40.0, 3.0], [-1.0, 3.0, 55.0]]),
    upper_masses=np.array([20.0, 25.0, 30.0, 5.0, 0.0]),
    foot_masses=np.array([2.0, 3.0, 0.0, 4.0, 5.0]),
    gravity=9.81,
)
"""No symmetry for a fault to hide behind."""

FRICTION = SlidingFriction(300.0, 40.0, 0.01)

MODELS = {
    "plate": WholeModel(Pillars.from_plate(PLATE)),
    "general": WholeModel(GENERAL),
    "rubbing": WholeModel(GENERAL, FRICTION),
}


class States(NamedTuple):
    """Random states, one per row, fast enough for all velocity terms to matter."""

    q: Array
    v: Array
    a: Array
    wrench: Array


def states(count=50):
    """Return heave, roll and pitch with derivatives, and wrenches."""
    random = np.random.default_rng(17)
    q = random.uniform(-1.0, 1.0, (count, 3)) * [0.1, 0.5, 0.4] + [0.4, 0.0, 0.0]
    v, a = random.normal(size=(2, count, 3))
    return States(q, v, a, random.normal(size=(count, 6)) * 100.0)


def turned(q):
    """Return the attitudes."""
    return Rotation.from_euler("XY", q[:, 1:])


@pytest.fixture(params=MODELS)
def model(request):
    """The plate of the paper, and one without symmetry, with and without friction."""
    return MODELS[request.param]


def masses_and_places(pillars, q):
    """Return all point masses with their places `(k, 3)`, by plain geometry."""
    attitude = turned(q)
    normal = attitude.apply([0.0, 0.0, 1.0])
    arms = [attitude.apply(joint.copy()) for joint in pillars.joints]
    heights = [q[:, 0] + arm[:, 2] - pillars.foot[2] for arm in arms]
    lengths = [height / normal[:, 2] for height in heights]
    center = pillars.foot + lengths[pillars.fixed][:, None] * normal - arms[pillars.fixed]
    found = [(pillars.mass, center + attitude.apply(pillars.center_of_mass.copy()))]
    for arm, length, upper, lower in zip(
        arms, lengths, pillars.upper_masses, pillars.foot_masses, strict=True
    ):
        found.append((upper, center + arm))
        found.append((lower, center + arm - length[:, None] * normal))
    return found


@pytest.mark.parametrize("name", ["plate", "general"])
def test_energies_are_those_of_the_moving_masses(name, derivative):
    pillars, s = MODELS[name].pillars, states()
    kinetic, potential = MODELS[name].energy(s.q, s.v)
    expected_kinetic, expected_potential = np.zeros(len(s.q)), np.zeros(len(s.q))
    for k, (mass, place) in enumerate(masses_and_places(pillars, s.q)):
        velocity = derivative(lambda t, k=k: masses_and_places(pillars, s.q + s.v * t)[k][1], 1e-3)
        expected_kinetic += 0.5 * mass * (velocity**2).sum(axis=1)
        expected_potential += mass * pillars.gravity * place[:, 2]
    attitude = turned(s.q)
    spin = derivative(lambda t: (attitude.inv() * turned(s.q + s.v * t)).as_rotvec(), 1e-3)
    expected_kinetic += 0.5 * np.einsum("ki,ij,kj->k", spin, pillars.inertia, spin)
    assert_allclose(potential, expected_potential, rtol=1e-14)
    # Rounding of the difference quotients, 1e-16 / 1e-3.
    assert_allclose(kinetic, expected_kinetic, rtol=1e-11)


def test_kinetic_energy_belongs_to_the_mass_matrix(model):
    s = states()
    mass = model.mass_matrix(s.q)
    assert_allclose(mass, np.swapaxes(mass, 1, 2), rtol=1e-14, atol=1e-12)
    assert np.linalg.eigvalsh(mass).min() > 1.0
    kinetic, _ = model.energy(s.q, s.v)
    halves = 0.5 * np.einsum("ki,kij,kj->k", s.v, mass, s.v)
    assert_allclose(kinetic, halves, rtol=1e-13)


def test_power_is_the_change_of_energy(model, derivative):
    s = states()
    forces = model.forces(s.q, s.v, s.a, s.wrench)

    def energy(time):
        q = s.q + s.v * time + 0.5 * s.a * time**2
        return np.asarray(sum(model.energy(q, s.v + s.a * time)))

    power = np.einsum("kn,kni,ki->k", forces, model.length_jacobian(s.q), s.v)
    power += np.einsum("ki,ki->k", s.wrench, model.twist(s.q, s.v))
    power += np.einsum("knj,knj->k", *model.feet(s.q, s.v))
    # Rounding of energies of 1e3 J over the step of 1e-3 s.
    assert_within(derivative(energy, 1e-3), power, 1e-8)


def test_forward_dynamics_inverts_inverse_dynamics(model):
    s = states()
    forces = model.forces(s.q, s.v, s.a, s.wrench)
    found = model.accelerations(s.q, s.v, forces, s.wrench)
    assert_within(found, s.a, 1e-11)


@pytest.mark.parametrize("friction", [None, FRICTION])
def test_newton_and_euler_agree_with_lagrange(friction):
    s, exact = states(), ExactModel(PLATE, friction)
    derived = WholeModel(Pillars.from_plate(PLATE), friction)
    for one, other in (
        (exact.mass_matrix(s.q), derived.mass_matrix(s.q)),
        (exact.length_jacobian(s.q), derived.length_jacobian(s.q)),
        (exact.energy(s.q, s.v), derived.energy(s.q, s.v)),
        (exact.feet(s.q, s.v), derived.feet(s.q, s.v)),
        (exact.required(s.q, s.v, s.a), derived.required(s.q, s.v, s.a)),
        (exact.acceleration(s.q, s.v, s.a), derived.acceleration(s.q, s.v, s.a)),
        (exact.forces(s.q, s.v, s.a), derived.forces(s.q, s.v, s.a)),
    ):
        assert_allclose(one, other, rtol=1e-11, atol=1e-10)
    forces = exact.forces(s.q, s.v, s.a, pushing=[0, 1, 2])
    assert_allclose(forces, derived.forces(s.q, s.v, s.a, pushing=[0, 1, 2]), rtol=1e-11, atol=1e-9)
    assert_within(exact.accelerations(s.q, s.v, forces), s.a, 1e-11)


def test_closed_forms_are_those_of_the_derivation():
    model, s = MODELS["plate"], states()
    motion = ExactKinematics(PLATE).inverse_motion(s.q, s.v, s.a)
    terms = exact_terms(model.pillars, s.q, s.v)
    assert_within(terms.lengths, motion.value.lengths, 1e-14)
    assert_within(terms.place, motion.value.center, 1e-14)
    assert_within(terms.feet[..., :2], motion.value.feet, 1e-14)
    velocity, _ = model.feet(s.q, s.v)
    assert_within(velocity, motion.rate.feet, 1e-14)
    accelerations = np.einsum("kni,ki->kn", terms.length_jacobian, s.a) + terms.length_bias
    assert_within(accelerations, motion.acceleration.lengths, 1e-13)
    place = model.acceleration(s.q, s.v, s.a)[:, :3]
    assert_within(place, motion.acceleration.center, 1e-13)


def test_twist_and_its_derivative(model, derivative):
    s = states()

    def at(time):
        return model.pose(s.q + s.v * time + 0.5 * s.a * time**2)

    def step(time):
        pose = at(time)
        turn = Rotation.from_quat(pose[:, [4, 5, 6, 3]]) * turned(s.q).inv()
        return np.hstack([pose[:, :3], turn.as_rotvec()])

    def twist(time):
        return model.twist(s.q + s.v * time + 0.5 * s.a * time**2, s.v + s.a * time)

    assert_within(derivative(step, 1e-3), model.twist(s.q, s.v), 1e-11)
    acceleration = model.acceleration(s.q, s.v, s.a)
    assert_within(derivative(twist, 1e-3), acceleration, 1e-11)


def test_lengths_and_their_jacobian(model, derivative):
    s = states()
    rates = derivative(lambda t: model.lengths(s.q + s.v * t), 1e-3)
    expected = np.einsum("kni,ki->kn", model.length_jacobian(s.q), s.v)
    assert_within(rates, expected, 1e-11)


def test_free_motion_keeps_its_energy():
    model = MODELS["general"]
    start = np.array([0.4, 0.1, -0.05, 0.2, 0.5, -0.3])

    def derivative(_, y):
        return np.concatenate([y[3:], model.accelerations(y[:3], y[3:], np.zeros(5))])

    solution = solve_ivp(derivative, (0.0, 0.2), start, method="DOP853", rtol=1e-12, atol=1e-12)
    kinetic, potential = model.energy(*solution.y.T.reshape(-1, 2, 3).transpose(1, 0, 2))
    total = kinetic + potential
    assert np.ptp(kinetic) > 0.1 * abs(total[0]), "something moves"
    assert np.ptp(total) < 1e-10 * abs(total[0])


def test_forces_are_the_smallest_of_those_that_push(subtests):
    for pushing in [None, [0, 1, 2], [1, 2, 3]]:
        with subtests.test(f"{pushing}"):
            model, s = MODELS["plate"], states()
            forces = model.forces(s.q, s.v, s.a, pushing=pushing)
            rows = model.length_jacobian(s.q)
            given = np.einsum("kni,kn->ki", rows, forces)
            assert_within(given, model.required(s.q, s.v, s.a), 1e-10)
            if pushing is None:
                assert_within(forces @ [1, -1, 1, -1], 0.0, 1e-9)
            else:
                (idle,) = set(range(4)) - set(pushing)
                assert_array_equal(forces[:, idle], 0.0)


def test_actuators_that_do_not_hold_the_plate_are_refused():
    in_line = replace(
        Pillars.from_plate(PLATE),
        joints=np.array([[0.8, -0.4, 0.0], [0.0, -0.4, 0.0], [-0.8, -0.4, 0.0], [0.0, 0.4, 0.0]]),
    )
    with pytest.raises(SingularPoseError):
        WholeModel(in_line).forces([0.35, 0, 0], np.zeros(3), np.zeros(3), pushing=[0, 1, 2])


def test_friction_only_takes_energy():
    s = states()
    velocity, drag = MODELS["rubbing"].feet(s.q, s.v)
    speed = np.linalg.norm(velocity, axis=-1)
    size = (FRICTION.viscous + FRICTION.coulomb / np.hypot(speed, 0.01)) * speed
    assert_allclose(np.linalg.norm(drag, axis=-1), size, rtol=1e-13, atol=1e-15)
    assert_allclose((velocity * drag).sum(axis=-1), -size * speed, rtol=1e-13)
    assert_within(drag[:, GENERAL.fixed], 0.0, 1e-10)
    assert not MODELS["general"].feet(s.q, s.v)[1].any()


def test_batches_broadcast(model):
    s = states(3)
    count = len(model.pillars.joints)
    forces = np.full((2, 1, count), 100.0)
    together = model.accelerations(s.q, s.v, forces, s.wrench)
    assert together.shape == (2, 3, 3)
    alone = model.accelerations(s.q[1], s.v[1], forces[0, 0], s.wrench[1])
    assert_allclose(together[0, 1], alone, rtol=1e-12)
    assert model.lengths(np.zeros((0, 3))).shape == (0, count)
    assert model.pose(s.q[0]).shape == (7,)


def test_refused_arguments(subtests):
    for wrong in ["none", [[1.0, 2.0]], np.full(3, np.nan)]:
        for field in ["coordinates", "rates", "forces", "wrench"]:
            with subtests.test(f"{wrong}, {field}"):
                given = {
                    "coordinates": [0.35, 0.0, 0.0],
                    "rates": np.zeros(3),
                    "forces": np.zeros(4),
                    "wrench": np.zeros(6),
                }
                with pytest.raises(InputError, match=field):
                    MODELS["plate"].accelerations(**given | {field: wrong})


def general_machine():
    """Return the driving simulator with another plate, another fixed foot, unequal pillars."""
    content = tomllib.loads(parameters_path("driving_simulator").read_text())
    points = [[0.7, -0.4, 0.0], [0.9, 0.5, 0.0], [-0.6, 0.3, 0.0], [-0.8, -0.5, 0.0]]
    for side in ("base", "platform"):
        content[side]["joints"]["coordinates"] = points
    content["platform"]["body"] |= {
        "center_of_mass": GENERAL.center_of_mass.tolist(),
        "inertia": GENERAL.inertia.tolist(),
    }
    content["leg"]["fixed_foot"] = 2
    content["variant"] = [{"legs": [3], "source": "Test", "upper_mass": 12.0, "foot_mass": 7.0}]
    content["leg"]["friction"] = {"viscous": 150.0, "coulomb": 30.0, "source": "Test"}
    return Platform(parameters_from(content, "test.toml"))


@pytest.fixture(scope="module", params=["reference", "hardware", "general"])
def platform(request):
    """The driving simulator with its compiled kernels."""
    if request.param == "general":
        return general_machine()
    configuration = None if request.param == "reference" else request.param
    return twin.load("driving_simulator", configuration=configuration)


def test_kernels_agree_with_the_derivation(platform):
    """Both are exact: only rounding of accelerations of the order of a hundred."""
    model, s = WholeModel.from_parameters(platform.parameters), states(100)
    pose, twist = model.pose(s.q), model.twist(s.q, s.v)
    acceleration = model.acceleration(s.q, s.v, s.a)
    forces = model.forces(s.q, s.v, s.a, s.wrench)
    assert_within(platform.inverse_kinematics(pose), model.lengths(s.q), 1e-13)
    assert_allclose(
        platform.inverse_dynamics(pose, twist, acceleration, s.wrench),
        forces,
        rtol=1e-10,
        atol=1e-8,
    )
    pushed = forces + np.random.default_rng(4).normal(size=forces.shape) * 200.0
    expected = model.acceleration(s.q, s.v, model.accelerations(s.q, s.v, pushed, s.wrench))
    scale = np.abs(expected).max()
    found = platform.forward_dynamics(pose, twist, pushed, s.wrench)
    assert_within(found, expected, 1e-10 * scale)
    assert_allclose(platform.energy(pose, twist)[0], model.energy(s.q, s.v)[0], rtol=1e-12)
