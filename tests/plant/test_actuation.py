"""One drive on a test bench, against closed forms and an independent integration."""

from math import atan2, cos, exp, pi, sin, sqrt

import numpy as np
import pytest
from drive_rig import LEG, THESIS, Bench, constants, state
from numpy.testing import assert_allclose
from scipy.integrate import quad, solve_ivp
from scipy.linalg import expm
from tolerance import assert_within, max_abs

from twin.kernels.plant import columns as column
from twin.kernels.plant.columns import VELOCITY_MODE

FREE = {"inertia": 719.0, "half_backlash": 1.0, "stiffness": 1.0, "damping": 1.0}
"""A motor that never meets its leg."""

RUBS = {"friction": 284.0, "breakaway": 369.0, "stribeck_speed": 1e-3}

GAIN, TIME = 2e5, 0.02
"""[N s/m], [s] of a velocity loop that is steady on friction that falls with speed."""


def energy(record, mass=LEG, inertia=719.0):
    """Return kinetic energy of motor and leg."""
    return np.asarray(0.5 * inertia * state(record, "speed") ** 2 + 0.5 * mass * record.rate**2)


# Motor and leg together


def shaken(step, duration=0.0896):
    """Return a free leg on a motor pushed by a sine of 20 Hz, and the impulse it was given."""
    pushed = [2000.0 * sin(40.0 * pi * (k + 0.5) * step) for k in range(round(duration / step))]
    record = Bench(constants(**THESIS), step).run(
        duration, lambda time: pushed[round(time / step)], mass=LEG
    )
    return record, step * sum(pushed)


def test_the_leg_receives_what_the_motor_loses(subtests):
    """Momentum of both together is the impulse of the motor, whatever the step."""
    for step in [1e-3, 7e-4, 1e-4]:
        with subtests.test(f"{step}"):
            duration = 50 * step
            record, impulse = shaken(step, duration)
            momentum = 719.0 * state(record, "speed")[-1] + LEG * record.rate[-1]
            assert momentum == pytest.approx(impulse, rel=1e-12)
            assert step * record.force.sum() == pytest.approx(LEG * record.rate[-1], rel=1e-12)


def test_motor_and_leg_converge_to_two_masses_on_a_spring():
    """Second order in the engine's step: damping sees motor and leg in the middle of it."""
    duration = 0.0896

    def slope(time, state):
        motor, speed, leg, rate = state
        force = 2e7 * (motor - leg) + 14e3 * (speed - rate)
        return [speed, (2000.0 * sin(40.0 * pi * time) - force) / 719.0, rate, force / LEG]

    exact = solve_ivp(
        slope,
        (0.0, duration),
        [0.0] * 4,
        method="DOP853",
        dense_output=True,
        rtol=1e-11,
        atol=1e-14,
    )
    errors = []
    for step in (7e-4, 3.5e-4, 1.75e-4, 0.875e-4):
        record, _ = shaken(step)
        rate = exact.sol(record.time)[3]
        errors.append(np.sqrt(np.mean((record.rate - rate) ** 2)) / max_abs(rate))
    assert errors[0] < 1e-3
    assert_allclose(np.divide(errors[:-1], errors[1:]), 4.0, rtol=0.05)


def test_longest_stable_step_is_that_of_the_closed_form(subtests):
    """h^2 k/m + 2 h c/m < 4 for a leg whose position takes the mean speed of a step."""
    for damping in [1e3, 7e3, 14e3, 28e3]:
        with subtests.test(f"{damping}"):
            wild = 2.0 * damping / LEG
            limit = (-wild + sqrt(wild**2 + 16.0 * 2e7 / LEG)) / (2.0 * 2e7 / LEG)

            assert max_abs(factors(0.99 * limit, damping)) < 1.0 + 1e-5
            assert max_abs(factors(1.01 * limit, damping)) > 1.0 + 1e-3


def factors(step, damping):
    """Return what one step multiplies the modes of a leg on a heavy motor by."""
    columns = []
    remembered = [column.LEG_RATE, column.EARLIER_LEG_RATE]
    for position, rate, last, earlier in np.eye(4):
        bench = Bench(constants(inertia=1e8, stiffness=2e7, damping=damping), step)
        bench.states[0, remembered] = last, earlier
        force = bench.force(0.0, position, rate)
        end = rate + step * force / LEG
        columns.append([position + 0.5 * step * (rate + end), end, *bench.states[0, remembered]])
    return np.asarray(np.linalg.eigvals(np.transpose(columns)))


# Dry friction


def test_below_breakaway_a_motor_stays_where_it_is(subtests):
    for effort in [368.0, -368.0, 0.0]:
        with subtests.test(f"{effort}"):
            record = Bench(constants(**FREE, **RUBS), 5e-4).run(0.05, effort)
            assert not state(record, "position").any()
            assert not state(record, "speed").any()


