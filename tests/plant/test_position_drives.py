"""Servos and steppers on the test bench, against closed forms, and in a machine."""

from math import asin, cos, degrees, pi

import numpy as np
import pytest
from drive_rig import Bench, constants, state
from hobby import SERVO, content, hobby
from numpy.testing import assert_array_equal
from refusals import refused
from tolerance import assert_within, max_abs

from twin.analysis.platform import Platform
from twin.analysis.tuning.steps import VelocityStudy
from twin.control import make_controller
from twin.kernels.plant import columns as column
from twin.kernels.plant.columns import (
    OUT_OF_STEP,
    POSITION_MODE,
    VELOCITY_MODE,
)
from twin.machine.file.read import parameters_from
from twin.motion import SineMotion
from twin.plant.drives import drive_constants, positioning_lead
from twin.plant.plant import Plant
from twin.plant.signals import Command
from twin.simulation.batched import make_batched_plant

pytestmark = pytest.mark.quick

STALL, FAST, SPAN, DEAD = 0.92, 6.16, 0.12, 4e-3
TORQUE, STEP, TOP = 0.4, pi / 100.0, 60.0

SERVO_ROW = {
    "inertia": 3e-3,
    "viscous": STALL / FAST,
    "stiffness": 20.0,
    "damping": 0.01,
    "peak_effort": STALL,
    "positioning": column.SERVO_DRIVE,
    "dead_band": DEAD,
    "span_or_full_step": SPAN,
    "top_speed": FAST,
    "max_speed": FAST,
}
STEPPER_ROW = {
    "inertia": 5e-5,
    "stiffness": 20.0,
    "damping": 0.01,
    "peak_effort": TORQUE,
    "positioning": column.STEPPER_DRIVE,
    "span_or_full_step": STEP,
    "top_speed": TOP,
    "max_speed": TOP,
    "field_damping": 0.03,
}
LEG = 1e-4
"""[kg m2]"""

STEPPER = {
    "source": "Test",
    "kind": "stepper",
    "holding_torque": "0.4 N m",
    "top_speed": "20 rad/s",
    "armature_inertia": "5.4e-6 kg m2",
    "gear": 2.0,
}


def servo(**others):
    """Return a bench with a servo."""
    return Bench(constants(**(SERVO_ROW | others)), 2.5e-4)


def stepper(**others):
    """Return a bench with a stepper that takes a position every millisecond."""
    return Bench(constants(**(STEPPER_ROW | {"update_steps": 4.0} | others)), 2.5e-4)


# RC servo


def test_a_load_moves_a_servo_by_dead_band_and_slope(subtests):
    for load in [-0.5, -0.1, 0.1, 0.5]:
        with subtests.test(f"{load}"):
            record = servo().run(1.5, 0.0, mode=POSITION_MODE, mass=LEG, load=load * STALL)
            expected = np.sign(load) * DEAD + SPAN * load
            assert state(record, "position")[-1] == pytest.approx(expected, abs=1e-5)
            row = constants(**SERVO_ROW)
            assert positioning_lead(row, np.array([load * STALL]))[0] == pytest.approx(
                expected, rel=1e-12
            )


def test_inside_the_dead_band_a_servo_gives_nothing():
    inside = servo().set(position=0.9 * DEAD).run(0.2, 0.0, mode=POSITION_MODE, leg=0.9 * DEAD)
    assert not state(inside, "effort").any()
    outside = servo().set(position=1.1 * DEAD).run(1e-3, 0.0, mode=POSITION_MODE, leg=1.1 * DEAD)
    assert state(outside, "effort")[1] == pytest.approx(-STALL * 0.1 * DEAD / SPAN, rel=1e-2)


def test_the_default_slope_damps_the_loop_by_one_half():
    """J e'' + (stall / no-load speed) e' + (stall / span) e = 0."""
    platform = hobby(drive=SERVO)
    row = drive_constants(platform, 2.5e-4)[0]
    stiffness = row[column.PEAK_EFFORT] / row[column.SPAN_OR_FULL_STEP]
    damping = row[column.VISCOUS] / (2.0 * np.sqrt(stiffness * row[column.INERTIA]))
    assert damping == pytest.approx(0.5, rel=1e-12)
    assert row[column.UPDATE_STEPS] == 80.0
    assert degrees(row[column.DEAD_BAND]) == pytest.approx(0.225)


