"""Inertial sensor: closed forms of rest, turning and lever arm, both ways of use, errors, noise."""

import numpy as np
import pytest
from refusals import assert_all_refused, refused
from scipy.spatial.transform import Rotation
from turns import turn_of

import twin
from twin.machine.hardware.drive import Accelerometers, Gyroscopes, InertialSensor
from twin.motion import MultiSineMotion, SineMotion
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


def test_a_platform_at_rest_reads_gravity():
    random = np.random.default_rng(1)
    for attitude in Rotation.random(20, random):
        reading = exact().start(pose_of(attitude), np.zeros(6))
        up = (attitude * Rotation.from_euler("ZYX", TURNED)).inv().apply([0.0, 0.0, GRAVITY])
        np.testing.assert_allclose(reading, [*up, 0.0, 0.0, 0.0], rtol=0, atol=1e-13)


def test_free_fall_reads_nothing():
    time = np.arange(50) * 1e-3
    pose = np.tile(REST, (50, 1))
    pose[:, 2] -= 0.5 * GRAVITY * time**2
    twist = np.zeros((50, 6))
    twist[:, 2] = -GRAVITY * time
    falling = np.tile([0.0, 0.0, -GRAVITY, 0.0, 0.0, 0.0], (50, 1))
    for acceleration in (None, falling):
        readings = exact().measure(time, pose, twist, acceleration).readings
        np.testing.assert_allclose(readings[1:], 0.0, rtol=0, atol=1e-10)


def test_steady_turning_reads_the_centripetal_acceleration():
    speed = 3.0
    time = np.arange(1000) * 1e-4
    pose = np.array([pose_of(turn) for turn in Rotation.from_euler("z", speed * time[:, None])])
    twist = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, speed], (1000, 1))
    mounting = Rotation.from_euler("ZYX", TURNED)
    expected = np.concatenate(
        [
            mounting.inv().apply([-(speed**2) * PLACE[0], -(speed**2) * PLACE[1], GRAVITY]),
            mounting.inv().apply([0.0, 0.0, speed]),
        ]
    )
    for acceleration in (None, np.zeros((1000, 6))):
        readings = exact().measure(time, pose, twist, acceleration).readings
        # Means over a step: the chord of an arc is shorter by (speed step)^2 / 24.
        np.testing.assert_allclose(readings[1:] - expected, 0.0, rtol=0, atol=1e-8)


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
    np.testing.assert_allclose(
        readings[:, :3], (attitude * mounting).inv().apply(moved), rtol=0, atol=1e-7 * size
    )
    np.testing.assert_allclose(
        readings[:, 3:], (attitude * mounting).inv().apply(sample.twist[:, 3:]), rtol=0, atol=1e-13
    )