def stopping(viscous, stribeck, speed):
    """Return time and distance from `speed` to rest, by quadrature over the speed."""

    def force(at):
        return 284.0 + (85.0 * exp(-((at / 1e-3) ** 2)) if stribeck else 0.0) + viscous * at

    points = [1e-3, 3e-3] if stribeck else None
    time = quad(lambda at: 719.0 / force(at), 0.0, speed, points=points)[0]
    return time, quad(lambda at: 719.0 * at / force(at), 0.0, speed, points=points)[0]


def test_a_sliding_motor_stops_where_and_when_it_has_to(subtests):
    for stribeck in [False, True]:
        for viscous in [0.0, 2045.0]:
            for step in [1e-3, 2.5e-4]:
                with subtests.test(f"{stribeck}, {viscous}, {step}"):
                    rubs = RUBS if stribeck else {"friction": 284.0}
                    bench = Bench(constants(**FREE, **rubs, viscous=viscous), step).set(speed=0.2)
                    record = bench.run(0.8)
                    time, distance = stopping(viscous, stribeck, 0.2)
                    moving = state(record, "speed") > 0.0
                    assert abs(step * moving.sum() - time) < 1.5 * step
                    assert state(record, "position")[-1] == pytest.approx(distance, rel=2e-3)
                    assert not state(record, "speed")[~moving].any()
                    assert (np.diff(state(record, "speed")) <= 0.0).all()


@pytest.mark.quick
def test_friction_turns_back_with_the_motor_at_second_order():
    """On a spring, half swings about the places where spring and dry friction balance."""
    pace, friction, start, duration = 6.0, 284.0, 0.1, 1.28
    stiffness = 719.0 * pace**2
    turns = int(duration * pace / pi)
    offset = friction / stiffness
    swing = start - (2 * turns + 1) * offset
    exact = (-1) ** turns * offset + swing * cos(pace * duration)
    errors = []
    for step in (8e-3, 4e-3, 2e-3, 1e-3):
        drive = constants(inertia=719.0, stiffness=stiffness, friction=friction)
        record = Bench(drive, step).set(position=start)
        errors.append(abs(state(record.run(duration), "position")[-1] - exact))
    assert turns == 2
    assert errors[0] < 1e-4 * start
    assert_allclose(np.divide(errors[:-1], errors[1:]), 4.0, rtol=0.1)


@pytest.mark.quick
def test_velocity_loops_act_as_in_continuous_time_at_second_order():
    """A free motor from rest: m s' = K (v - s) + I, I' = K (v - s) / T."""
    gain, time, speed, duration = 2e4, 0.05, 0.1, 0.064
    slopes = np.array([[-gain / 719.0, 1.0 / 719.0], [-gain / time, 0.0]])
    steady = np.array([speed, 0.0])
    exact = steady - expm(slopes * duration) @ steady
    errors = []
    for step in (1e-3, 5e-4, 2.5e-4, 1.25e-4):
        bench = Bench(constants(**FREE), step, gain=gain, integral_gain=gain / time)
        record = bench.run(duration, speed, mode=VELOCITY_MODE)
        errors.append(abs(state(record, "speed")[-1] - exact[0]))
    assert errors[0] < 1e-3 * speed
    assert_allclose(np.divide(errors[:-1], errors[1:]), 4.0, rtol=0.15)


@pytest.mark.parametrize("step", [1e-3, 1e-4])
def test_nothing_a_drive_has_by_itself_creates_energy(step):
    """Friction, play and damping only take; the spring gives back what was put in."""
    drive = constants(**THESIS, **RUBS, half_backlash=5e-5)
    record = Bench(drive, step).set(speed=0.1).run(0.3, mass=LEG, rate=-0.3)
    gap = state(record, "position") - record.leg
    pressed = np.maximum(np.abs(gap) - 5e-5, 0.0)
    whole = energy(record) + 0.5 * 2e7 * pressed**2
    if step == 1e-4:
        assert (np.diff(whole) < 1e-3 * whole[0]).all()
    assert whole.max() <= 1.001 * whole[0]
    assert whole[-1] < 0.02 * whole[0]


# Backlash


def test_reversals_cost_the_play():
    """A leg that somebody holds back lags by half the play on either side."""
    wave = 2.0 * pi * 0.5
    drag = 2000.0
    drive = constants(inertia=1e6, stiffness=2e7, damping=14e3, half_backlash=5e-5)
    bench = Bench(drive, 5e-4).set(speed=2e-3 * wave)
    record = bench.run(
        6.0,
        lambda time: -1e6 * 2e-3 * wave**2 * sin(wave * time),
        mass=LEG,
        load=lambda rate: -drag * rate,
        leg=-5e-5,
        rate=2e-3 * wave,
    )
    motor, leg = state(record, "position"), record.leg
    up, down = (np.flatnonzero(np.diff(np.sign(motor)) == sign)[-1] for sign in (2.0, -2.0))
    width = (leg - motor)[down] - (leg - motor)[up]
    pressed = 2.0 * drag * 2e-3 * wave / 2e7
    assert width == pytest.approx(1e-4 + pressed, rel=5e-3)
    inside = np.abs(motor[:-1] + 0.5 * np.diff(motor) - leg[:-1] - 0.5 * np.diff(leg)) < 4.9e-5
    assert inside.sum() > 20
    assert not record.force[inside].any()


