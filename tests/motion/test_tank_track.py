"""Tank track: band, rest at both ends, seeds, scaling, and the vehicle behind it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused
from tolerance import assert_within, max_abs

from twin.motion import TankTrackMotion, TrackedVehicle, barrier_course
from twin.motion.tank_track import FREQUENCY_BAND, HULL_AXES

HOME = [0.0, 0.0, 0.8716]
PITCH, ROLL, HEAVE = 4, 5, 2
RATE = 500.0
SILENT = {"link_ripple": {}, "roughness": {}}


def samples(motion):
    time = np.arange(round(motion.duration * RATE)) / RATE
    return time, motion.axes(time)


def share_outside(signal, low, high):
    """Part of the energy outside a band, of a signal sampled at RATE."""
    power = np.abs(np.fft.rfft(signal)) ** 2
    frequency = np.fft.rfftfreq(len(signal), 1.0 / RATE)
    return power[(frequency < low) | (frequency > high)].sum() / power.sum()


def test_content_is_inside_the_band_before_the_window(subtests):
    for duration in [4.0, 10.0, 7.3]:
        with subtests.test(f"{duration}"):
            motion = TankTrackMotion(HOME, duration=duration, fade_in=0.0, fade_out=0.0, seed=1)
            assert motion.frequencies.min() >= FREQUENCY_BAND[0] - 1e-12
            assert motion.frequencies.max() <= FREQUENCY_BAND[1] + 1e-12
            # Every line is there, from the first to the last that fits the band.
            assert_allclose(np.diff(motion.frequencies), 1.0 / duration, rtol=1e-9)
            assert motion.frequencies.min() - 1.0 / duration < FREQUENCY_BAND[0]
            assert motion.frequencies.max() + 1.0 / duration > FREQUENCY_BAND[1]
            _, axes = samples(motion)
            for part in axes:
                for column in (HEAVE, PITCH, ROLL):
                    assert max_abs(part[:, column]) > 0
                    # The lines are periodic in the duration: bins outside hold rounding only.
                    assert (
                        share_outside(
                            part[:, column], FREQUENCY_BAND[0] - 1e-6, FREQUENCY_BAND[1] + 1e-6
                        )
                        < 1e-20
                    )


def test_leakage_of_the_window_is_small():
    motion = TankTrackMotion(HOME, duration=20.0, seed=1)
    _, axes = samples(motion)
    for column in (HEAVE, PITCH, ROLL):
        # Each line spreads by a few times 1 / fade time (0.5 Hz): two of them hold nearly all.
        assert share_outside(axes.accelerations[:, column], *FREQUENCY_BAND) < 1e-3
        assert share_outside(axes.accelerations[:, column], 0.0, FREQUENCY_BAND[1] + 1.0) < 1e-6
        # Positions fall off as frequency^-4, so their weight is at the band's lower edge.
        assert share_outside(axes.values[:, column], *FREQUENCY_BAND) < 3e-2
        assert share_outside(axes.values[:, column], 0.2, FREQUENCY_BAND[1]) < 5e-4


def test_broad_band_reaches_both_ends():
    motion = TankTrackMotion(
        HOME, link_ripple={}, roughness={"z": 0.5, "pitch": 1.0}, peak_roll=None, seed=4
    )
    quiet = TankTrackMotion(HOME, **SILENT)
    _, axes = samples(motion)
    _, without = samples(quiet)
    inside = slice(int(2 * RATE), int(18 * RATE))
    broad = (axes.accelerations - without.accelerations)[inside]
    assert broad[:, PITCH].std() == pytest.approx(1.0, rel=0.05)
    assert broad[:, HEAVE].std() == pytest.approx(0.5, rel=0.05)
    assert_within(broad[:, ROLL], 0.0, 1e-12)
    power = np.abs(np.fft.rfft(broad[:, PITCH])) ** 2
    frequency = np.fft.rfftfreq(len(broad), 1.0 / RATE)
    levels = [
        power[(frequency >= low) & (frequency < low + 11.5)].mean()
        for low in np.arange(1, 69, 11.5)
    ]
    # Flat density: 184 bins each, so their means scatter by 1 / sqrt(184) = 7 %.
    assert_allclose(levels, np.mean(levels), rtol=0.35)


@pytest.mark.parametrize("seed", [0, 7])
def test_same_seed_same_motion(seed):
    one, two, other = (TankTrackMotion(HOME, duration=5.0, seed=s) for s in (seed, seed, seed + 1))
    time = np.linspace(0.0, 5.0, 40)
    for first, second in zip(one(time), two(time), strict=True):
        assert_array_equal(first, second)
    assert max_abs(one(time).acceleration - other(time).acceleration) > 0.1


def test_starts_and_ends_at_rest():
    motion = TankTrackMotion(HOME, duration=6.0)
    for time in (0.0, 6.0):
        sample = motion(time)
        assert_within(sample.pose, [*HOME, 1.0, 0.0, 0.0, 0.0], 1e-15)
        assert_within(sample.twist, 0.0, 1e-15)
        assert_within(sample.acceleration, 0.0, 1e-12)


def test_scaled_to_given_peaks():
    wanted = np.radians(3.0)
    motion = TankTrackMotion(HOME, duration=10.0, peak_pitch=wanted)
    free = TankTrackMotion(HOME, duration=10.0)
    time = np.arange(0.0, 10.0, 1e-3)
    got, before = motion.axes(time).values, free.axes(time).values
    # 64 points a period at 70 Hz against a step of 1 ms here.
    assert max_abs(got[:, PITCH]) == pytest.approx(wanted, rel=2e-3)
    factor = got[500, PITCH] / before[500, PITCH]
    assert_within(got, factor * before, 1e-12)
    apart = TankTrackMotion(
        HOME, duration=10.0, peak_pitch=wanted, peak_heave=0.05, peak_roll=0.0
    ).axes(time)
    assert_within(apart.values[:, PITCH], got[:, PITCH], 1e-12)
    assert max_abs(apart.values[:, HEAVE]) == pytest.approx(0.05, rel=2e-3)
    for part in apart:
        assert_array_equal(part[:, ROLL], 0.0)
        assert_array_equal(part[:, [0, 1, 3]], 0.0)


def test_link_ripple_is_where_the_links_are():
    vehicle = TrackedVehicle(link_pitch=0.2)
    kind = {"vehicle": vehicle, "speed": 4.0, "duration": 10.0, "roughness": {}}
    with_ripple = TankTrackMotion(HOME, link_ripple={"z": 0.6}, **kind)
    without = TankTrackMotion(HOME, link_ripple={}, **kind)
    lines = np.hypot(with_ripple.cosines - without.cosines, with_ripple.sines - without.sines)
    acceleration = lines * (2.0 * np.pi * with_ripple.frequencies[:, None]) ** 2
    rows = np.flatnonzero(acceleration.max(axis=1) > 1e-9)
    assert_within(with_ripple.frequencies[rows], [20.0, 40.0, 60.0], 1e-9)
    assert_allclose(acceleration[rows, HEAVE], [0.6, 0.3, 0.2], rtol=1e-9)
    assert_within(acceleration[:, [PITCH, ROLL]], 0.0, 1e-12)


def test_equal_tracks_do_not_roll_and_staggered_ones_do():
    straight = TankTrackMotion(HOME, duration=5.0, **SILENT)
    time = np.linspace(0.0, 5.0, 200)
    assert_array_equal(straight.axes(time).values[:, ROLL], 0.0)
    for course in (
        barrier_course(stagger=1.5),
        barrier_course([0.2, 0.0], 5.0, right_heights=[0.0, 0.2]),
    ):
        motion = TankTrackMotion(HOME, duration=5.0, barriers=course, **SILENT)
        assert max_abs(motion.axes(time).values[:, ROLL]) > 0.005


def test_stiff_short_hull_follows_the_ground():
    """A stiffly sprung hull on a short contact patch runs the profile itself."""
    vehicle = TrackedVehicle(
        contact_length=0.05, bounce_frequency=90.0, pitch_frequency=90.0, roll_frequency=90.0
    )
    course = barrier_course([0.1, 0.2], [6.0, 6.0], right_heights=[0.05, 0.1], length=5.0)
    frequencies = np.arange(1, 400) / 12.0
    speed, distance = 1.0, 12.0
    wave = 2.0 * np.pi * frequencies / speed
    left, right = course.amplitudes(wave, distance)
    hull = vehicle.hull_motion(frequencies, speed, left, right)
    s = np.linspace(0.0, distance, 241)
    carrier = np.exp(1j * wave * s[:, None])
    profile = np.zeros(len(s))
    slope = np.zeros(len(s))
    for middle, height in ((3.0, 0.1), (9.0, 0.2)):
        inside = np.abs(s - middle) < 2.5
        turn = 2.0 * np.pi * (s - middle) / 5.0
        profile += np.where(inside, 0.5 * height * (1.0 + np.cos(turn)), 0.0)
        slope += np.where(inside, -height * np.pi / 5.0 * np.sin(turn), 0.0)
    assert_within((carrier @ left).real, profile - profile[:-1].mean(), 1e-5)
    heave, pitch, roll = (carrier @ hull).real.T
    middle_profile = 0.75 * (profile - profile[:-1].mean())
    # What the springs change: ratio of passing to natural frequency, squared, of order 1e-4.
    assert_within(heave, middle_profile, 5e-4)
    assert_within(pitch, -0.75 * slope, 2e-3)
    assert_within(roll, 0.5 * (profile - profile[:-1].mean()) / 2.8, 5e-4)


def test_patch_filters_are_mean_and_least_squares_slope():
    vehicle = TrackedVehicle(bounce_frequency=99.0, pitch_frequency=99.0)
    frequency, speed = np.array([0.8]), 5.0
    wave = 2.0 * np.pi * frequency / speed
    one = np.array([1.0 + 0.0j])
    still = TrackedVehicle(contact_length=0.0101, bounce_frequency=99.0, pitch_frequency=99.0)
    hull = vehicle.hull_motion(frequency, speed, one, one)[0]
    point = still.hull_motion(frequency, speed, one, one)[0]
    s = (np.arange(20000) + 0.5) / 20000 * vehicle.contact_length - vehicle.contact_length / 2
    ground = np.exp(1j * wave * s)
    mean = ground.mean()
    slope = (ground * s).mean() / (s**2).mean()
    assert hull[0] / point[0] == pytest.approx(mean, rel=1e-4)
    assert hull[1] / point[1] == pytest.approx(slope / (1j * wave[0]), rel=1e-4)


def test_hull_resonates_as_an_oscillator():
    vehicle = TrackedVehicle(bounce_frequency=1.0, bounce_damping=0.25)
    frequencies = np.array([0.01, 1.0, 50.0])
    one = np.ones(3, dtype=complex)
    speed = 1e4
    heave = np.abs(vehicle.hull_motion(frequencies, speed, one, one)[:, 0])
    # Transmissibility: 1 at rest, sqrt(1 + 4 d^2) / (2 d) at resonance, 2 d / r far above.
    assert_allclose(heave, [1.0, np.sqrt(1.25) / 0.5, 0.5 / 50.0], rtol=3e-3)


def test_longest_run_is_possible():
    motion = TankTrackMotion(HOME, duration=60.0, peak_pitch=0.05)
    assert len(motion.frequencies) == 69.5 * 60.0 + 1
    assert np.isfinite(motion(np.linspace(0.0, 60.0, 50)).acceleration).all()


def test_bad_courses_are_refused(subtests):
    for arguments in [
        {"heights": []},
        {"heights": 0.2},
        {"heights": [-0.1]},
        {"heights": [200.0]},
        {"heights": [0.1, np.nan]},
        {"heights": [0.1, 0.2], "spacings": [4.0, 4.0, 4.0]},
        {"heights": [0.1], "spacings": 0.5},
        {"heights": [0.1], "spacings": 1e9},
        {"heights": [0.1], "spacings": 5.0, "right_heights": [0.1, 0.2]},
        {"heights": [0.1], "spacings": 5.0, "right_heights": [9.0]},
        {"length": 0.0},
        {"length": "long"},
        {"stagger": np.inf},
    ]:
        with subtests.test(f"{arguments}"), refused():
            barrier_course(**arguments)


def test_bad_vehicles_are_refused(subtests):
    for arguments in [
        {"contact_length": 0.0},
        {"track_gauge": -1.0},
        {"bounce_frequency": np.nan},
        {"pitch_damping": None},
        {"roll_frequency": 1e9},
        {"link_pitch": "0.2 m"},
    ]:
        with subtests.test(f"{arguments}"):
            with refused() as error:
                TrackedVehicle(**arguments)
            assert error.value.field in arguments


def test_courses_that_miss_the_run_are_refused():
    with refused("first barrier"):
        TankTrackMotion(HOME, duration=5.0, barriers=barrier_course([0.1], 1e4))
    with refused("more than"):
        TankTrackMotion(
            HOME,
            duration=600.0,
            speed=100.0,
            barriers=barrier_course([0.1], 1.0),
        )
    with refused("does not move"):
        TankTrackMotion(HOME, duration=5.0, peak_roll=0.1, **SILENT)
    assert HULL_AXES == ("z", "pitch", "roll")
