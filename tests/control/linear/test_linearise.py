"""Linearised machines against their dynamics, their modes, and other ways to the same matrices."""

from dataclasses import replace

import numpy as np
import pytest
from compliant_held import held_equilibrium, held_linearisation
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from refusals import refused
from tolerance import assert_within, max_abs

import twin
from twin.analysis.stiffness import stiffness_matrix, with_gravity
from twin.control.linear import discretise, linearise, rest_at
from twin.control.linear.machine import (
    driven_system,
    spring_constants,
    with_delay,
    with_drives,
    with_lag,
)
from twin.errors import SingularPoseError
from twin.model.machine_base import ZERO_VECTOR
from twin.papers.compliant_legs.machine import from_parameters
from twin.papers.compliant_legs.rest import locked_linearisation
from twin.rotations import displaced, displacement


@pytest.mark.every_kind
def test_nothing_moves_at_rest(platform):
    rest = rest_at(platform)
    found = platform.forward_dynamics(
        rest.pose, ZERO_VECTOR, rest.forces, deflection=rest.deflection
    )
    assert_within(found, 0.0, 1e-10)


@pytest.mark.slow
def test_accelerations_of_a_small_state(platform, linear):
    """The nonlinear acceleration differs by the square of the state."""
    random = np.random.default_rng(2)
    q, v = random.normal(size=(2, linear.size))
    forces = random.normal(size=platform.n_actuators)
    errors = []
    for size in (1e-3, 1e-4):
        moved = displaced(linear.point.pose, (linear.displacement_map @ q * size)[None])[0]
        k = platform.n_deflections
        inner = linear.point.deflection + size * np.concatenate([q[6:], v[6:]])[: 2 * k]
        motion = platform.constrain(moved, linear.displacement_map @ v * size)
        found = platform.forward_dynamics(
            motion.pose, motion.twist, linear.point.forces + size * forces, deflection=inner
        )
        right = linear.force_input @ forces - linear.stiffness @ q - linear.damping @ v
        slope = np.linalg.solve(linear.mass, right) * size
        kept = [0, 1, 2, 3, 4, 5] if platform.dof == 6 else [2, 3, 4]
        errors.append(max_abs(np.concatenate([found[kept], found[6:]]) - slope) / size)
    assert errors[1] < 0.15 * errors[0] + 1e-8


@pytest.mark.slow
def test_a_motion_is_linearised(stewart, derivative):
    """Rates of displacement and twist, and what is read, near a state that moves."""
    twist = np.array([0.1, -0.05, 0.08, 0.6, -0.4, 0.9])
    pose = displaced(stewart.home, np.array([0.02, 0.01, -0.03, 0.05, 0.1, -0.05]))
    forces, path = np.arange(6.0) * 100.0, "platform.body.mass"
    linear = stewart.linearise(pose, twist, forces, parameters=[path])
    names = ["displacement", "twist", "coordinates", "rates"]
    system = linear.system(["forces", "wrench", "gravity", "parameters"], names)
    random = np.random.default_rng(4)
    q, v, push, load = random.normal(size=(4, 6))
    field, mass = random.normal(size=2)

    def machine(t):
        value = stewart.parameters.platform.body.mass + t * mass
        return stewart.with_(
            parameters={path: value}, gravity=stewart.parameters.gravity - t * field
        )

    def turned(t, later):
        then = displaced(displaced(pose, t * q), later * (twist + t * v))
        return displacement(then, displaced(pose, later * twist))

    def read(t):
        here, rates = displaced(pose, t * q), twist + t * v
        found = machine(t).forward_dynamics(here, rates, forces + t * push, t * load)
        lengths = stewart.inverse_kinematics(here)
        return np.concatenate([found, lengths, stewart.jacobian(here) @ rates])

    speed = derivative(lambda later: derivative(lambda t: turned(t, later), 1e-3), 1e-3)
    change = derivative(read, 1e-3)
    state = np.concatenate([q, v])
    inputs = np.concatenate([push, load, [0.0, 0.0, field, mass]])
    rate = system.A @ state + system.B @ inputs
    assert_within(rate[:6], speed, 1e-6)
    assert_within(rate[6:], change[:6], 1e-6 * abs(change[:6]).max())
    seen = np.concatenate([state, change[6:]])
    assert_within(system.C @ state, seen, 1e-6)


def test_springs_are_linearised_about_any_deflection(derivative):
    machine = twin.load("compliant_stewart")
    random, k = np.random.default_rng(5), machine.n_deflections
    pose = displaced(machine.home, np.array([0.01, 0.01, -0.02, 0.05, 0.1, -0.05]))
    twist, inner = 0.1 * random.normal(size=6), random.normal(size=2 * k) * ([2e-3] * k + [0.1] * k)
    linear = machine.linearise(pose, twist, np.arange(6.0) * 100.0, deflection=inner)
    system = linear.system("forces", "twist")
    q, v = random.normal(size=(2, 6 + k))
    push, springs = random.normal(size=6), np.concatenate([q[6:], v[6:]])

    def found(t):
        here, rates = displaced(pose, t * q[:6]), twist + t * v[:6]
        forces = linear.point.forces + t * push
        return machine.forward_dynamics(here, rates, forces, deflection=inner + t * springs)

    change = derivative(found, 1e-4)
    rate = system.A @ np.concatenate([q, v]) + system.B @ push
    assert_within(rate[6 + k :], change, 1e-7 * max_abs(change))
    with refused("deflection"):
        machine.linearise(deflection=inner[:3])