def test_a_leg_bounces_between_the_flanks_less_and_less():
    """Restitution of a contact that does not pull, by its closed form."""
    slower, natural = 14e3 / (2.0 * LEG), sqrt(2e7 / LEG)
    wave = sqrt(natural**2 - slower**2)
    bounce = exp(-slower / wave * (pi - atan2(2.0 * slower * wave, wave**2 - slower**2)))
    drive = constants(inertia=1e9, stiffness=2e7, damping=14e3, half_backlash=5e-5)
    record = Bench(drive, 1e-5).run(0.05, mass=LEG, rate=0.1)
    inside = np.abs(record.leg) < 5e-5
    entering = np.flatnonzero(inside[1:] & ~inside[:-1]) + 1
    speeds = np.abs([0.1, *record.rate[entering]])
    assert len(speeds) > 3
    assert_within(speeds[1:4] / speeds[:3], bounce, 0.02)


def test_under_a_weight_the_play_does_not_rattle():
    drive = constants(**THESIS, **RUBS, half_backlash=5e-5)
    bench = Bench(drive, 5e-4, gain=2e4, integral_gain=2e4 / 3e-3)
    bench.set(position=5e-5 + 300.0 / 2e7, effort=300.0, integral=300.0)
    record = bench.run(0.6, 0.01, mode=VELOCITY_MODE, mass=LEG, load=-300.0)
    assert (record.force > 0.0).all()
    assert record.rate[-1] == pytest.approx(0.01, rel=2e-2)


# Electronics


def test_at_continuous_effort_it_never_folds_back():
    drive = constants(
        **FREE, peak_effort=6146.0, continuous_effort=3073.0, heating_fraction=1e-3, friction=1e6
    )
    record = Bench(drive, 5e-4).run(5.0, 3073.0)
    assert (state(record, "effort")[1:] == 3073.0).all()
    assert not state(record, "limited").any()


# Velocity loop


def test_the_integral_stops_at_the_limit_and_comes_back_at_once():
    """Held by a wall for a second, then let go: without anti-windup it would take as long again."""
    drive = constants(**FREE, peak_effort=1000.0)
    bench = Bench(drive, 5e-4, gain=2e4, integral_gain=2e4 / 3e-3)
    bench.drive[0, column.FRICTION] = bench.drive[0, column.BREAKAWAY] = 1e6
    held = bench.run(1.0, 0.1, mode=VELOCITY_MODE)
    assert (state(held, "effort")[1:] == 1000.0).all()
    bench.drive[0, column.FRICTION] = bench.drive[0, column.BREAKAWAY] = 0.0
    freed = bench.run(0.3, 0.0, mode=VELOCITY_MODE)
    assert max_abs(state(freed, "speed")) < 2e-3
    assert abs(state(freed, "speed")[-1]) < 1e-6


def test_from_force_to_velocity_nothing_jumps():
    """At the speed that the motor has in the middle of the next step."""
    bench = Bench(constants(**FREE), 5e-4, gain=2e4, integral_gain=2e4 / 3e-3)
    bench.run(0.01, 123.0)
    speed = bench.states[0, column.SPEED] + 0.5 * bench.states[0, column.SPEED_CHANGE]
    record = bench.run(5e-4, float(speed), mode=VELOCITY_MODE)
    assert state(record, "effort")[-1] == pytest.approx(123.0, rel=1e-12)


# Switches, stops, brake


@pytest.mark.parametrize("mode", [0, VELOCITY_MODE])
def test_a_command_that_is_no_number_stays_visible_at_a_switch(mode):
    bench = Bench(constants(**FREE, upper_switch=0.1), 5e-4, gain=2e4, integral_gain=0.0)
    bench.set(position=0.1).force(np.nan, 0.1, 0.0, mode=mode)
    assert np.isnan(bench.states[0, column.EFFORT])


@pytest.mark.parametrize("mode", [0, VELOCITY_MODE])
def test_a_motor_that_runs_into_a_switch_is_brought_to_rest(mode):
    bench = Bench(
        constants(**FREE, upper_switch=0.1, peak_effort=6146.0), 5e-4, gain=2e4, integral_gain=0.0
    )
    bench.set(position=0.099, speed=0.2)
    record = bench.run(0.5, 300.0 if mode == 0 else 0.25, mode=mode)
    assert abs(state(record, "speed")[-1]) < 1e-5
    assert 0.1 < state(record, "position").max() < 0.1 + 0.2 * 719.0 / 2e4 + 1e-3


def test_a_brake_called_off_before_it_holds_never_held():
    bench = Bench(
        constants(**FREE, brake_effort=1e4, engage_fraction=0.002, release_fraction=0.01), 5e-4
    )
    record = bench.run(0.2, 100.0, brake=1.0)
    again = bench.run(0.3, 100.0)
    assert not state(record, "brake_holds").any()
    assert not state(again, "brake_holds").any()
    assert state(again, "brake_closure")[-1] == 0.0
