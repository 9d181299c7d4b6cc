"""Constants of drives from parameters; what legs weigh to their drives; how long steps may be."""

from math import inf

import numpy as np
import pytest
from drive_rig import Bench
from numpy.testing import assert_allclose
from refusals import refused
from shipped import shipped_content
from tolerance import assert_within

import twin
from twin.analysis.platform import Platform
from twin.control.cascade import Cascade
from twin.kernels.plant import columns as column
from twin.machine.file.read import parameters_from
from twin.plant import drives
from twin.plant.drives import (
    drive_constants,
    equivalent_inertia,
    longest_drive_step,
    mobility,
    motor_substeps,
)

pytestmark = pytest.mark.quick

HARDWARE = [
    name for name in twin.machine_names() if twin.load(name, "hardware").parameters.configuration
]
assert "stewart" in HARDWARE

MOTORS = [
    name
    for name in HARDWARE
    if drive_constants(twin.load(name, "hardware"), 1e-4)[0, column.INERTIA] > 0.0
]
assert {"stewart", "rss", "driving_simulator"} <= set(MOTORS)


def with_drive(name, **drive):
    """Return a shipped machine with a drive of its own on every leg."""
    content = shipped_content(name)
    content["leg"]["drive"] = {"source": "Test", **drive}
    return Platform(parameters_from(content, "platform.toml"))


# Constants


def test_heating_keeps_to_the_continuous_force():
    content = shipped_content("stewart")
    content["leg"]["actuator"]["continuous_force"] = "2 kN"
    row = drive_constants(Platform(parameters_from(content, "x.toml", "hardware")), 5e-4)[0]
    assert row[column.CONTINUOUS_EFFORT] == 2000.0
    assert row[column.PEAK_EFFORT] == 6146.0


@pytest.mark.parametrize("name", twin.machine_names())
def test_without_a_drive_nothing_is_added(name):
    """A drive on the bench passes every force; one with a kind alone does so too."""
    given = np.random.default_rng(3).normal(size=(20, 3)) * [1e3, 0.1, 0.1]
    plain = twin.load(name)
    bare = with_drive(name, **({"kind": "gear"} if name == "rss" else {"kind": "direct"}))
    for platform in (plain, bare):
        constants = drive_constants(platform, 1e-3)
        for index in range(platform.n_actuators):
            row = constants[index : index + 1].copy()
            middle = platform.home_coordinates[index]
            bench = Bench(row, 1e-3)
            limit = row[0, column.PEAK_EFFORT]
            for force, at, rate in given:
                expected = min(max(force, -limit), limit)
                top = row[0, column.MAX_SPEED]
                slow = 0.9 * min(top, abs(rate)) * np.sign(rate)
                assert bench.force(force, middle + 0.01 * at, slow) == expected


def test_a_lag_much_shorter_than_a_step_is_none():
    row = drive_constants(with_drive("stewart", kind="direct", current_lag=1e-12), 1e-3)[0]
    assert row[column.LAG_FACTOR] == 0.0
    assert row[column.MEAN_LAG_FACTOR] < 1e-8


# What legs weigh


@pytest.mark.parametrize("name", twin.machine_names())
def test_mobility_is_what_legs_do_under_forces(name):
    """From the mass matrix where there is one for six motions, else by its symmetry and rank."""
    platform = twin.load(name)
    response = mobility(platform)
    values = np.linalg.eigvalsh(response)
    assert_within(response, response.T, 1e-12 * values[-1])
    assert (np.abs(values) > 1e-9 * values[-1]).sum() == platform.dof
    assert values[0] > -1e-12 * values[-1]
    if platform.dof == 6 and not platform.n_deflections:
        jacobian = platform.jacobian(platform.home)
        mass = platform.mass_matrix(platform.home)
        expected = jacobian @ np.linalg.solve(mass, jacobian.T)
        assert_within(response, expected, 1e-9 * values[-1])


def test_springs_in_series_are_not_what_motors_move():
    """Along a viscoelastic leg the motor parts a follower of 5 kg from a housing of 8 + 2/4 kg."""
    platform = twin.load("compliant_stewart")
    content = shipped_content("compliant_stewart")
    content["platform"]["body"] |= {"mass": 1e8, "inertia": [1e8, 1e8, 1e8]}
    heavy = Platform(parameters_from(content, "platform.toml"))
    assert_within(mobility(heavy), np.eye(6) / 8.5, 1e-6)
    assert (np.diag(mobility(platform)) > 1.0 / 8.5).all()


def test_heave_of_the_simulator_is_shared_by_four():
    """All four push: plate and what moves with it, a quarter each (plate 150, corners 28 kg)."""
    platform = twin.load("driving_simulator")
    assert_allclose(equivalent_inertia(platform), (150.0 + 4 * 28.0) / 4.0, rtol=1e-9, atol=0)
    # Lengths of the four are tied by one equation: forces in that pattern move nothing.
    pattern = np.array([1.0, -1.0, 1.0, -1.0])
    assert_within(mobility(platform) @ pattern, 0.0, 1e-12)


