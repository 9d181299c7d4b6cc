"""The course of the setpoint: continuous however it is steered, within the actuators' limits."""

import numpy as np
import pytest
from conftest import MACHINES
from hypothesis import given
from hypothesis import strategies as some
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused
from tolerance import assert_within, max_abs

import twin
from twin.motion import SineMotion, StepMotion
from twin.motion.motion import AxisSample
from twin.motion.specification import MotionSpecification
from twin.simulation.live.steering import (
    PERIODS_BEFORE,
    Axes,
    Steering,
    quintic_transfer,
)

PERIOD = 1e-3


def steering_of(name):
    return Steering(twin.load(name), PERIOD)


numbers = some.floats(-2.0, 2.0)
states = some.lists(numbers, min_size=6, max_size=6)


@given(states, states, some.floats(0.1, 5.0))
def test_a_transfer_has_the_states_at_its_ends(first, last, duration):
    start = AxisSample(*np.array(first).reshape(3, 2))
    end = AxisSample(*np.array(last).reshape(3, 2))
    transfer = quintic_transfer(start, end, duration)
    ends = transfer.axes(np.array([0.0, duration]))
    for part, a, b in zip(ends, start, end, strict=True):
        assert_allclose(part, [a, b], rtol=1e-9, atol=1e-9 * max(1.0, duration**-2))


@pytest.mark.parametrize("name", MACHINES)
def test_the_course_is_continuous_however_it_is_steered(name):
    """Orders come at random times, also in the middle of transfers and motions."""
    steering = steering_of(name)
    generator = np.random.default_rng(5)
    high = np.array([axis.high for axis in steering.axes.ranges])
    motion = MotionSpecification("sine", "z", None, 1.0, 0.7).motion_of(steering.platform)
    rows, time = [], 0.0
    for k in range(12):
        order = generator.integers(4)
        if order == 0:
            steering.play(time, motion, bool(k % 2))
        elif order == 1:
            steering.stop(time)
        else:
            steering.move_to(time, 0.3 * high * generator.uniform(-1.0, 1.0, len(high)))
        steps = int(generator.integers(20, 700))
        times = time + PERIOD * np.arange(steps)
        sample = steering.trajectory.sample(times)
        rows.append(np.hstack(sample))
        time = float(times[-1] + PERIOD)
    values, rates, accelerations = np.split(np.concatenate(rows), 3, axis=1)
    # A jump would show as a change that the rates before and after do not explain.
    unexplained = np.diff(values, axis=0) - 0.5 * PERIOD * (rates[1:] + rates[:-1])
    assert max_abs(unexplained) < 1e-5 * max_abs(values)
    turned = np.diff(rates, axis=0) - 0.5 * PERIOD * (accelerations[1:] + accelerations[:-1])
    assert max_abs(turned) < 1e-2 * max_abs(rates)


@pytest.mark.parametrize("name", MACHINES)
def test_transfers_keep_the_actuators_speed(name):
    steering = steering_of(name)
    platform = steering.platform
    limits = [leg.actuator.speed for leg in platform.parameters.legs]
    if any(limit is None for limit in limits):
        pytest.skip(f"no speed limit of {name} is known")
    steering.move_to(0.0, [0.6 * axis.high for axis in steering.axes.ranges])
    reference = steering.reference(0)
    fastest = np.abs(reference.rates).max(axis=0) / np.array(limits, dtype=float)
    assert 0.2 < fastest.max() < 1.0


def test_a_course_at_rest_stays_and_ends_where_it_was_sent():
    steering = steering_of("stewart")
    assert not steering.target.any()
    steering.move_to(1.0, [10.0, -20.0, 30.0, 1.0, 2.0, -3.0])
    assert_allclose(steering.target, [10.0, -20.0, 30.0, 1.0, 2.0, -3.0], rtol=1e-12)
    assert not steering.setpoint(1.0).any()
    assert_allclose(steering.setpoint(60.0), steering.target, rtol=1e-12)


@pytest.mark.parametrize("name", MACHINES)
def test_what_the_legs_cannot_reach_is_approached(name):
    steering = steering_of(name)
    wanted = np.array([3.0 * axis.high for axis in steering.axes.ranges])
    steering.move_to(0.0, wanted)
    share = steering.target / wanted
    assert_allclose(share, share[0], rtol=1e-9)
    assert 0.0 < share[0] < 1.0
    axes, platform = steering.axes, steering.platform
    inside, beyond = (
        platform.within_limits(axes.poses(axes.all_axes(factor * steering.target)[None]))[0]
        for factor in (1.0 - 1e-9, 1.001)
    )
    assert inside
    assert not beyond


