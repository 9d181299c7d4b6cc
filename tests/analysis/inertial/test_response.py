"""From a log back to what the platform made of the motion, and to a reference that undoes it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused
from resonant import LEAD, SENSOR, followed, logged, pitch_rates, response, tracking_error, wanted
from scipy.signal import welch
from tolerance import assert_within

from twin.analysis.inertial import (
    InertialComparison,
    align,
    channel_of_axis,
    compare_log,
    compensate,
    even_log,
    inverse_gain,
    peak_amplification,
    sensor_filter,
    write_compensation,
)
from twin.machine.hardware.drive import InertialSensor
from twin.motion import Motion, RecordedMotion, StepMotion, read_recording
from twin.plant.inertial_sensor import InertialLog, InertialUnit


class Test(NamedTuple):
    """One drive of the resonant platform, and its analysis."""

    __test__ = False

    motion: Motion
    actual: Motion
    log: InertialLog
    found: InertialComparison


@pytest.fixture(scope="module")
def drive(stewart):
    motion = wanted()
    actual = followed(motion)
    log = logged(actual)
    return Test(motion, actual, log, compare_log(stewart, motion, log, SENSOR))


def test_the_motion_is_found_in_the_log(drive):
    # The resonance's own delay, 2 d / w = 1.1 ms at low frequencies, belongs to the platform.
    assert drive.found.alignment.offset == pytest.approx(LEAD + 1.1e-3, abs=1.5e-3)
    assert drive.found.log.rate == pytest.approx(200.0, rel=1e-9)
    assert drive.found.log.lost == 0
    assert "wy" in drive.found.responses
    assert "wz" not in drive.found.responses


def test_known_amplification_comes_back_within_the_stated_error(drive):
    found = drive.found.responses["wy"]
    band = (found.frequency >= 1.0) & (found.frequency <= 79.0)
    assert (found.coherence[band] > 0.95).all()
    ratio = found.amplification[band] / np.abs(response(found.frequency[band]))
    spread = found.uncertainty[band]
    # 0.0005 of scale, and 0.012 at 79 Hz for the log's integration over steps of 0.5 ms.
    slack = 0.002 + 0.012 * (found.frequency[band] / 79.0) ** 2
    within = np.abs(ratio - 1.0) <= 2.0 * spread + slack
    assert within.mean() >= 0.9
    assert np.sqrt(np.mean((ratio - 1.0) ** 2)) < 0.02
    assert peak_amplification(found)[0] == pytest.approx(1.78, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("phase", "factor"), [(False, 2.5), (True, 15.0)])
def test_the_compensated_motion_is_followed_better(drive, phase, factor, tmp_path):
    change = compensate(drive.motion, drive.found, phase=phase)
    file = write_compensation(change, tmp_path / "compensated.csv")
    reference = read_recording(file, drive.motion.center, check_size=False)
    assert reference.duration == pytest.approx(drive.motion.duration)
    better = followed(reference)
    errors = [tracking_error(drive.motion, actual) for actual in (drive.actual, better)]
    assert errors[0] / errors[1] > factor
    want, had = pitch_rates(drive.motion, drive.actual)
    spectra = [
        np.sqrt(welch(rate, 2000.0, nperseg=2000)[1])
        for rate in (want, had, pitch_rates(drive.motion, better)[1])
    ]
    sizes = [np.sqrt(np.mean((spectrum - spectra[0]) ** 2)) for spectrum in spectra[1:]]
    assert sizes[0] / sizes[1] > 15.0


def test_with_one_clock_the_delay_of_the_platform_stays(stewart):
    motion, late = wanted(6.0), 4e-3
    time = np.arange(6.0 * 2000) / 2000.0
    sample = motion(np.maximum(time - late, 0.0))
    sensor = SENSOR.model_copy(update={"accelerometers": None, "gyroscopes": None})
    log = InertialUnit(sensor).measure(time, *sample)
    found = compare_log(stewart, motion, log, sensor, offset=0.0)
    assert found.alignment.offset == 0.0
    answer = found.responses["wy"]
    band = (answer.frequency >= 5.0) & (answer.frequency <= 60.0)
    delay = -np.unwrap(np.angle(answer.transfer[band])) / (2.0 * np.pi * answer.frequency[band])
    assert_within(delay, late, 2e-4)


def test_turned_sensors_show_axes_in_other_channels():
    quarter = InertialSensor(source="test", attitude=(np.pi / 2, 0.0, 0.0))
    level = InertialSensor(source="test")
    names = [channel_of_axis(axis, level) for axis in ("x", "y", "z", "roll", "pitch", "yaw")]
    assert names == ["fx", "fy", "fz", "wx", "wy", "wz"]
    assert channel_of_axis("pitch", quarter) == "wx"
    assert channel_of_axis("angle_z", quarter) == "wz"
    with refused("beta"):
        channel_of_axis("beta", level)


def test_gains_are_bounded_and_one_where_nothing_is_known(drive):
    found = drive.found.responses["wy"]
    frequency = np.linspace(0.0, 1000.0, 4001)
    loud = found._replace(transfer=100.0 * found.transfer)
    assert np.abs(inverse_gain(loud, frequency)).min() == pytest.approx(0.5, rel=1e-12)
    gain = inverse_gain(found, frequency)
    assert np.abs(gain).max() <= 2.0 + 1e-12
    assert np.abs(gain).min() >= 0.5 - 1e-12
    assert gain[0] == 1.0
    assert_within(gain[frequency > 90.0], 1.0, 1e-12)
    silent = found._replace(coherence=np.zeros_like(found.coherence))
    assert_array_equal(inverse_gain(silent, frequency), 1.0)


def test_steps_keep_their_ends(drive, stewart):
    step = StepMotion(stewart.home, displacement={"pitch": 0.05}, rise=0.5, duration=2.0)
    axes = compensate(step, drive.found).axes
    assert list(axes) == ["pitch"]
    assert_within(axes["pitch"][[0, -1]], [0.0, 0.05], 1e-12)


def test_alignment_of_parts_and_of_nothing():
    random = np.random.default_rng(4)
    wave = random.normal(size=(400, 2)).cumsum(axis=0)
    wave -= wave.mean(axis=0)
    for shift in (0, 37, 150):
        log = np.vstack([np.zeros((shift, 2)), wave, np.zeros((60, 2))])
        found = align(wave, log, 100.0)
        assert found.offset == pytest.approx(shift / 100.0, abs=2e-3)
        assert found.correlation > 0.9
    cut = align(wave, wave[100:], 100.0)
    assert cut.offset == pytest.approx(-1.0, abs=5e-3)
    with refused("none of the channels"):
        align(np.zeros((50, 1)), np.ones((50, 1)), 100.0)
    with refused("none of the channels"):
        align(wave[:, :1], np.full((500, 1), np.nan), 100.0)


def test_lost_messages_are_filled_in_and_gaps_refused(drive):
    kept = np.ones(len(drive.log.time), dtype=bool)
    kept[[500, 501, 900]] = False
    less = InertialLog(*(part[kept] for part in drive.log))
    even = even_log(less)
    assert even.lost == 3
    assert len(even.time) == len(drive.log.time)
    assert_within(even.time, drive.log.time, 1e-9)
    kept[500:600] = False
    with refused(r"gap of 0\.5"):
        even_log(InertialLog(*(part[kept] for part in drive.log)))
    with refused("samples"):
        even_log(InertialLog(*(part[:5] for part in drive.log)))


def test_too_fine_a_resolution_is_refused(drive, stewart):
    with refused("resolution"):
        compare_log(stewart, drive.motion, drive.log, SENSOR, resolution=0.05)


def test_filter_of_the_sensor():
    found = sensor_filter(np.array([0.0, 75.0]), 75.0, 0.7)
    assert_allclose(found, [1.0, 1.0 / 1.4j], rtol=1e-14)
    assert_array_equal(sensor_filter(np.arange(3.0), None, 0.7), 1.0)


def test_recordings_compensate_too(drive):
    time = np.arange(0.0, 15.0, 1e-3)
    values = drive.motion.axes(time).values[:, 4]
    motion = RecordedMotion(drive.motion.center, time, {"pitch": values}, check_size=False)
    one, other = (compensate(m, drive.found).axes["pitch"] for m in (motion, drive.motion))
    assert_within(one[:14000], other[:14000], 1e-5)
