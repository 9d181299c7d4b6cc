"""Inertial sensor: closed forms of rest, turning and lever arm, both ways of use, errors, noise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import assert_all_refused, refused
from scipy.spatial.transform import Rotation
from tolerance import assert_within
from turns import turn_of

import twin
from twin.machine.hardware.drive import Accelerometers, Gyroscopes, InertialSensor
from twin.motion import MultiSineMotion
from twin.plant.inertial_sensor import InertialUnit

SIIMU01 = twin.load("stewart", "hardware").parameters.imu
assert SIIMU01 is not None
PLACE = (0.12, -0.2, 0.07)
TURNED = (0.4, -0.3, 0.2)
GRAVITY = 9.81
REST = np.array([0.0, 0.0, 0.9, 1.0, 0.0, 0.0, 0.0])


def exact(**options):
    """Return a sensor without errors, off the reference point and turned."""
    given = {"source": "test", "position": PLACE, "attitude": TURNED} | options
    return InertialUnit(InertialSensor(**given), gravity=GRAVITY)


def pose_of(rotation):
    """Return the pose at rest, turned."""
    return np.concatenate([REST[:3], rotation.as_quat(scalar_first=True)])


def run(duration=2.0):
    """Return a motion in all axes."""
    return MultiSineMotion(
        REST,
        frequencies=[0.7, 1.9, 4.3, 7.6],
        amplitude=dict.fromkeys(("x", "y", "z"), 4e-3)
        | dict.fromkeys(("roll", "pitch", "yaw"), 0.02),
        duration=duration,
        phases="random",
        seed=5,
    )


def test_lever_arm_against_the_path_of_the_point():
    motion = run()
    time = np.linspace(0.3, 1.7, 40)
    step = 2e-3
    mounting = Rotation.from_euler("ZYX", TURNED)

    def path(at):
        pose = motion(at).pose
        return pose[:, :3] + turn_of(pose).apply(PLACE)

    around = [path(time + k * step) for k in range(-3, 4)]
    weights = np.array([1 / 90, -3 / 20, 3 / 2, -49 / 18, 3 / 2, -3 / 20, 1 / 90]) / step**2
    moved = np.einsum("k,kij->ij", weights, np.array(around)) + np.array([0.0, 0.0, GRAVITY])
    sample = motion(time)
    attitude = turn_of(sample.pose)
    readings = exact().measure(time, *sample).readings
    size = np.abs(moved - [0.0, 0.0, GRAVITY]).max()
    assert_within(readings[:, :3], (attitude * mounting).inv().apply(moved), 1e-7 * size)
    assert_within(readings[:, 3:], (attitude * mounting).inv().apply(sample.twist[:, 3:]), 1e-13)


def test_differences_agree_with_accelerations_to_second_order():
    motion = run()
    errors = []
    for step in (2e-3, 1e-3, 5e-4):
        time = np.arange(int(1.0 / step) + 1) * step
        sample = motion(time)
        unit = exact(bandwidth=75.0)
        both = [unit.measure(time, *sample[:2], given).readings for given in (None, sample[2])]
        errors.append(np.abs(both[0] - both[1])[int(0.1 / step) :, :3].max())
    assert_allclose(np.array(errors[:-1]) / errors[1:], 4.0, rtol=0.15, atol=0)
    assert errors[-1] < 1e-3


@pytest.mark.parametrize("parameters", [SIIMU01, InertialSensor(source="test", position=PLACE)])
def test_along_a_loop_and_afterwards_are_the_same(parameters):
    time = np.cumsum(np.r_[0.0, np.tile([5e-4, 4e-4, 6e-4], 2000)])
    sample = run(4.0)(time)
    unit = InertialUnit(parameters, seed=11)
    log = unit.measure(time, *sample[:2])
    rows = [unit.start(sample.pose[0], sample.twist[0])]
    for k in range(1, len(time)):
        rows.append(unit.step(sample.pose[k], sample.twist[k], time[k] - time[k - 1]))
    kept = np.isin(time, log.time)
    assert_within(np.array(rows)[kept], log.readings, 1e-11)
    assert_array_equal(unit.measure(time, *sample[:2]).readings, log.readings)
    assert_array_equal(unit.start(sample.pose[0], sample.twist[0]), rows[0])


def test_output_rate_holds_readings():
    unit = exact(output_rate=200.0)
    time = np.arange(4001) * 5e-4
    sample = run()(time)
    log = unit.measure(time, *sample[:2])
    assert_within(log.time, np.arange(401) / 200.0, 1e-12)
    unit.start(sample.pose[0], sample.twist[0])
    rows = np.array([unit.step(sample.pose[k], sample.twist[k], 5e-4) for k in range(1, len(time))])
    changed = np.flatnonzero(np.diff(rows[:, 0]) != 0.0)
    assert set((changed + 2) % 10) == {0}


def test_readings_are_those_of_the_errors():
    parameters = InertialSensor(
        source="test",
        accelerometers=Accelerometers(source="test", bias=0.1, scale_factor=0.01),
        gyroscopes=Gyroscopes(source="test", bias=0.01, acceleration_sensitivity=0.02),
    )
    unit = InertialUnit(parameters, seed=4)
    twist = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.7])
    true = np.array([0.0, 0.0, 9.81, 0.0, 0.0, 0.7])
    expected = unit.errors.matrix @ true + unit.errors.bias
    assert_within(unit.start(REST, twist), expected, 1e-13)


def test_bad_input_is_refused():
    unit = exact()
    time, pose, twist = np.arange(3) * 1e-3, np.tile(REST, (3, 1)), np.zeros((3, 6))
    assert_all_refused(
        unit.measure,
        [
            (time[::-1], pose, twist, "time"),
            (time, pose[:2], twist, "pose"),
            (time, 2.0 * pose, twist, "pose"),
            (time, pose, np.full((3, 6), 1e300), "twist"),
        ],
    )
    with refused("started"):
        unit.step(REST, np.zeros(6), 1e-3)
    unit.start(REST, np.zeros(6))
    assert_all_refused(
        unit.step,
        [(REST, np.zeros(6), 0.0, "interval"), (REST, np.full(6, np.nan), 1e-3, "finite")],
    )
    with refused("seed"):
        InertialUnit(SIIMU01, seed=1.5)
    with refused("parameters"):
        InertialUnit("SIIMU01")