def test_a_slider_that_is_thrown_against_its_end_stays_inside():
    """Targets change faster than transfers end: the moving platform may not swing out."""
    steering = steering_of("stewart")
    top = steering.axes.ranges[2].high
    for k, time in enumerate(np.arange(0.0, 2.0, 0.05)):
        steering.move_to(float(time), [0.0, 0.0, top if k > 3 else -0.5 * top, 0.0, 0.0, 0.0])
        assert steering.reference(round(time / PERIOD)).reachable.all()


def test_a_loop_repeats_and_stops_when_told():
    steering = steering_of("stewart")
    motion = StepMotion(steering.platform.home, displacement={"z": 0.02}, duration=0.5, rise=0.1)
    steering.play(0.0, motion, True)
    times = np.arange(0.0, 5.0, 0.01)
    height = steering.trajectory.sample(times).values[:, 2]
    assert np.count_nonzero(np.diff((height > 0.01).astype(int)) == 1) >= 4
    assert steering.playing(4.9)
    steering.stop(5.0)
    assert not steering.playing(5.0)
    assert not np.any(steering.trajectory.state(8.0).rates)


def test_a_motion_without_loop_ends_at_rest():
    steering = steering_of("stewart")
    motion = SineMotion(steering.platform.home, amplitude={"z": 0.01}, frequency=1.0, duration=1.0)
    steering.play(0.0, motion, False)
    assert steering.playing(0.5)
    assert not steering.playing(3.0)
    last = steering.trajectory.state(5.0)
    assert not last.rates.any()
    assert abs(last.values[2]) < 0.02


def test_motions_that_do_not_fit_are_refused_and_change_nothing():
    steering = steering_of("stewart")
    home = steering.platform.home
    steering.move_to(0.0, [10.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    wrong = {
        "limits": SineMotion(home, amplitude={"z": 1.0}, frequency=1.0, duration=1.0),
        "axes": SineMotion(
            home, amplitude={"z": 0.01}, frequency=1.0, duration=1.0, convention="fixed_xyz"
        ),
        "home": SineMotion(home[:3] + 0.1, amplitude={"z": 0.01}, frequency=1.0, duration=1.0),
        "must be a Motion": "sine",
    }
    for reason, motion in wrong.items():
        with refused(reason):
            steering.play(0.1, motion, False)
    assert_allclose(steering.target, [10.0, 0.0, 0.0, 0.0, 0.0, 0.0], rtol=1e-12)
    assert not steering.playing(0.2)


@pytest.mark.parametrize("order", ["move_to", "play", "stop"])
def test_a_new_order_does_not_change_the_past(order):
    """Slopes at the present are differences to earlier setpoints."""
    steering, now = steering_of("stewart"), 1_300
    motion = MotionSpecification("sine", "z", None, 1.0, 4.0).motion_of(steering.platform)
    steering.play(0.0, motion, True)
    before = steering.reference(now)
    arguments = {"move_to": [np.zeros(6)], "play": [motion, False], "stop": []}[order]
    getattr(steering, order)(now * PERIOD, *arguments)
    after = steering.reference(now)
    past = slice(0, PERIODS_BEFORE + 1)
    assert np.ptp(before.pose[past, 2]) > 1e-4
    for one, other in zip(before[1:-1], after[1:-1], strict=True):
        assert_within(other[past], one[past], 1e-12)
    assert max_abs(after.pose - before.pose) > 1e-3


def test_what_rested_before_an_order_is_part_of_the_past():
    steering = steering_of("stewart")
    steering.move_to(0.0, [0.0, 0.0, 10.0, 0.0, 0.0, 0.0])
    steering.reference(100)
    rested = steering.trajectory.sample(np.array([4.9, 5.0])).values
    steering.move_to(5.0, np.zeros(6))
    assert_array_equal(steering.trajectory.sample(np.array([4.9, 5.0])).values, rested)
    assert rested[0, 2] == pytest.approx(0.01)


def test_a_motion_that_is_hardly_one_is_not_repeated():
    steering = steering_of("stewart")
    motion = StepMotion(steering.platform.home, displacement={"z": 1e-9}, duration=1e-4, rise=1e-5)
    with refused("to be repeated"):
        steering.play(0.0, motion, True)
    assert not steering.playing(0.0)
    steering.play(0.0, motion, False)


@pytest.mark.parametrize("name", MACHINES)
def test_ranges_are_where_the_limits_are(name):
    platform = twin.load(name)
    axes = Axes(platform)
    assert len(axes.ranges) == platform.dof
    for axis, unit in zip(axes.ranges, np.eye(platform.dof), strict=True):
        assert axis.low < 0.0 < axis.high
        for end in (axis.low, axis.high):
            inside, beyond = (
                platform.within_limits(axes.poses(axes.all_axes(share * end * unit)[None]))[0]
                for share in (1.0, 1.03)
            )
            assert inside, f"{axis.name} {end}"
            limited = axis.unit == "mm" or abs(end) < 79.0
            assert not (limited and beyond)
