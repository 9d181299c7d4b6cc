"""Manoeuvres: the small car against closed forms, files with clear faults, the coordinated turn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from refusals import assert_all_refused, refused
from tolerance import assert_within

from twin.kernels.tasks.motion_cueing.cues import CAR_FRONT_TYRE, CAR_REAR_TYRE, GRAVITY, side_force
from twin.motion.cueing import (
    MANOEUVRES,
    Car,
    Manoeuvre,
    Tyre,
    coordinated_turn,
    make_manoeuvre,
    read_manoeuvre,
)
from twin.motion.cueing.manoeuvre import BANK_ANGLE, FLIGHT_SPEED, TIME_STEP

HEADER = "time [s],fx [m/s2],fy [g],fz [g],wz [deg/s]\n"


def test_manoeuvres_start_and_end_without_rotation(subtests):
    for name in MANOEUVRES:
        with subtests.test(f"{name}"):
            manoeuvre = make_manoeuvre(name)
            assert manoeuvre.duration == pytest.approx(12.0)
            assert_within(manoeuvre.specific_force[0], [0.0, 0.0, GRAVITY], 1e-12)
            assert_within(manoeuvre.angular_rate[0], 0.0, 1e-12)
            assert_within(manoeuvre.specific_force[-1], [0.0, 0.0, GRAVITY], 0.1)
            force = np.abs(manoeuvre.specific_force - [0.0, 0.0, GRAVITY]).max()
            assert 1.0 < force < 8.0


def test_steady_turn_is_that_of_the_linear_bicycle():
    tyres = {"front_tyre": Tyre(80e3, linear=True), "rear_tyre": Tyre(95e3, linear=True)}
    car, speed, steer = Car(**tyres), 20.0, 0.01
    count = 2 * round(8.0 / TIME_STEP) + 1
    manoeuvre = car.drive("turn", speed, np.full(count, steer), np.zeros(count))
    wheelbase = car.front + car.rear
    gradient = car.mass / wheelbase * (car.rear / 80e3 - car.front / 95e3)
    rate = speed * steer / (wheelbase + gradient * speed**2)
    # The drag of the steered wheel slows the car by a few per mille in the time.
    assert manoeuvre.angular_rate[-1, 2] == pytest.approx(rate, rel=1e-2)
    lateral = speed * rate
    moment = car.sprung_mass * car.arm
    roll = moment * lateral / (car.roll_stiffness - moment * GRAVITY)
    # Gravity along the rolled body's axis adds to what the turn asks.
    felt = lateral * np.cos(roll) + GRAVITY * np.sin(roll)
    assert manoeuvre.specific_force[-1, 1] == pytest.approx(felt, rel=2e-2)


def test_braking_dives_and_stops():
    manoeuvre = make_manoeuvre("braking")
    assert manoeuvre.angular_rate[:, 1].max() > 0.05
    assert manoeuvre.specific_force[:, 0].min() < -6.0
    assert_within(manoeuvre.specific_force[-200:, 0], 0.0, 0.05)


@given(st.floats(1e-3, 0.4), st.floats(500.0, 2e4))
def test_tyres_have_one_slope_and_saturate(slip, load):
    car = Car(front_tyre=Tyre(80e3), rear_tyre=Tyre(80e3, linear=True)).packed()
    law = side_force.py_func
    force = law(car, CAR_FRONT_TYRE, slip, load)
    assert -0.9 * load <= force < 0.0
    assert force == -law(car, CAR_FRONT_TYRE, -slip, load)
    small = 1e-8
    assert law(car, CAR_FRONT_TYRE, small, load) == pytest.approx(-80e3 * small, rel=1e-6)
    assert law(car, CAR_REAR_TYRE, slip, load) == -80e3 * slip


def test_coordinated_turn_feels_no_side_force():
    manoeuvre = coordinated_turn()
    assert_array_equal(manoeuvre.specific_force[:, :2], 0.0)
    assert manoeuvre.specific_force[:, 2].max() == pytest.approx(GRAVITY / np.cos(BANK_ANGLE))
    middle = np.abs(manoeuvre.time - 5.0).argmin()
    turn = np.linalg.norm(manoeuvre.angular_rate[middle])
    assert turn == pytest.approx(GRAVITY * np.tan(BANK_ANGLE) / FLIGHT_SPEED, rel=1e-9)
    # To the right for a bank to the right.
    assert manoeuvre.angular_rate[middle, 2] < 0.0


def test_manoeuvres_are_read_with_their_units(tmp_path):
    file = tmp_path / "lap.csv"
    rows = [f"{k * 10},{1000 * k},0.5,1.0,{k}" for k in range(6)]
    header = HEADER.replace("[s]", "[ms]").replace("[m/s2]", "[mm/s2]")
    file.write_text(header + "\n".join(rows))
    manoeuvre = read_manoeuvre(file)
    assert manoeuvre.name == "lap"
    assert_within(manoeuvre.time, 0.01 * np.arange(6), 1e-15)
    assert_within(manoeuvre.specific_force[:, 0], np.arange(6), 1e-12)
    assert_within(manoeuvre.specific_force[:, 1], 0.5 * 9.80665, 1e-12)
    assert_within(manoeuvre.angular_rate[:, 2], np.radians(np.arange(6)), 1e-12)
    assert_array_equal(manoeuvre.angular_rate[:, :2], 0.0)


def test_faults_of_files_are_named(subtests, tmp_path):
    for text, message in [
        ("time [s],fx [m/s2]\n0,1\n", "has no column fy, fz"),
        (HEADER.replace("[g]", "", 1) + "0,0,0,1,0\n", "line 1, column 'fy': has no unit"),
        (HEADER + "0,0,0,1,0\n0.1,0,x,1,0\n", "line 3, column 'fy': 'x' is not a number"),
        (HEADER + "".join(f"{k},0,0,{f},0\n" for k, f in enumerate([1] * 6)), "1 s apart"),
        (HEADER + "".join(f"{0.1 * k},0,0,-1,0\n" for k in range(6)), "z points down"),
        (HEADER + "".join(f"{0.1 * k},0,0,0,0\n" for k in range(6)), "add gravity"),
        (HEADER + "".join(f"{0.1 * k},0,0,900,0\n" for k in range(6)), "wrong unit"),
    ]:
        with subtests.test(f"{text}"):
            file = tmp_path / "manoeuvre.csv"
            file.write_text(text)
            with refused(message) as caught:
                read_manoeuvre(file)
            assert str(file) in str(caught.value)


def test_manoeuvres_refuse_what_is_none():
    time, level = np.arange(5) * 0.1, np.tile([0.0, 0.0, GRAVITY], (5, 1))
    assert_all_refused(
        Manoeuvre,
        [
            ("a", time[:3], level[:3], 0 * level[:3], "time"),
            ("a", time[::-1], level, 0 * level, "time"),
            ("a", time, level[:4], 0 * level, None),
            ("a", time, level, np.full((5, 3), np.nan), "angular_rate"),
            ("a", time, level, 100.0 + level, None),
            (1, time, level, 0 * level, "name"),
        ],
    )
    assert_all_refused(
        make_manoeuvre, [("drift", "known: step_steer"), (None, "known: step_steer")]
    )
    with refused("mass"):
        Car(mass=-1.0)
    with refused():
        Car().drive("a", 10.0, [0.0, 0.0], [0.0, 0.0])


def banked_turn(gravity, lead):
    """Return `lead` seconds at rest, then a turn of 20 s in which the road presses at 6.9 m/s2."""
    time = np.arange(0.0, lead + 20.0, 0.02)
    share = np.clip(time - lead, 0.0, 1.0)
    force = np.stack([0.0 * time, 4.0 * share, gravity + 6.9 * share], axis=1)
    rate = np.stack([0.0 * time, 0.0 * time, 0.3 * share], axis=1)
    return Manoeuvre("turn", time, force, rate)


def test_the_value_at_rest_shows_whether_gravity_is_there(subtests):
    """A long turn has a mean of nearly g without gravity."""
    for lead in [0.5, 5.0, 40.0]:
        with subtests.test(f"{lead}"):
            with refused("where the vehicle stands still"):
                banked_turn(0.0, lead)
            assert banked_turn(9.81, lead).duration > 20.0


def test_weightlessness_in_flight_is_no_rest():
    """A parabola of 2 s at 150 m/s turns the aircraft by g / v the whole time."""
    time = np.arange(0.0, 20.0, 0.02)
    falls = (time > 5.0) & (time < 7.0)
    zero = np.zeros(len(time))
    force = np.stack([zero, zero, np.where(falls, 0.0, 9.81)], axis=1)
    rate = np.stack([zero, np.where(falls, 9.81 / 150.0, 0.0), zero], axis=1)
    assert Manoeuvre("parabola", time, force, rate).duration > 19.0
