"""What every motion owes: exact derivatives, shapes, rest, frozen values, clear errors."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import assert_all_refused, refused
from scipy.spatial.transform import Rotation
from tolerance import assert_within, max_abs
from turns import turn_of

import twin.motion
from twin.motion import (
    ChirpMotion,
    Motion,
    MultiSineMotion,
    RecordedMotion,
    RestToRestMotion,
    SineMotion,
    StepMotion,
    TankTrackMotion,
)

pytestmark = pytest.mark.quick

HOME = np.array([0.0, 0.0, 0.87, 1.0, 0.0, 0.0, 0.0])
TILTED = np.concatenate([[0.1, -0.2, 0.9], Rotation.from_rotvec([0.2, 0.3, -0.4]).as_quat()])
TILTED[3:] = TILTED[[6, 3, 4, 5]]
ALL_AXES = {"x": 0.02, "y": 0.03, "z": 0.04, "yaw": 0.2, "pitch": 0.3, "roll": 0.25}


def recorded(center=TILTED, **options):
    time = np.sort(np.random.default_rng(0).uniform(0.0, 3.0, 200))
    time[0], time[-1] = 0.0, 3.0
    columns = {
        "z": 0.05 * np.sin(3.0 * time),
        "pitch": 0.1 * np.cos(2.0 * time),
        "ay": 0.4 * np.sin(7.0 * time),
        "roll_acceleration": 2.0 * np.cos(6.0 * time),
    }
    return RecordedMotion(center, time, columns, **options)


def tilted_sine(convention):
    return SineMotion(
        TILTED,
        amplitude=[0.1, 0.1, 0.1, 0.3, 0.6, 0.9],
        frequency=[1.0, 1.0, 1.0, 0.7, 0.9, 1.1],
        duration=3.0,
        convention=convention,
    )


MOTIONS = {
    "sine": lambda: SineMotion(
        TILTED, amplitude=ALL_AXES, frequency=1.3, phase={"yaw": 0.4, "x": 1.0}, duration=3.0
    ),
    "sine, faded": lambda: SineMotion(
        TILTED,
        amplitude=ALL_AXES,
        frequency=[1.0, 1.1, 1.2, 1.3, 1.4, 1.5],
        duration=3.0,
        fade_in=1.0,
        fade_out=1.5,
    ),
    "sine, fixed_xyz": lambda: SineMotion(
        HOME,
        amplitude={"angle_x": 0.3, "angle_y": 0.4, "angle_z": 0.5, "x": 0.1},
        frequency=0.7,
        duration=3.0,
        convention="fixed_xyz",
    ),
    "sine, roll_pitch": lambda: SineMotion(
        HOME,
        amplitude={"roll": 0.3, "pitch": 0.4},
        frequency=0.7,
        duration=3.0,
        convention="roll_pitch",
    ),
    "sine, rodrigues": lambda: tilted_sine("rodrigues"),
    "sine, rotation_vector": lambda: tilted_sine("rotation_vector"),
    "rest to rest": lambda: RestToRestMotion(TILTED, displacement=ALL_AXES, rise=3.0),
    "step": lambda: StepMotion(TILTED, displacement=ALL_AXES, start=0.5, rise=1.2, duration=3.0),
    "chirp, linear": lambda: ChirpMotion(
        TILTED, amplitude=ALL_AXES, start_frequency=0.2, end_frequency=3.0, duration=3.0
    ),
    "chirp, logarithmic": lambda: ChirpMotion(
        HOME,
        amplitude=ALL_AXES,
        start_frequency=3.0,
        end_frequency=0.2,
        duration=3.0,
        sweep="logarithmic",
        fade_in=0.7,
    ),
    "multi-sine": lambda: MultiSineMotion(
        TILTED,
        frequencies=[0.5, 1.0, 1.5, 3.0],
        amplitude={"z": 0.01, "pitch": [0.1, 0.05, 0.02, 0.01]},
        duration=3.0,
    ),
    "multi-sine, random": lambda: MultiSineMotion(
        HOME,
        frequencies=[0.5, 1.0, 1.5, 3.0],
        amplitude={"yaw": 0.1, "pitch": 0.1},
        duration=3.0,
        phases="random",
        seed=3,
        fade_in=1.0,
        fade_out=1.0,
    ),
    "tank track": lambda: TankTrackMotion(TILTED, duration=4.0, fade_in=1.0, fade_out=1.0),
    "recorded": recorded,
    "recorded, high-pass": lambda: recorded(
        drift="high_pass", cutoff=0.4, fade_in=0.5, fade_out=0.5
    ),
    "recorded, no drift treatment": lambda: recorded(drift="none"),
}


def inner_times(motion, count=101):
    return np.linspace(0.01, motion.duration - 0.01, count)


def test_derivatives_match_differences(subtests):
    for name in MOTIONS:
        with subtests.test(f"{name}"):
            motion = MOTIONS[name]()
            check_derivatives(motion)


def check_derivatives(motion, step=1e-5):
    time = inner_times(motion)
    before, middle, after = (motion(t) for t in (time - step, time, time + step))
    scale = 1.0 + max_abs(middle.acceleration)
    # Errors: step^2 times the third derivative (70 Hz: 2e5 times the acceleration's scale at
    # most), and rounding 1e-16 over the step.
    tolerance = 2e-5 * scale
    velocity = (after.pose[:, :3] - before.pose[:, :3]) / (2.0 * step)
    assert_within(middle.twist[:, :3], velocity, tolerance)
    rotations = [turn_of(s.pose) for s in (before, after)]
    turned = (rotations[1] * rotations[0].inv()).as_rotvec() / (2.0 * step)
    assert_within(middle.twist[:, 3:], turned, tolerance)
    acceleration = (after.twist - before.twist) / (2.0 * step)
    assert_within(middle.acceleration, acceleration, tolerance)
    assert max_abs(middle.acceleration) > 1e-3


def test_shapes_follow_time_and_arrays_are_fresh(subtests):
    for name in MOTIONS:
        with subtests.test(f"{name}"):
            motion = MOTIONS[name]()
            whole = motion([[0.0, 1.0, 2.0], [0.5, 1.5, motion.duration]])
            assert [part.shape for part in whole] == [(2, 3, 7), (2, 3, 6), (2, 3, 6)]
            one = motion.sample(1.5)
            assert [part.shape for part in one] == [(7,), (6,), (6,)]
            for part, all_parts in zip(one, whole, strict=True):
                # Matrix products sum in an order that depends on their size.
                assert_allclose(part, all_parts[1, 1], rtol=1e-9, atol=1e-12)
            assert motion(np.zeros((0,))).pose.shape == (0, 7)
            whole.pose[:] = 7.0
            assert_within(motion(1.5).pose, one.pose, 0)
            assert_within(np.linalg.norm(one.pose[3:]), 1.0, 1e-15)


def test_motions_are_frozen_and_survive_copies(subtests):
    for name in MOTIONS:
        with subtests.test(f"{name}"):
            motion = MOTIONS[name]()
            with pytest.raises(AttributeError):
                motion.duration = 5.0
            with pytest.raises(ValueError):
                motion.center[0] = 1.0
            again = pickle.loads(pickle.dumps(motion))
            for other in (again, copy.deepcopy(motion), MOTIONS[name]()):
                for one, two in zip(motion(1.1), other(1.1), strict=True):
                    assert_array_equal(one, two)
            assert type(motion).__name__ in repr(motion)


def test_times_outside_are_refused_but_rounding_is_not(subtests):
    for name in MOTIONS:
        with subtests.test(f"{name}"):
            motion = MOTIONS[name]()
            end = motion.duration
            assert_array_equal(motion(end * (1 + 1e-12)).pose, motion(end).pose)
            assert_array_equal(motion(-1e-12).pose, motion(0.0).pose)
            for time in (-0.01, end + 0.01, [0.0, end + 1.0], np.nan, np.inf, "now", None, 1j):
                with refused(field="time"):
                    motion(time)


def test_fade_in_starts_at_rest_at_the_center(subtests):
    for name in [name for name in MOTIONS if MOTIONS[name]().fade.fade_in]:
        with subtests.test(f"{name}"):
            motion = MOTIONS[name]()
            times = [0.0, motion.duration] if motion.fade.fade_out else [0.0]
            for time in times:
                sample = motion(time)
                assert_within(sample.pose, motion.center, 1e-15)
                assert_within(sample.twist, 0.0, 1e-15)
                assert_within(sample.acceleration, 0.0, 1e-12)


def test_center_attitude_is_kept_under_the_angles():
    motion = SineMotion(TILTED, amplitude={"yaw": 0.3}, frequency=1.0, duration=1.0)
    sample = motion(0.25)
    expected = Rotation.from_euler("z", 0.3) * turn_of(TILTED)
    got = turn_of(sample.pose)
    assert (expected.inv() * got).magnitude() < 1e-14
    assert_within(motion(0.1).twist[3:5], 0.0, 1e-15)


def test_step_profiles():
    step = StepMotion(HOME, displacement={"z": 0.1}, start=0.5, rise=1.0, duration=2.0)
    for time, height in ((0.0, 0.0), (0.5, 0.0), (1.0, 0.05), (1.5, 0.1), (2.0, 0.1)):
        sample = step(time)
        assert sample.pose[2] == pytest.approx(0.87 + height, abs=1e-15)
        if time != 1.0:
            assert_within(sample.twist, 0.0, 1e-15)
            assert_within(sample.acceleration, 0.0, 1e-15)
    # Largest speed of minimum jerk: 15/8 of the mean.
    assert step(1.0).twist[2] == pytest.approx(0.1 * 15.0 / 8.0)
    ideal = StepMotion(HOME, displacement={"z": 0.1}, start=0.5, rise=0.0, duration=2.0)
    assert_allclose(ideal([0.4999, 0.5, 2.0]).pose[:, 2], [0.87, 0.97, 0.97])
    assert_array_equal(ideal([0.4999, 0.5, 2.0]).twist, 0.0)


def test_chirp_frequencies(subtests):
    for ends in [(0.5, 70.0), (70.0, 0.5), (2.0, 2.0), (2.0, 2.0 + 1e-13)]:
        for sweep in ["linear", "logarithmic"]:
            with subtests.test(f"{ends}, {sweep}"):
                motion = ChirpMotion(
                    HOME,
                    amplitude={"z": 1e-4},
                    start_frequency=ends[0],
                    end_frequency=ends[1],
                    duration=10.0,
                    sweep=sweep,
                )
                got = motion.frequency(np.array([0.0, 5.0, 10.0]))
                middle = 0.5 * sum(ends) if sweep == "linear" else np.sqrt(ends[0] * ends[1])
                assert_allclose(got, [ends[0], middle, ends[1]], rtol=1e-12)
                time = np.linspace(0.0, 10.0, 2001)
                # The phase is the integral of the frequency: trapezoids err by step^2 / 12 times
                # 10 s times the second derivative (120 Hz/s^2), times 2 pi.
                phase = 2.0 * np.pi * np.trapezoid(motion.frequency(time), time)
                assert np.sin(phase) == pytest.approx(motion.axes(10.0).values[2] / 1e-4, abs=0.02)


def test_multi_sine_spectrum_and_crest():
    lines = np.arange(1, 33) * 0.5
    amplitude = {"z": 1e-3, "pitch": 2e-3}
    low = MultiSineMotion(HOME, frequencies=lines, amplitude=amplitude, duration=2.0)
    time = np.arange(0.0, 2.0, 1e-3)
    z, pitch = low.axes(time).values[:, [2, 4]].T
    spectrum = np.abs(np.fft.rfft(z)) * 2.0 / len(time)
    # Frequency bins are 0.5 Hz apart, so line k falls on bin k.
    assert_allclose(spectrum[1:33], 1e-3, rtol=1e-9)
    assert spectrum[33:].max() < 1e-15
    assert_within(pitch, 2.0 * z, 1e-15)
    # Schroeder phases keep the peak of n equal sines below twice the rms; in phase it would be
    # near 0.7 n, four times as much for the 32 here.
    assert max_abs(z) < 2.0 * np.sqrt(32 / 2.0) * 1e-3
    random = [
        MultiSineMotion(
            HOME, frequencies=lines, amplitude=amplitude, duration=2.0, phases="random", seed=seed
        ).axes(time)
        for seed in (1, 1, 2)
    ]
    assert_array_equal(random[0].values, random[1].values)
    assert max_abs(random[0].values - random[2].values) > 1e-3


def test_public_names_exist_and_every_motion_is_tested():
    for name in twin.motion.__all__:
        assert getattr(twin.motion, name) is not None
    kinds = {
        value
        for name in twin.motion.__all__
        if isinstance(value := getattr(twin.motion, name), type) and issubclass(value, Motion)
    }
    assert kinds - {Motion} == {type(make()) for make in MOTIONS.values()}


SINE = {"center": HOME, "amplitude": {"z": 0.1}, "frequency": 1.0, "duration": 1.0}
STEP = {"center": HOME, "displacement": {"z": 0.1}, "rise": 0.5, "duration": 1.0}
CHIRP = {
    "center": HOME,
    "amplitude": {"z": 0.1},
    "start_frequency": 1.0,
    "end_frequency": 2.0,
    "duration": 1.0,
}
MULTI = {"center": HOME, "amplitude": {"z": 0.1}, "frequencies": [1.0, 2.0], "duration": 1.0}
TANK = {"center": HOME, "duration": 5.0}

BAD = {
    SineMotion: (
        SINE,
        [
            {"center": [0.0, 0.0]},
            {"center": None},
            {"amplitude": 0.1},
            {"amplitude": {"heave": 0.1}},
            {"amplitude": {"z": np.inf}},
            {"amplitude": [0.1] * 5},
            {"frequency": 0.0},
            {"frequency": {"x": 1.0}},
            {"phase": "late"},
            {"duration": 0.0},
            {"duration": 1e-300},
            {"convention": None},
            {"fade_in": 0.6, "fade_out": 0.6},
            {"fade_out": 1e-300},
        ],
    ),
    StepMotion: (
        STEP,
        [
            {"rise": -0.5},
            {"rise": 1e-300},
            {"start": -0.1},
            {"start": 0.8},
        ],
    ),
    ChirpMotion: (
        CHIRP,
        [
            {"start_frequency": 0.0},
            {"end_frequency": 1e12},
            {"sweep": "quadratic"},
        ],
    ),
    MultiSineMotion: (
        MULTI,
        [
            {"frequencies": []},
            {"frequencies": [2.0, 1.0]},
            {"frequencies": [0.0, 1.0]},
            {"amplitude": {"z": [1.0, 2.0, 3.0]}},
            {"phases": "best"},
            {"seed": -1},
        ],
    ),
    TankTrackMotion: (
        TANK,
        [
            {"speed": 0.0},
            {"duration": 1.0},
            {"peak_pitch": 0.0},
            {"convention": "moving_xyz"},
            {"seed": np.nan},
        ],
    ),
}


def test_bad_arguments_are_refused_by_name():
    for kind, (good, changes) in BAD.items():
        assert kind(**good)(0.5).pose.shape == (7,)
        assert_all_refused(
            lambda bad, kind=kind, good=good: kind(**good | bad),
            [(bad, "|".join(bad)) for bad in changes],
        )
