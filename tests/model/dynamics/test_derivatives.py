"""Derivatives of forward and inverse dynamics, against differences and against each other."""

import numpy as np
import pytest
from refusals import refused
from tolerance import assert_within, max_abs

import twin
from twin.control.linear.lqr import free_directions
from twin.errors import UnreachablePoseError
from twin.machine.randomisation.sampler import nominal_value
from twin.rotations import displaced, displacement

SAME = 1e-7
"""Relative: differences of the step 1e-3 and their rounding."""

MANY = slice(0, 200, 40)
"""Of the random states."""


def along(found, **moved):
    """Return the rate of the results when the variables move at given rates."""
    parts = found._asdict()
    return sum(parts[name] @ rate for name, rate in moved.items())


def test_forward_dynamics(platform, states, derivative):
    """Along a random direction that the machine's constraints allow."""
    random = np.random.default_rng(5)
    for row in zip(*(rows[MANY] for rows in states), strict=True):
        pose, twist, _, forces, wrench, deflection = row
        push, turn = random.normal(size=(2, 6)) * max_abs(twist)
        more = random.normal(size=len(forces)) * max_abs(forces)
        load, inner = random.normal(size=6), 1e-2 * random.normal(size=len(deflection))

        def motion(t, pose=pose, twist=twist):
            moved = displaced(pose, (t * push)[None])[0]  # noqa: B023
            return platform.constrain(moved, twist + t * turn)  # noqa: B023

        def accelerations(t):
            at = motion(t)
            return platform.forward_dynamics(
                at.pose,
                at.twist,
                forces + t * more,  # noqa: B023
                wrench + t * load,  # noqa: B023
                deflection=deflection + t * inner,  # noqa: B023
            )

        found = platform.forward_dynamics_derivatives(
            pose, twist, forces, wrench, deflection=deflection
        )
        rate = along(
            found,
            pose=derivative(lambda t: displacement(motion(t).pose, pose), 1e-3),  # noqa: B023
            twist=derivative(lambda t: motion(t).twist, 1e-3),
            inputs=more,
            wrench=load,
            deflection=inner,
        )
        expected = derivative(accelerations, 1e-3)
        atol = SAME * float(max_abs(expected))
        assert_within(rate, expected, atol)


def test_by_gravity(platform):
    """Accelerations are linear in gravity: those on the Moon follow from the derivative."""
    still, forces = np.zeros(6), np.zeros(platform.n_actuators)
    here = platform.forward_dynamics(platform.home, still, forces)
    found = platform.forward_dynamics_derivatives(platform.home, still, forces)
    moon = platform.with_(gravity=1.62)
    lighter = np.array([0.0, 0.0, platform.parameters.gravity - 1.62])
    there = moon.forward_dynamics(platform.home, still, forces)
    assert_within(here + found.gravity @ lighter, there, 1e-10)


@pytest.mark.slow
def test_inverse_dynamics_is_the_inverse(states, platform):
    """Along forces that follow the state such that the acceleration stays, nothing changes."""
    if platform.n_actuators != 6 or platform.dof < 6 or platform.n_deflections:
        pytest.skip("forces and accelerations do not determine each other")
    pose, twist, _, forces, wrench, _ = (rows[MANY] for rows in states)
    acceleration = platform.forward_dynamics(pose, twist, forces, wrench)
    forward = platform.forward_dynamics_derivatives(pose, twist, forces, wrench)
    inverse = platform.inverse_dynamics_derivatives(pose, twist, acceleration, wrench)
    one = inverse.inputs @ forward.inputs
    assert_within(one, np.broadcast_to(np.eye(6), one.shape), 1e-9)
    for by in ("pose", "twist", "wrench", "gravity"):
        own = getattr(inverse, by)
        left = own + inverse.inputs @ getattr(forward, by)
        assert_within(left, 0.0, 1e-9 * float(max_abs(own)))


PARAMETERS = {
    "stewart": ("base.joints.radius", "platform.body.mass", "leg.rod.mass", "gravity"),
    "micro_hexapod": (
        "leg.axial.stiffness",
        "leg.housing.center_of_mass.0",
        "leg.housing.inertia.0.1",
        "home.position.2",
    ),
    "rss": ("leg.crank_length", "platform.joints.height", "leg.rod.density"),
}
"""Of joints, bodies and springs; what is zero of a symmetric body too."""


@pytest.mark.slow
@pytest.mark.parametrize("name", PARAMETERS)
def test_by_parameters(name, derivative):
    platform, paths = twin.load(name), PARAMETERS[name]
    pose = displaced(platform.home, np.array([0.01, -0.02, 0.01, 0.02, 0.03, -0.01]))
    motion = (pose, np.array([0.2, 0.1, -0.1, 0.5, 0.4, -0.6]), np.arange(1.0, 7.0))
    forces = platform.inverse_dynamics(*motion)
    forward = platform.forward_dynamics_derivatives(*motion[:2], forces, parameters=paths)
    inverse = platform.inverse_dynamics_derivatives(*motion, parameters=paths)
    for k, path in enumerate(paths):
        value = nominal_value(platform.parameters, path)
        size = abs(value) or 1e-4

        def other(t):
            return platform.with_(parameters={path: value + t * size})  # noqa: B023

        for found, result in (
            (forward, lambda t: other(t).forward_dynamics(*motion[:2], forces)),
            (inverse, lambda t: other(t).inverse_dynamics(*motion)),
        ):
            expected = derivative(result, 1e-3)
            assert max_abs(expected) > 1e-6
            rate = found.parameters[:, k] * size
            atol = SAME * (max_abs(expected) + max_abs(result(0.0)))
            assert_within(rate, expected, atol)


def test_of_forward_kinematics(derivative):
    platform, path = twin.load("srspm"), "base.joints.radius"
    pose = displaced(platform.home, 0.01 * np.arange(1.0, 7.0))
    lengths = platform.inverse_kinematics(pose)
    found = platform.forward_kinematics_derivatives(lengths, pose, parameters=[path])
    assert_within(found.pose, pose, 1e-12)
    one = platform.jacobian(pose) @ found.coordinates
    assert_within(one, np.eye(6), 1e-9)
    value = nominal_value(platform.parameters, path)

    def moved(t):
        other = platform.with_(parameters={path: value + t})
        return displacement(other.forward_kinematics(lengths, pose), pose)

    expected = derivative(moved, 1e-3)
    assert_within(found.parameters[:, 0], expected, 1e-7)


def test_of_forward_kinematics_with_constraints():
    """Whatever displacement the constraints allow follows from its coordinates."""
    platform = twin.load("driving_simulator")
    pose = platform.constrain(displaced(platform.home, 0.01 * np.arange(1.0, 7.0))).pose
    found = platform.forward_kinematics_derivatives(platform.inverse_kinematics(pose), pose)
    free = free_directions(platform, pose)
    back = found.coordinates @ platform.jacobian(pose) @ free
    assert_within(back, free, 1e-9)


@pytest.mark.quick
def test_parameters_are_checked(stewart):
    for wrong in ("gravity", ["no.such.parameter"]):
        with refused(r"parameters|no\.such"):
            stewart.forward_kinematics_derivatives(stewart.home_coordinates, parameters=wrong)


def test_a_state_without_derivatives_is_named():
    rss = twin.load("rss")
    poses = np.tile(rss.home, (3, 1))
    poses[1, 2] = 5.0
    with pytest.raises(UnreachablePoseError) as caught:
        rss.forward_dynamics_derivatives(poses, np.zeros(6), np.zeros(6))
    assert caught.value.data["index"] == 1