@pytest.fixture(scope="module")
def sprung_hexapod():
    return linearise(twin.load("micro_hexapod"))


def test_compliant_legs_are_the_closed_form():
    """Held forces and locked actuators against the matrices of `twin.papers.compliant_legs`."""
    platform = twin.load("compliant_stewart")
    machine = from_parameters(platform.parameters)
    linear = linearise(platform)
    at = held_equilibrium(machine, platform.home)
    held = held_linearisation(machine, at)
    for name in ("mass", "damping", "stiffness"):
        wanted, found = getattr(held, name), getattr(linear, name)
        assert_within(found, wanted, 1e-9 * max_abs(wanted))
    locked = locked_linearisation(machine, at)
    blocked = linear.locked()
    for name in ("mass", "damping", "stiffness"):
        wanted, found = getattr(locked, name), getattr(blocked, name)
        assert_within(found, wanted, 1e-7 * max_abs(wanted))


@pytest.mark.every_kind
def test_vertical_field_is_gravity(platform, linear):
    rest, forces = linear.point, np.zeros(platform.n_actuators)
    with_and_without = [
        machine.forward_dynamics(rest.pose, ZERO_VECTOR, forces, deflection=rest.deflection)
        for machine in (platform, with_gravity(platform, 0.0))
    ]
    wanted = (with_and_without[0] - with_and_without[1]) / platform.parameters.gravity
    found = np.linalg.solve(linear.mass, linear.base_input[:, 2])
    assert_within(linear.displacement_map @ found, wanted[:6], 1e-12)


def test_pillars_keep_three_freedoms():
    linear = linearise(twin.load("driving_simulator"))
    assert linear.mass.shape == (3, 3)
    assert_within(linear.displacement_map[[2, 3, 4]], np.eye(3), 1e-12)
    with refused("base_heave_acceleration"):
        linear.system("base_acceleration", "twist")
    with pytest.raises(SingularPoseError, match="blocked"):
        linear.locked()


def test_rest_length_is_a_force(sprung_hexapod):
    k = spring_constants(sprung_hexapod.platform)[0]
    by_force = sprung_hexapod.system("forces", "displacement").response([30.0])
    by_length = sprung_hexapod.system("rest_length", "displacement").response([30.0])
    assert_allclose(by_length, by_force * k, rtol=1e-12)
    with refused("no struts"):
        linearise(twin.load("stewart")).system("rest_length", "twist")


def test_leg_forces_move_the_platform(sprung_hexapod):
    """What the load cells read is all that pushes machine and legs: M a = J' F - K_g d."""
    linear = sprung_hexapod
    random = np.random.default_rng(4)
    state, forces = random.normal(size=12) * 1e-6, random.normal(size=6)
    system = linear.system("forces", ("leg_forces", "acceleration"))
    answer = system.C @ state + system.D @ forces
    parts = stiffness_matrix(linear.platform)
    rigid = parts.geometric + parts.weight
    pushed = linear.force_input @ answer[:6] - rigid @ state[:6]
    assert_within(linear.mass @ answer[6:], pushed, 1e-8)


def test_drives_add_inertia():
    linear = linearise(twin.load("stewart"))
    assert (with_drives(linear).mass == linear.mass).all()
    hardware = twin.load("stewart", "hardware")
    driven = with_drives(linearise(hardware))
    drive = hardware.parameters.leg.drive
    assert drive is not None
    added = driven.mass - linear.mass
    wanted = drive.reflected().inertia * driven.force_input @ driven.force_input.T
    assert_allclose(added, wanted, rtol=1e-9, atol=1e-9 * max_abs(wanted))
    response = driven_system(driven, "coordinates").response([1.0, 10.0])
    ideal = driven.system("forces", "coordinates").response([1.0, 10.0])
    turn = 2j * np.pi * np.array([1.0, 10.0])
    late = np.exp(-turn * driven.delay)
    if driven.lag.size:
        late = late / (1.0 + turn * driven.lag[0])
    assert_allclose(response, ideal * late[:, None, None], rtol=1e-6)
    with refused("without its drives"):
        with_drives(driven)
    with refused("at rest only"):
        with_drives(linearise(hardware, hardware.home, [0.0, 0.1, 0.2, 0.0, 0.0, 0.0]))
    with refused("current lag"):
        driven_system(replace(driven, lag=np.array([1e-3, 0, 0, 0, 0, 0])), "rates")


@settings(max_examples=15)
@given(st.floats(1e-4, 1e-2), st.integers(1, 5))
def test_pade_is_all_pass(delay, order):
    linear = linearise(twin.load("stewart"))
    system = linear.system("forces", "rates")
    grid = np.array([0.3, 5.0, 80.0])
    late = with_delay(system, delay, order).response(grid)
    assert_allclose(np.abs(late), np.abs(system.response(grid)), rtol=1e-6, atol=1e-12)


def test_bad_input(stewart):
    linear = linearise(stewart)
    for inputs, outputs in (("force", "rates"), ("forces", "rate")):
        with refused():
            linear.system(inputs, outputs)
    system = linear.system("forces", "rates")
    with refused():
        with_lag(system, 0.0)
    with refused():
        with_delay(system, 1e-3, 9)
    sampled = discretise(system, 1e-3)
    with refused("continuous"):
        with_lag(sampled, 1e-3)
    with refused("continuous"):
        with_delay(sampled, 1e-3)
    with refused():
        linear.reduced(np.ones((5, 2)))
    with refused():
        rest_at(stewart, np.zeros(7))
    with refused():
        discretise(discretise(system, 1e-3), 1e-3)
    with refused():
        system.response([-1.0])
