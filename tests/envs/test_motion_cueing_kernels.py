"""Kernels of MotionCueing against the offline functions of `twin.motion.cueing`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tolerance import assert_within, max_abs

import twin
from twin.envs.motion_cueing.manoeuvres import (
    DRIVE_PIECES,
    as_manoeuvre,
    expected_speed,
    fill_driven,
    fill_table,
    random_drive,
    wheel_angle,
)
from twin.envs.motion_cueing.task import MotionCueingEnv, perception_models
from twin.errors import InputError
from twin.kernels.tasks.motion_cueing.cues import sense_all
from twin.kernels.tasks.motion_cueing.task import (
    above_threshold,
    false_part,
    false_term,
)
from twin.motion.cueing import (
    MANOEUVRES,
    Car,
    Perceived,
    Tyre,
    make_manoeuvre,
)
from twin.motion.cueing.algorithm import motion_of_axes
from twin.motion.cueing.manoeuvre import GRAVITY
from twin.motion.cueing.perception import (
    CANAL_ADAPTATION,
    CANAL_LONG,
    OTOLITH_GAIN,
    OTOLITH_LEAD,
    OTOLITH_LONG,
    OTOLITH_SHORT,
    PERCEPTION_THRESHOLDS,
)
from twin.motion.motion import AxisSample

REST = [0.0, 0.0, GRAVITY]


def sensed(models, left, right, out):
    """Fill `out` (n, 6) with what inputs at both ends of periods are perceived as."""
    states = np.zeros((6, 2))
    for k in range(left.shape[0]):
        sense_all(models, states, left[k], right[k], out[k])


def test_perception_of_a_step_has_its_closed_form():
    period, held = 0.01, np.ones((300, 6))
    found = np.empty((300, 6))
    sensed(perception_models(period), held, held, found)
    time = period * np.arange(1, 301)
    long, short, lead = OTOLITH_LONG, OTOLITH_SHORT, OTOLITH_LEAD
    otolith = OTOLITH_GAIN * (
        1.0
        - (1.0 - lead / long) / (1.0 - short / long) * np.exp(-time / long)
        - (1.0 - lead / short) / (1.0 - long / short) * np.exp(-time / short)
    )
    one, other = CANAL_LONG, CANAL_ADAPTATION
    canal = (other * np.exp(-time / one) - one * np.exp(-time / other)) / (other - one)
    wanted = np.stack([otolith] * 3 + [canal] * 3, axis=1)
    assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)


def test_drives_are_varied_and_follow_from_the_generator():
    drives = [random_drive(np.random.default_rng(seed), 1.0) for seed in range(60)]
    again = random_drive(np.random.default_rng(7), 1.0)
    assert_array_equal(again.manoeuvre.specific_force, drives[7].manoeuvre.specific_force)
    assert {name for drive in drives for name in drive.manoeuvres} == set(DRIVE_PIECES)
    assert len({drive.manoeuvres for drive in drives}) > 20
    most = np.max(
        [np.abs(drive.manoeuvre.specific_force - REST).max(axis=0) for drive in drives], axis=0
    )
    assert 3.0 < most[0] < 10.0 and 3.0 < most[1] < 10.0
    gentle = random_drive(np.random.default_rng(7), 0.1).manoeuvre
    assert max_abs(gentle.specific_force - REST) < 1.0


def test_wheel_is_turned_for_the_wanted_acceleration():
    car = Car(front_tyre=Tyre(80e3, linear=True), rear_tyre=Tyre(95e3, linear=True))
    count = 2001
    steer = wheel_angle(car, np.full(count, 20.0), np.full(count, 2.0))
    manoeuvre = car.drive("drive", 20.0, steer, np.zeros(count))
    # Tyres turned inwards hold the car up a little.
    assert manoeuvre.angular_rate[-1, 2] * 20.0 == pytest.approx(2.0, rel=0.05)
    assert expected_speed(10.0, np.full(401, 2.0))[-1] == pytest.approx(12.0, rel=0.01)


def test_manoeuvres_by_name_file_and_value(tmp_path):
    assert as_manoeuvre("drive") is None
    assert {as_manoeuvre(name).name for name in MANOEUVRES} == set(MANOEUVRES)
    manoeuvre = make_manoeuvre("slalom")
    assert as_manoeuvre(manoeuvre) is manoeuvre
    file = tmp_path / "lap.csv"
    file.write_text("time [ms],fx [g],fy [g],fz [g]\n0,0,0,1\n10,0.1,0,1\n20,0,0,1\n30,0,0.2,1\n")
    table = np.empty((50, 6))
    fill_table(as_manoeuvre(str(file)), 0.001, table)
    assert_allclose(table[10, :2], [0.980665, 0.0], rtol=1e-6, atol=1e-12)
    assert_within(table[40], table[30], 0.0)
    for wrong in ("lap", 3, None, str(tmp_path / "none.csv")):
        with pytest.raises((InputError, FileNotFoundError)):
            as_manoeuvre(wrong)


def test_tables_of_drives_are_those_of_their_manoeuvres(subtests):
    for period in [0.005, 0.01, 0.02, 0.007]:
        with subtests.test(f"{period}"):
            drive = random_drive(np.random.default_rng(3), 1.0)
            found, wanted = np.zeros((2, round(14.0 / period) + 1, 6))
            fill_driven(drive, period, found)
            fill_table(drive.manoeuvre, period, wanted)
            assert_within(found, wanted, 1e-12)
            assert np.abs(found).max() > 1.0


numbers = st.floats(-5.0, 5.0)


@given(st.lists(numbers, min_size=6, max_size=6), st.lists(numbers, min_size=6, max_size=6))
def test_false_cues_are_those_of_the_package(ours, theirs):
    platform, vehicle = np.array(ours), np.array(theirs)
    shown, known = (
        np.hstack(Perceived(values[:3], values[3:]).above_threshold())
        for values in (platform, vehicle)
    )
    wanted = np.where(known * shown > 0.0, 0.0, shown)
    for j in range(6):
        assert above_threshold(platform[j], PERCEPTION_THRESHOLDS[j]) == pytest.approx(
            shown[j], abs=1e-12
        )
        found = false_part(platform[j], vehicle[j], PERCEPTION_THRESHOLDS[j])
        assert found == pytest.approx(wanted[j], abs=1e-12)
    mean = -np.mean((wanted / PERCEPTION_THRESHOLDS / 10.0) ** 2)
    assert false_term(platform, vehicle, PERCEPTION_THRESHOLDS) == pytest.approx(mean, abs=1e-9)
    assert false_term(vehicle, vehicle, PERCEPTION_THRESHOLDS) == 0.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("stewart", "accelerations"),
        ("driving_simulator", "accelerations"),
        ("driving_simulator", "increments"),
        ("rss", "increments"),
        ("micro_hexapod", "accelerations"),
    ],
)
def test_command_keeps_range_and_speed(name, action):
    environment = MotionCueingEnv(name, action=action)
    task, machine = environment.task, twin.load(name)
    environment.reset(seed=1)
    random, still = np.random.default_rng(3), np.zeros((1, 6))
    width = task.actions[0].size
    last = task.state.targets[0].copy()
    offset = last - machine.inverse_kinematics(machine.home)
    reached = np.zeros(machine.n_actuators)
    actions = np.zeros((1, width))
    for k in range(400):
        if k % 25 == 0:
            actions[:] = random.choice([-1.0, 1.0], (1, width))
        task.batch.measured[0] = last
        task.command(actions)
        now = task.state.targets[0]
        pose = motion_of_axes(machine, AxisSample(task.commands, still, still)).pose[0]
        wanted = machine.inverse_kinematics(pose) + offset
        assert_allclose(now, wanted, rtol=1e-12, atol=1e-12)
        moved = np.clip(
            now - last, -task.command_constants.max_travel, task.command_constants.max_travel
        )
        assert_allclose(task.drive_commands[0] * 0.01, moved, rtol=1e-9, atol=1e-12)
        assert (np.abs(now - last) <= 1.01 * task.command_constants.max_travel).all()
        kept = 1e-3 * task.scales.half
        assert (now >= task.command_constants.low - kept).all() and (
            now <= task.command_constants.high + kept
        ).all()
        reached = np.maximum(reached, np.abs(now - task.scales.middle) / task.scales.half)
        last = now.copy()
    assert reached.max() > 0.5