def test_motors_weigh_as_much_as_their_legs_see(subtests):
    for name in HARDWARE:
        with subtests.test(f"{name}"):
            plain, real = twin.load(name), twin.load(name, "hardware")
            motors = [leg.drive.reflected().inertia for leg in real.parameters.legs]
            friction_under_feet = name == "driving_simulator"
            assert_allclose(
                equivalent_inertia(real) - equivalent_inertia(plain),
                motors,
                rtol=1e-6 if friction_under_feet else 1e-9,
                atol=1e-9,
            )


def test_an_actuator_the_others_drive_backwards_is_not_infinitely_heavy(
    monkeypatch,
):
    response = np.diag([1.0, 2.0, 2.0, 2.0])
    response[0, 1:3] = response[1:3, 0] = -0.9
    monkeypatch.setattr(drives, "mobility", lambda platform: response)
    weights = equivalent_inertia(with_drive("driving_simulator", kind="direct"))
    assert_allclose(weights, [100.0, 1 / 1.1, 1 / 1.1, 0.5], rtol=1e-12, atol=0)


# Steps


def test_too_long_steps_are_refused_and_the_longest_is_named(subtests):
    for name in MOTORS:
        with subtests.test(f"{name}"):
            platform = twin.load(name, "hardware")
            longest = longest_drive_step(platform, drive_constants(platform, 1e-5))
            drive_constants(platform, 0.999 * longest)
            with refused(f"at most {longest:.2g} s"):
                drive_constants(platform, 1.001 * longest)


def calm(platform, step, fidelity):
    """Return the largest change of a force from step to step, after the motors were pushed."""
    controller = Cascade(platform, period=step)
    gentle = controller.velocity_gain * 0.01
    controller.velocity_gain = gentle
    run = platform.simulate(
        300 * step,
        twist=[0.0, 0.0, 0.01, 0.0, 0.0, 0.0],
        controller=controller,
        timestep=step,
        engine="mujoco" if fidelity == "fast" else "analytic",
        fidelity=fidelity,
        progress=False,
    )
    return float(np.abs(np.diff(run.forces[-30:], axis=0)).max())


@pytest.mark.parametrize(("fidelity", "factor"), [("accurate", 2.0), ("fast", 1.0)])
def test_the_limit_is_where_machines_run_away(fidelity, factor, monkeypatch):
    """Of the closed form at home: h^2 k/m + h c/m = 2, or twice that where engines take means."""
    plain = with_drive(
        "stewart",
        kind="direct",
        moving_mass=719.0,
        stiffness="20 N/um",
        damping="14 kN s/m",
    )
    rows = drive_constants(plain, 1e-5)
    rows[:, column.STIFFNESS] /= factor
    rows[:, (column.STOP_STIFFNESS, column.STOP_DAMPING)] = 0.0
    limit = longest_drive_step(plain, rows) / drives.STABLE_STEP_FRACTION
    monkeypatch.setattr(drives, "check_step", lambda *_, **__: None)
    assert calm(plain, 0.93 * limit, fidelity) < 100.0
    with np.errstate(all="ignore"):
        assert calm(plain, 1.07 * limit, fidelity) > 1000.0


def test_unlike_legs_limit_the_step_by_their_fastest_motion():
    """As above, with k/m and c/m of all legs together; stiffness alone does not decide."""
    platform = twin.load("stewart", "hardware")
    rows = drive_constants(platform, 1e-5)
    rows[:, [column.INERTIA, column.STIFFNESS, column.DAMPING]] = 719.0, 2e7, 14e3
    rows[:, (column.STOP_STIFFNESS, column.STOP_DAMPING)] = 0.0
    alike = longest_drive_step(platform, rows)
    rows[0, column.STIFFNESS] *= 1.0 + 1e-9
    assert_allclose(longest_drive_step(platform, rows), alike, rtol=1e-8)
    rows[0, column.STIFFNESS] *= 4.0
    step = longest_drive_step(platform, rows) / drives.STABLE_STEP_FRACTION
    response = drives.mobility(platform)
    stiffness_per_mass, damping_per_mass = (
        np.linalg.eigvals(response * rows[:, kind]).real.max()
        for kind in (column.STIFFNESS, column.DAMPING)
    )
    assert_allclose(step**2 * stiffness_per_mass + step * damping_per_mass, 2.0, rtol=1e-9)


def test_light_motors_take_more_steps_until_they_are_too_light():
    row = np.zeros((1, column.CONSTANT_COUNT))
    row[0, [column.INERTIA, column.STIFFNESS, column.DAMPING]] = 719.0, 2e7, 14e3
    assert motor_substeps(row, 5e-4) == 4
    row[0, column.INERTIA] = 0.1
    assert motor_substeps(row, 5e-4) == np.ceil(5e-4 * 14e4 / 0.2)
    for light in (1e-4, 1e-300):
        row[0, column.INERTIA] = light
        with refused("a motor would need"):
            motor_substeps(row, 5e-4)
    row[0, column.INERTIA] = 0.0
    assert motor_substeps(row, 5e-4) == 1


def test_viscous_friction_without_a_motor_limits_the_step():
    slow = with_drive("srspm", kind="direct", viscous="50 N s/m")
    assert drive_constants(slow, 1e-3)[0, column.VISCOUS] == 50.0
    assert longest_drive_step(twin.load("srspm"), drive_constants(twin.load("srspm"), 1.0)) == inf
    with refused("too long for the drives"):
        drive_constants(with_drive("srspm", kind="direct", viscous="40 kN s/m"), 1e-3)
