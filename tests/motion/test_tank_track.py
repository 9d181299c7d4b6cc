"""Tank track: band, rest at both ends, seeds, scaling, and the vehicle behind it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from tolerance import assert_within, max_abs

from twin.motion import TankTrackMotion
from twin.motion.tank_track import (
    BROAD_BAND_RMS,
    CONTACT_LENGTH,
    FREQUENCY_BAND,
    HEAVE_MODE,
    LINK_PITCH,
    LINK_RIPPLE,
    PITCH_MODE,
    barrier_profile,
    hull_motion,
)

HOME = [0.0, 0.0, 0.8716]
TURN, ROLL, HEAVE = 4, 5, 2
RATE = 500.0


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
                for column in (HEAVE, TURN, ROLL):
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
    for column in (HEAVE, TURN, ROLL):
        # Each line spreads by a few times 1 / fade time (0.5 Hz): two of them hold nearly all.
        assert share_outside(axes.accelerations[:, column], *FREQUENCY_BAND) < 1e-3
        assert share_outside(axes.accelerations[:, column], 0.0, FREQUENCY_BAND[1] + 1.0) < 1e-6
        # Positions fall off as frequency^-4, so their weight is at the band's lower edge.
        assert share_outside(axes.values[:, column], *FREQUENCY_BAND) < 3e-2
        assert share_outside(axes.values[:, column], 0.2, FREQUENCY_BAND[1]) < 5e-4


def roll_lines(motion):
    """Return frequencies and acceleration amplitudes of the roll, which no barrier moves."""
    amplitudes = np.hypot(motion.cosines[:, ROLL], motion.sines[:, ROLL])
    return motion.frequencies, amplitudes * (2.0 * np.pi * motion.frequencies) ** 2


def test_broad_band_is_flat_and_the_link_ripple_is_where_the_links_are():
    motion = TankTrackMotion(HOME, duration=10.0, speed=4.0, seed=4)
    frequencies, acceleration = roll_lines(motion)
    flat = BROAD_BAND_RMS[2] * np.sqrt(2.0 / len(frequencies))
    ripple = {
        int(np.abs(frequencies - n * 4.0 / LINK_PITCH).argmin()): LINK_RIPPLE[2] / n
        for n in (1, 2, 3)
    }
    others = np.delete(acceleration, list(ripple))
    assert_allclose(others, flat, rtol=1e-9)
    for row, size in ripple.items():
        assert size - flat < acceleration[row] < size + flat


def test_scaled_to_given_peaks():
    wanted = np.radians(3.0)
    motion = TankTrackMotion(HOME, duration=10.0, peak_pitch=wanted)
    free = TankTrackMotion(HOME, duration=10.0)
    time = np.arange(0.0, 10.0, 1e-3)
    got, before = motion.axes(time).values, free.axes(time).values
    # 64 points a period at 70 Hz against a step of 1 ms here.
    assert max_abs(got[:, TURN]) == pytest.approx(wanted, rel=2e-3)
    factor = got[500, TURN] / before[500, TURN]
    assert_within(got, factor * before, 1e-12)


def test_profile_is_that_of_raised_cosines():
    distance = 12.0
    wave = 2.0 * np.pi * np.arange(1, 4000) / distance
    s = np.linspace(0.0, distance, 241)
    carrier = np.exp(1j * wave * s[:, None])
    profile = np.zeros(len(s))
    for middle, height in ((2.0, 0.1), (6.0, 0.15), (11.5, 0.2)):
        inside = np.abs(s - middle) < 0.5
        profile += np.where(inside, 0.5 * height * (1 + np.cos(2 * np.pi * (s - middle))), 0.0)
    got = (carrier @ barrier_profile(wave, distance)).real
    assert_within(got, profile - profile[:-1].mean(), 1e-5)


def transmitted(frequency, oscillator):
    """Return the response of an oscillator driven through its spring and damper."""
    natural, damping = oscillator
    ratio = frequency / natural
    return (1 + 2j * damping * ratio) / (1 - ratio**2 + 2j * damping * ratio)


def test_patch_filters_are_mean_and_least_squares_slope():
    frequency, speed = np.array([0.8]), 5.0
    wave = 2.0 * np.pi * frequency / speed
    heave, pitch = hull_motion(frequency, speed, np.ones(1, dtype=complex))[0]
    s = ((np.arange(20000) + 0.5) / 20000 - 0.5) * CONTACT_LENGTH
    ground = np.exp(1j * wave * s)
    slope = (ground * s).mean() / (s**2).mean()
    assert heave / transmitted(0.8, HEAVE_MODE) == pytest.approx(ground.mean(), rel=1e-4)
    # Nose down is positive: a rising ground pitches the hull the other way.
    assert pitch / transmitted(0.8, PITCH_MODE) == pytest.approx(-slope, rel=1e-4)


def test_hull_resonates_as_an_oscillator():
    natural, damping = HEAVE_MODE
    frequencies = natural * np.array([0.01, 1.0, 50.0])
    heave = np.abs(hull_motion(frequencies, 1e5, np.ones(3, dtype=complex))[:, 0])
    # Transmissibility: 1 at rest, sqrt(1 + 4 d^2) / (2 d) at resonance, 2 d / r far above.
    resonance = np.sqrt(1.0 + 4.0 * damping**2) / (2.0 * damping)
    assert_allclose(heave, [1.0, resonance, 2.0 * damping / 50.0], rtol=3e-3)


def test_longest_run_is_possible():
    motion = TankTrackMotion(HOME, duration=60.0, peak_pitch=0.05)
    assert len(motion.frequencies) == 69.5 * 60.0 + 1
    assert np.isfinite(motion(np.linspace(0.0, 60.0, 50)).acceleration).all()


def test_courses_that_miss_the_run_are_refused():
    with refused("first barrier"):
        TankTrackMotion(HOME, duration=5.0, speed=0.3)
    with refused("at most"):
        TankTrackMotion(HOME, duration=600.0, speed=100.0)
