"""Time steps that springs and dampers allow: predicted, refused beyond, and kept within."""

import re

import numpy as np
import pytest
from refusals import refused
from tolerance import assert_within, max_abs
from unsymmetric import content_without_symmetry

import twin
from twin.analysis.platform import Platform
from twin.engines.base import (
    STEP_MARGIN,
    Linearisation,
    linearise,
    longest_step,
    suitable_timestep,
)
from twin.machine.file.read import parameters_from

REAL_LIMIT, IMAGINARY_LIMIT = 2.785293563405282, 2.0 * np.sqrt(2.0)
"""Ends of the stability region of the classical Runge-Kutta method (Hairer and Wanner, IV.2)."""


def oscillator(frequency, ratio):
    stiffness, damping = -(frequency**2), -2.0 * ratio * frequency
    return Linearisation(np.array([[stiffness]]), np.array([[damping]]))


@pytest.mark.parametrize("name", ["compliant_stewart", "micro_hexapod"])
def test_differences_agree_with_exact_derivatives(name):
    floating = twin.load(name).with_(gravity=1e-12)
    k, forces = floating.n_deflections, np.zeros(floating.n_actuators)
    exact = floating.forward_dynamics_derivatives(floating.home, np.zeros(6), forces)
    stiffness = np.hstack([exact.pose, exact.deflection[:, :k]])
    damping = np.hstack([exact.twist, exact.deflection[:, k:]])
    found = linearise(floating)
    for one, other in ((found.stiffness, stiffness), (found.damping, damping)):
        assert_within(one, other, 1e-9 * max_abs(other))


@pytest.mark.parametrize("frequency", [1.0, 2600.0])
def test_limits_of_an_oscillator(frequency):
    free = oscillator(frequency, 0.0)
    for scheme, limit in (("rk4", IMAGINARY_LIMIT), ("explicit", 2.0)):
        assert free.growth(0.999 * limit / frequency, scheme) < 1.0 + 1e-6
        assert free.growth(1.01 * limit / frequency, scheme) > 1.0 + 1e-3
    heavy = Linearisation(np.zeros((1, 1)), np.array([[-frequency]]))
    assert heavy.growth(0.999 * REAL_LIMIT / frequency, "rk4") < 1.0 + 1e-6
    assert heavy.growth(1.01 * REAL_LIMIT / frequency, "rk4") > 1.0 + 1e-3


@pytest.mark.parametrize(
    ("name", "fidelity"),
    [("analytic", "fast"), *((e, p) for e in ("mujoco", "bullet") for p in ("fast", "accurate"))],
)
@pytest.mark.parametrize("machine", ["micro_hexapod", "compliant_stewart", "lopsided_strut"])
def test_what_is_allowed_stays_together(make, machine, name, fidelity, push):
    """Just inside the limit a thousand steps go well; beyond it the engine is not made."""
    pytest.importorskip({"bullet": "pybullet"}.get(name, "numpy"))
    platform = lopsided() if machine == "lopsided_strut" else twin.load(machine)
    scheme = "rk4" if (name, fidelity) in (("analytic", "fast"), ("mujoco", "accurate")) else None
    allowed = STEP_MARGIN * longest_step(platform, scheme or "explicit")
    engine = make(name, platform, 0.99 * allowed, fidelity)
    # Long steps end before what is not held has fallen through.
    steps = min(1000, round(0.2 / engine.timestep))
    state = push(platform).run(engine, steps * engine.timestep)
    assert_within(state.pose, platform.home, 0.5)
    with refused("too long") as caught:
        make(name, platform, 1.01 * allowed, fidelity)
    assert caught.value.field == "timestep"
    message = str(caught.value)
    assert f"{suitable_timestep(platform):g} s is a good one" in message
    named_step = re.search(r"up to (\S+) s", message)
    assert make(name, platform, float(named_step[1]), fidelity).timestep <= allowed


def lopsided():
    return Platform(parameters_from(content_without_symmetry("strut"), "platform.toml"))


def test_adaptive_reference_takes_any_step(make):
    assert make("analytic", twin.load("micro_hexapod"), 0.01).timestep == 0.01


def test_suitable_steps(platform):
    step = suitable_timestep(platform)
    assert step == (1e-4 if platform.kind == "strut" else 1e-3)
    fastest = max_abs(linearise(platform).modes)
    assert step * fastest < 2.0 * np.pi / 20.0


def test_rigid_machines_have_no_longest_step():
    assert longest_step(twin.load("stewart"), "rk4") == np.inf


def test_dry_friction_limits_the_step(make):
    """A foot that sticks within a thousandth of the usual speed is as stiff as a strut."""
    content = content_without_symmetry("pillar")
    content["leg"]["friction"] |= {"coulomb": 100.0, "transition_speed": 1e-6}
    platform = Platform(parameters_from(content, "platform.toml"))
    assert longest_step(platform, "explicit") < 5e-4
    for name in ("mujoco", "bullet"):
        pytest.importorskip({"bullet": "pybullet"}.get(name, name))
        with refused("too long"):
            make(name, platform, 1e-3)
