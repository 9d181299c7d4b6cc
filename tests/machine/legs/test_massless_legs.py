"""Legs without mass: the platform's own equations are left, and what has no sense is refused."""

import numpy as np
import pytest
from tolerance import assert_within, max_abs
from unsymmetric import KINDS, content_without_symmetry

from twin.analysis.platform import Platform
from twin.errors import ParameterError
from twin.machine.file.read import parameters_from

pytestmark = pytest.mark.quick


def with_leg_masses(kind, mass):
    """Return the description of a machine whose legs' parts weigh `mass` [kg], or nothing."""
    content = content_without_symmetry(kind)
    content.pop("variant", None)
    body = {"source": "Test", "kind": "rigid", "mass": mass, "center_of_mass": [0.01, 0.02, 0.1]}
    body |= {"inertia": [0.1 * mass] * 3} if mass else {}
    leg = content["leg"]
    for name in ("housing", "rod", "crank"):
        if name in leg:
            leg[name] = body
    if kind == "upu":
        leg["rod"] = {"source": "Test", "kind": "symmetric", "mass": mass, "center": 0.1}
        leg["rod"] |= {f"{name}_inertia": 0.1 * mass for name in ("transverse", "axial")}
    if kind == "rss":
        leg["rod"] = {"source": "Test", "mass": mass}
    for name in ("upper_mass", "foot_mass", "spring_mass", "follower_mass"):
        if name in leg:
            leg[name] = mass
    return content


def platform_of(content):
    """Return the machine that a description describes."""
    return Platform(parameters_from(content, "platform.toml"))


def states(platform):
    """Return pose, twist and acceleration near home, as the machine can have them."""
    generator = np.random.default_rng(3)
    return tuple(
        platform.constrain(
            platform.home, 0.3 * generator.normal(size=6), 2.0 * generator.normal(size=6)
        )
    )


@pytest.mark.slow
def test_massless_legs_are_the_limit_of_light_ones(subtests):
    for kind in KINDS:
        with subtests.test(f"{kind}"):
            massless, light = (platform_of(with_leg_masses(kind, mass)) for mass in (0.0, 1e-9))
            motion = states(massless)
            forces = massless.inverse_dynamics(*motion)
            assert np.isfinite(forces).all()
            near = light.inverse_dynamics(*motion)
            assert_within(forces, near, 1e-8 * max_abs(near))
            found, other = (
                one.forward_dynamics(*motion[:2], forces)[:6] for one in (massless, light)
            )
            assert_within(found, motion[2], 1e-9)
            assert_within(found, other, 1e-6)


@pytest.mark.parametrize("kind", ["ups", "rss"])
def test_forces_of_massless_legs_balance_the_platform_alone(kind):
    """Newton and Euler for one rigid body: J^T f is the wrench that its motion needs."""
    platform = platform_of(with_leg_masses(kind, 0.0))
    body = platform.parameters.platform.body
    pose, twist, acceleration = states(platform)
    turn = platform.parameters.home_rotation
    center, inertia = turn @ body.center_of_mass, turn @ np.array(body.inertia) @ turn.T
    spin, turning = twist[3:], acceleration[3:]
    pull = np.cross(turning, center) + np.cross(spin, np.cross(spin, center))
    weight = np.array([0.0, 0.0, platform.parameters.gravity])
    force = body.mass * (acceleration[:3] + pull + weight)
    moment = inertia @ turning + np.cross(spin, inertia @ spin) + np.cross(center, force)
    wrench = np.concatenate([force, moment])
    forces = platform.inverse_dynamics(pose, twist, acceleration)
    found = platform.jacobian(pose).T @ forces
    assert_within(found, wrench, 1e-10 * max_abs(wrench))


def test_a_massless_rod_on_a_heavy_crank_leaves_the_cranks_inertia():
    """Its effective mass is of rank one, I w w^T; w may have entries of zero."""
    content = with_leg_masses("rss", 0.0)
    content["leg"]["crank"] |= {"mass": 2.0, "inertia": [0.1, 0.1, 0.02]}
    platform = platform_of(content)
    motion = states(platform)
    forces = platform.inverse_dynamics(*motion)
    found = platform.forward_dynamics(*motion[:2], forces)
    assert_within(found, motion[2], 1e-9)
    # Their weight and inertia are felt: the forces differ from those of massless legs.
    without = platform_of(with_leg_masses("rss", 0.0)).inverse_dynamics(*motion)
    assert max_abs(forces - without) > 1e-3 * max_abs(forces)


def test_mass_and_inertia_belong_together(subtests):
    for part, said in [
        ({"mass": 1.0, "inertia": [0.0, 0.0, 0.0]}, "only a part without mass has none"),
        ({"mass": 0.0, "inertia": [0.1, 0.1, 0.1]}, "because the mass is zero"),
        ({"mass": -1.0, "inertia": [0.1, 0.1, 0.1]}, "leg.rod.mass|rod"),
    ]:
        with subtests.test(f"{part}"):
            content = with_leg_masses("ups", 1.0)
            content["leg"]["rod"] = content["leg"]["rod"] | part
            with pytest.raises(ParameterError, match=said):
                platform_of(content)


def test_a_spring_needs_a_mass_at_its_end():
    content = with_leg_masses("viscoelastic", 0.0)
    content["leg"]["housing_mass"] = 0.0
    with pytest.raises(ParameterError, match="the spring's deflection has no acceleration"):
        platform_of(content)


def test_a_platform_needs_a_mass():
    content = with_leg_masses("ups", 1.0)
    content["platform"]["body"]["mass"] = 0.0
    with pytest.raises(ParameterError, match=r"platform\.body\.mass"):
        platform_of(content)