@pytest.mark.parametrize("kind", ["servo", "stepper"])
def test_commanded_speeds_move_the_target(kind):
    bench = servo() if kind == "servo" else stepper()
    record = bench.run(0.2, 0.5, mode=VELOCITY_MODE, mass=LEG)
    assert state(record, "commanded_position")[-1] == pytest.approx(0.1, rel=1e-9)
    assert record.rate[-1] == pytest.approx(0.5, rel=0.02)
    fast = bench.run(0.01, 1e3, mode=VELOCITY_MODE)
    moved = state(fast, "commanded_position")[-1] - state(fast, "commanded_position")[0]
    assert moved == pytest.approx(0.01 * bench.drive[0, column.MAX_SPEED], rel=1e-9)


# Stepper


@pytest.mark.parametrize("share", [-0.8, -0.5, 0.5, 0.8])
def test_a_loaded_stepper_lags_by_the_arc_sine(share):
    record = stepper(friction=1e-9).run(
        2.0, 0.0, mode=POSITION_MODE, mass=LEG, load=lambda rate: share * TORQUE - 0.05 * rate
    )
    expected = 2.0 / pi * STEP * asin(share)
    assert state(record, "position")[-1] == pytest.approx(expected, rel=1e-4)
    assert not state(record, "limited").any()
    row = constants(**STEPPER_ROW)
    assert positioning_lead(row, np.array([share * TORQUE]))[0] == pytest.approx(
        expected, rel=1e-12
    )


def test_what_has_slipped_rests_whole_cycles_away():
    bench = stepper()
    slipped = bench.run(
        0.05, 0.0, mode=POSITION_MODE, mass=LEG, load=lambda rate: 0.6 - 0.05 * rate
    )
    rest = bench.run(
        3.0, 0.0, mode=POSITION_MODE, mass=LEG, leg=slipped.leg[-1], rate=slipped.rate[-1],
        load=lambda rate: -5e-3 * rate,
    )  # fmt: skip
    cycles = rest.leg[-1] / (4.0 * STEP)
    assert round(cycles) >= 1
    assert cycles == pytest.approx(round(cycles), abs=1e-3)
    assert state(rest, "limited")[-1] == OUT_OF_STEP


@pytest.mark.parametrize("share", [0.85, 1.1])
def test_the_pull_out_torque_falls_with_speed(share):
    """At half the top speed half of the holding torque is left."""
    speed, ramp = 0.5 * TOP, 0.5

    def target(time):
        return 0.5 * speed * time**2 / ramp if time < ramp else speed * (time - 0.5 * ramp)

    def load(rate):
        return -share * 0.5 * TORQUE * rate / speed

    later = stepper().run(1.5, target, mode=POSITION_MODE, mass=LEG, load=load)
    lost = state(later, "limited")[-1] == OUT_OF_STEP
    assert lost == (share > 1.0)


def test_a_stepper_in_a_still_field_keeps_its_energy():
    """Kinetic, of the twisted shaft, and of the field: T 2 step / pi (1 - cos)."""
    drifts = []
    for step in (2.5e-4, 1.25e-4):
        bench = Bench(constants(**(STEPPER_ROW | {
            "field_damping": 0.0, "damping": 0.0, "top_speed": np.inf, "inertia": 5e-3,
        })), step)  # fmt: skip
        bench.set(position=0.5 * STEP)
        record = bench.run(0.2, 0.0, mode=POSITION_MODE, mass=LEG, leg=0.5 * STEP)
        at, speed = state(record, "position"), state(record, "speed")
        field = TORQUE * 2.0 * STEP / pi * (1.0 - np.cos(0.5 * pi * at / STEP))
        twist = 0.5 * 20.0 * (at - record.leg) ** 2
        energy = 0.5 * 5e-3 * speed**2 + 0.5 * LEG * record.rate**2 + twist + field
        assert energy[0] == pytest.approx(TORQUE * 2.0 * STEP / pi * (1.0 - cos(0.25 * pi)))
        drifts.append(max_abs(energy / energy[0] - 1.0))
    assert drifts[0] < 0.05
    assert drifts[1] < 0.7 * drifts[0]


# In a machine


def push(time, state):
    """Return a push of 0.5 N for a tenth of a second."""
    return np.array([0.5, 0.0, -0.3, 0.0, 0.0, 0.0]) * (0.1 < time < 0.2)


