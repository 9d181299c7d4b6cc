"""Laws through drives and encoders: the linear loop against the nonlinear machine."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from scipy.linalg import solve_discrete_are
from tolerance import assert_within

import twin
from twin.analysis.frequency.linear import decay_poles, slowest_shape
from twin.control.active_damping import (
    DirectVelocityFeedback,
    IntegralForceFeedback,
    closed_loop,
)
from twin.control.active_damping.closed_loop import driven_plant, structural_damping
from twin.control.active_damping.hac_lac import riccati
from twin.control.linear import linearise, rest_at
from twin.control.linear.machine import discretise, with_drives
from twin.errors import StateError
from twin.machine.machine import MachineParameters
from twin.rotations import displaced, displacement

SPRUNG = ("compliant_stewart", "micro_hexapod")
LAWS = {"iff": IntegralForceFeedback, "dvf": DirectVelocityFeedback}
SMOOTH = {"analogue_bits": None}


def driven(name, *, counts=None, **changes):
    """Return a machine whose drives are linear, with finer encoders or without."""
    content = twin.load(name, "hardware").parameters.model_dump()
    drive = content["leg"]["drive"]
    drive.update(SMOOTH | changes)
    if drive["kind"] == "screw":
        drive["friction_torque"] = 0.0
    content["leg"]["encoder"] = None if counts is None else {"source": "test", "counts": counts}
    return twin.Platform(MachineParameters.model_validate(content))


def swing_of(controller, periods, timestep, size):
    """Return the slowest mode at the control instants, released from a small displacement."""
    platform = controller.platform
    shape, row = slowest_shape(controller.linear)
    run = twin.simulate(
        platform,
        periods * controller.period,
        displaced(platform.home, shape / np.abs(shape).max() * size),
        deflection=rest_at(platform).deflection,
        controller=controller,
        timestep=timestep,
        every=round(controller.period / timestep),
        fidelity="fast",
    )
    assert not run.stopped
    return displacement(run.pose, platform.home) @ row


def test_struts_decay_through_drives_as_predicted(subtests):
    """Delays of whole and broken periods, with and without a lag, counted rates and exact ones."""
    for changes in [{}, {"delay": 1.5e-4}, {"current_lag": 0.0}, {"delay": 0.0}]:
        for counts in [None, 10_000_000]:
            with subtests.test(f"{changes}, {counts}"):
                platform = driven("micro_hexapod", counts=counts, **changes)
                controller = DirectVelocityFeedback(platform, gain=6000.0)
                swing = swing_of(controller, 250, 2.5e-5, 1e-5)
                found = decay_poles(swing[10:], controller.period, 3)
                found = found[found.imag > 0.0][0]
                rates = closed_loop(controller.linear, controller.law).rates
                assert np.abs(rates - found).min() < 3e-4 * abs(found)


def test_force_feedback_of_struts_through_drives(subtests):
    """Forces are read as means over the engine's last step, half a step early: 3.5e-4 at 10 us."""
    for changes in [{}, {"current_lag": 0.0}, {"delay": 0.0, "current_lag": 0.0}]:
        with subtests.test(f"{changes}"):
            platform = driven("micro_hexapod", **changes)
            controller = IntegralForceFeedback(platform, gain=400.0)
            swing = swing_of(controller, 250, 1e-5, 1e-5)
            found = decay_poles(swing[10:], controller.period, 4)
            found = found[found.imag > 0.0][0]
            rates = closed_loop(controller.linear, controller.law).rates
            assert np.abs(rates - found).min() < 5e-4 * abs(found)