def test_differences_agree_with_accelerations_to_second_order():
    motion = run()
    errors = []
    for step in (2e-3, 1e-3, 5e-4):
        time = np.arange(int(1.0 / step) + 1) * step
        sample = motion(time)
        unit = exact(bandwidth=75.0)
        both = [unit.measure(time, *sample[:2], given).readings for given in (None, sample[2])]
        errors.append(np.abs(both[0] - both[1])[int(0.1 / step) :, :3].max())
    np.testing.assert_allclose(np.array(errors[:-1]) / errors[1:], 4.0, rtol=0.15, atol=0)
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
    np.testing.assert_allclose(np.array(rows)[kept], log.readings, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(unit.measure(time, *sample[:2]).readings, log.readings)
    np.testing.assert_array_equal(unit.start(sample.pose[0], sample.twist[0]), rows[0])


def test_output_rate_holds_readings():
    unit = exact(output_rate=200.0)
    time = np.arange(4001) * 5e-4
    sample = run()(time)
    log = unit.measure(time, *sample[:2])
    np.testing.assert_allclose(log.time, np.arange(401) / 200.0, rtol=0, atol=1e-12)
    unit.start(sample.pose[0], sample.twist[0])
    rows = np.array([unit.step(sample.pose[k], sample.twist[k], 5e-4) for k in range(1, len(time))])
    changed = np.flatnonzero(np.diff(rows[:, 0]) != 0.0)
    assert set((changed + 2) % 10) == {0}


@pytest.mark.parametrize("frequency", [10.0, 40.0, 75.0, 120.0])
@pytest.mark.parametrize("damping", [0.5, 0.7071])
def test_frequency_response_is_that_of_the_filter(frequency, damping):
    periods, step = 40, 1e-4
    motion = SineMotion(
        REST, amplitude={"pitch": 1e-3}, frequency=frequency, duration=periods / frequency + 0.1
    )
    time = np.arange(int(motion.duration / step)) * step
    sample = motion(time)
    unit = exact(attitude=(0.0, 0.0, 0.0), bandwidth=75.0, damping_ratio=damping)
    tail = time > time[-1] - 10.0 / frequency
    basis = np.exp(2j * np.pi * frequency * time[tail])
    basis = np.column_stack([basis.real, -basis.imag])

    def amplitude(values):
        return complex(*np.linalg.lstsq(basis, values[tail], rcond=None)[0])

    for acceleration in (None, sample.acceleration):
        readings = unit.measure(time, *sample[:2], acceleration).readings[:, 4]
        measured = amplitude(readings) / amplitude(sample.twist[:, 4])
        ratio = frequency / 75.0
        expected = 1.0 / (1.0 - ratio**2 + 2j * damping * ratio)
        # The mean of both ends of a step of 0.1 ms takes (pi f step)^2 / 3.
        assert abs(measured / expected - 1.0) < 1e-3
        if frequency == 75.0:
            assert np.degrees(np.angle(measured)) == pytest.approx(-90.0, abs=0.1)


def still(duration, step, seed=0, parameters=SIIMU01):
    """Return what a sensor at rest writes down."""
    count = int(duration / step) + 1
    unit = InertialUnit(parameters, seed=seed)
    return unit.measure(np.arange(count) * step, np.tile(REST, (count, 1)), np.zeros((count, 6)))


def test_noise_has_the_stated_size_at_any_step(subtests):
    for step in [2.5e-4, 5e-4, 5e-3]:
        with subtests.test(f"{step}"):
            log = still(40.0, step)
            stated = np.repeat([5e-3 * 9.80665, np.radians(0.5)], 3)
            # 8,000 samples, hardly correlated at 200 Hz: 1.2 percent of standard error.
            np.testing.assert_allclose(log.readings.std(axis=0), stated, rtol=0.05, atol=0)


def test_allan_deviation_falls_as_that_of_white_noise():
    rate = still(1600.0, 5e-3).angular_rate
    deviations = []
    for size in (20, 80, 320):
        means = rate[: len(rate) // size * size].reshape(-1, size, 3).mean(axis=1)
        deviations.append(np.sqrt(0.5 * np.mean(np.diff(means, axis=0) ** 2)))
    # White at low frequencies: density from the noise bandwidth pi f / (4 d) of the filter.
    width = np.pi * 75.0 / (4.0 * SIIMU01.damping_ratio)
    walk = np.radians(0.5) / np.sqrt(2.0 * width)
    expected = walk / np.sqrt(np.array([20, 80, 320]) * 5e-3)
    # 3,000 differences at the longest: 2 percent of standard error.
    np.testing.assert_allclose(deviations, expected, rtol=0.06, atol=0)


def test_instability_wanders_with_its_size_and_time():
    size = np.radians(5.0) / 3600.0
    parameters = InertialSensor(
        source="test",
        gyroscopes=Gyroscopes(source="test", instability=size, correlation_time=2.0),
    )
    rate = np.vstack([still(2000.0, 0.1, seed, parameters).angular_rate for seed in range(3)])
    assert rate.std() == pytest.approx(size, rel=0.05)
    late = np.mean(rate[20:] * rate[:-20]) / np.mean(rate**2)
    assert late == pytest.approx(np.exp(-1.0), abs=0.05)


def test_errors_are_drawn_with_their_sizes():
    drawn = [InertialUnit(SIIMU01, seed=seed).errors for seed in range(400)]
    matrix = np.array([errors.matrix for errors in drawn]) - np.eye(6)
    bias = np.array([errors.bias for errors in drawn])
    diagonal = np.einsum("kii->ki", matrix)
    hour = np.radians(1.0) / 3600.0
    for values, size in (
        (diagonal[:, :3], 2000e-6),
        (diagonal[:, 3:], 500e-6),
        (matrix[:, 0, 1:3], 400e-6),
        (matrix[:, 4, 3::2], 400e-6),
        (matrix[:, 3:, :3], hour / 9.80665),
        (bias[:, :3], 10e-3 * 9.80665),
        (bias[:, 3:], 100.0 * hour),
    ):
        assert values.std() == pytest.approx(size, rel=0.08)
    assert not matrix[:, :3, 3:].any()


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
    np.testing.assert_allclose(unit.start(REST, twist), expected, rtol=0, atol=1e-13)


def test_ranges_cut():
    parameters = InertialSensor(
        source="test",
        accelerometers=Accelerometers(source="test", range=5.0),
        gyroscopes=Gyroscopes(source="test", range="10 deg/s"),
    )
    reading = InertialUnit(parameters).start(REST, np.array([0, 0, 0, 1.0, -1.0, 0.1]))
    limit = np.radians(10.0)
    np.testing.assert_allclose(reading, [0, 0, 5.0, limit, -limit, 0.1], rtol=0, atol=1e-15)


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