@pytest.mark.parametrize("drive", [SERVO, STEPPER], ids=["servo", "stepper"])
def test_the_default_cascade_holds_a_hobby_machine_still(drive):
    platform = hobby(drive=drive)
    controller = make_controller("cascade", platform)
    run = platform.simulate(0.6, controller=controller, timestep=2e-4, wrench=push)
    assert not run.stopped and not run.saturation
    off = np.degrees(np.abs(run.lengths - platform.home_coordinates).max(axis=1))
    assert off.max() > 0.01
    assert off[-1] < 0.7
    assert_array_equal(run.signals["measured"], run.signals["setpoint"] + (
        run.signals["measured"] - run.signals["setpoint"])[0])  # fmt: skip


def test_a_servo_follows_a_slow_motion_without_any_feedback():
    platform = hobby(drive=SERVO)
    motion = SineMotion(
        platform.home, amplitude={"z": 0.005}, frequency=0.5, duration=2.0, fade_in=0.5
    )
    controller = make_controller("cascade", platform, motion)
    run = platform.simulate(2.0, controller=controller, timestep=5e-4)
    reference = run.signals["reference_pose"][:, :3]
    off = np.linalg.norm(run.pose[:-1:2, :3] - reference[: len(run.pose[:-1:2])], axis=1)
    assert not run.stopped
    assert off.max() < 0.1 * 0.005


@pytest.mark.slow
def test_an_encoder_takes_the_error_away():
    """Without one a load moves the servo by dead band and slope; then the twist alone is left."""
    errors = []
    for encoder in (False, True):
        file = content(drive=SERVO | {"backlash": "0 deg", "friction_torque": "0 N m"})
        if encoder:
            file["leg"]["encoder"] = {"source": "Test", "counts": 16384}
        platform = Platform(parameters_from(file, "platform.toml"))
        controller = make_controller("cascade", platform)
        run = platform.simulate(
            2.0, controller=controller, timestep=5e-4, wrench=np.array([0, 0, -20.0, 0, 0, 0])
        )
        assert not run.stopped
        errors.append(max_abs(run.lengths[-1] - platform.home_coordinates))
    assert_within(run.signals["measured"][-1], run.signals["setpoint"][-1], 4e-4)
    assert errors[1] < 0.5 * errors[0]


def test_they_take_no_forces_and_all_legs_are_alike():
    platform = hobby(drive=SERVO)
    with refused("velocity or position"):
        Plant(platform).command(Command(np.zeros(6), "force"))
    with refused("force or velocity"):
        Plant(hobby()).command(Command(np.zeros(6), "position"))
    with refused("mode"):
        make_batched_plant("analytic", platform, 1, mode="force")
    with refused("no loop to tune"):
        VelocityStudy().tune(platform)
    file = content(drive=SERVO)
    file["variant"] = [{"legs": [2], "source": "Test", "drive": {"source": "Test", "kind": "gear"}}]
    with refused("all legs"):
        Plant(Platform(parameters_from(file, "platform.toml")))


def test_a_batched_plant_does_the_same(subtests):
    """The same commands in engine and plant, step by step."""
    for drive in [SERVO, STEPPER]:
        for mode in ["velocity", "position"]:
            with subtests.test(f"{drive}, {mode}"):
                platform = hobby(drive=drive)
                batch = make_batched_plant("analytic", platform, 1, 0.01, 2.5e-4, mode=mode)
                batch.reset(np.array([0]))
                from twin.engines import make_engine
                from twin.simulation.batched.batched_plant import loop_gains

                engine, plant = make_engine("analytic", platform, 2.5e-4), Plant(platform)
                now = engine.reset()
                plant.prepare(2.5e-4)
                plant.start(now, loop_gains(platform, 2.5e-4))
                plant.measure(now)
                wave = np.sin(np.arange(6.0))
                for k in range(8):
                    values = (
                        0.4 * wave
                        if mode == "velocity"
                        else platform.home_coordinates + 0.004 * k * wave
                    )
                    batch.advance(values[None])
                    plant.command(Command(values, mode))
                    for _ in range(40):
                        now = engine.step(plant.forces(now).copy())
                assert_within(batch.coordinates[0], now.lengths, 1e-12)
                assert_array_equal(batch.measured[0], plant.measure(now).coordinates)