@pytest.mark.parametrize("counts", [None, 10_000_000])
@pytest.mark.parametrize("kind", list(LAWS))
def test_motors_on_transmissions_decay_as_predicted(kind, counts):
    """Springs in series, motors with inertia; friction and quantisation, not linear, left out.

    Force feedback is off by 5e-4: its forces are read half an engine's step early.
    """
    platform = driven("compliant_stewart", counts=counts)
    options = {"gain": 20.0} if kind == "iff" else {}
    controller = LAWS[kind](platform, **options)
    swing = swing_of(controller, 800, 2.5e-4, 1e-4)
    found = decay_poles(swing[20:], controller.period, 5)
    found = found[found.imag > 0.0][0]
    rates = closed_loop(controller.linear, controller.law).rates
    assert np.abs(rates - found).min() < 1e-3 * abs(found)


@pytest.mark.parametrize("name", SPRUNG)
def test_without_drives_it_is_the_sampled_machine_with_the_past_force(name):
    linear, step = linearise(twin.load(name)), 1e-4
    n = linear.platform.n_actuators
    found = driven_plant(linear, step, ("wrench",), ("displacement",))
    names = ("coordinates", "rates", "displacement")
    wanted = discretise(linear.system(("forces", "wrench"), names), step)
    places = [0.0, 3.0, 40.0]
    answer, other = found.response(places[1:]), wanted.response(places[1:])
    rows = [*range(2 * n), *range(3 * n, 3 * n + 6)]
    assert_allclose(answer[:, rows], other, rtol=1e-9, atol=1e-12)
    late = np.exp(-2j * np.pi * np.array(places[1:]) * step)
    past = answer[:, 2 * n : 3 * n, :n]
    assert_within(past, late[:, None, None] * np.eye(n), 1e-12)


def test_rigid_transmissions_add_the_armature_as_with_drives():
    """Far below the transmission's modes motors move with their legs."""
    platform = driven("compliant_stewart", delay=0.0, current_lag=0.0, stiffness=1e9, damping=1e5)
    linear, step = linearise(platform), 1e-3
    found = driven_plant(linear, step, (), ("displacement",)).response([0.5, 2.0, 8.0])
    rigid = discretise(with_drives(linear).system("forces", "displacement"), step)
    wanted = rigid.response([0.5, 2.0, 8.0])
    assert_allclose(found[:, 18:], wanted, rtol=1e-4, atol=1e-10)


@pytest.mark.parametrize("kind", list(LAWS))
@pytest.mark.parametrize("name", SPRUNG)
def test_laws_damp_through_real_drives(name, kind):
    platform = twin.load(name, "hardware")
    controller = LAWS[kind](platform)
    linear = controller.linear
    passive = (
        (linear.locked() if platform.n_deflections else linear).system("wrench", "twist").poles
    )
    without = float((-passive.real / np.abs(passive)).min())
    assert structural_damping(linear, closed_loop(linear, controller.law).rates) > 3.0 * without


def test_drives_that_are_too_late_are_refused():
    """Velocity feedback a quarter of the slowest mode's period late only excites."""
    platform = driven("micro_hexapod", delay=2e-3, current_lag=0.0)
    with refused() as caught:
        DirectVelocityFeedback(platform, period=5e-4)
    assert "through its drives" in str(caught.value)
    DirectVelocityFeedback(platform, gain=10.0, period=5e-4)


def test_machines_with_drives_inside_are_refused():
    linear = linearise(twin.load("micro_hexapod", "hardware"))
    with refused():
        driven_plant(with_drives(linear), 1e-4)
    with refused():
        driven_plant(linear, 0.0)


def test_riccati_is_scipys():
    generator = np.random.default_rng(3)
    dynamics, input_matrix = generator.normal(size=(6, 6)), generator.normal(size=(6, 2))
    cost = np.diag([1.0, 2.0, 0.0, 0.0, 3.0, 1.0])
    found = riccati(dynamics, input_matrix, cost, np.eye(2))
    wanted = solve_discrete_are(dynamics, input_matrix, cost, np.eye(2))
    assert_allclose(found, wanted, rtol=1e-8, atol=1e-9)


def test_riccati_refuses_what_cannot_be_reached():
    with pytest.raises(StateError):
        riccati(np.diag([1.5, 0.5]), np.array([[0.0], [1.0]]), np.eye(2), np.eye(1))
