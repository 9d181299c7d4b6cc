"""Logs of inertial sensors as files: both layouts, round trip, faults with their place."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from tolerance import assert_within

from twin.analysis.inertial import (
    read_inertial_log,
    read_thesis_log,
    write_inertial_log,
)
from twin.plant.inertial_sensor import InertialLog


@pytest.fixture
def log():
    """Some readings."""
    values = np.random.default_rng(2).normal(size=(40, 6))
    return InertialLog(np.arange(40) / 200.0, values[:, :3], values[:, 3:])


def test_round_trip(log, tmp_path):
    again = read_inertial_log(write_inertial_log(log, tmp_path / "log.csv"))
    for one, two in zip(log, again, strict=True):
        assert_allclose(one, two, rtol=1e-9, atol=1e-12)


def test_units_and_missing_channels(tmp_path):
    file = tmp_path / "log.csv"
    file.write_text("time [ms],wy [deg/s],fz [g]\n0,1,1\n5,2,1.1\n")
    log = read_inertial_log(file)
    assert_allclose(log.time, [0.0, 0.005], rtol=1e-15)
    assert_allclose(log.angular_rate[:, 1], np.radians([1.0, 2.0]), rtol=1e-15)
    assert_allclose(log.specific_force[:, 2], [9.80665, 10.787315], rtol=1e-14)
    assert np.isnan(log.readings[:, [0, 1, 3, 5]]).all()
    again = read_inertial_log(write_inertial_log(log, tmp_path / "again.csv"))
    assert_allclose(again.readings, log.readings, rtol=1e-9)


def thesis_file(folder, counts, values):
    """Write bare numbers as MATLAB loads them."""
    file = folder / "imuData.txt"
    rows = np.column_stack([counts, values])
    file.write_text("\n".join(" ".join(f"{value:.9e}" for value in row) for row in rows) + "\n")
    return file


def test_layout_of_the_thesis(log, tmp_path):
    file = thesis_file(tmp_path, np.arange(7, 47), log.readings)
    found = read_thesis_log(file, force_unit="m/s2", rate_unit="rad/s")
    assert_within(found.time, log.time, 1e-12)
    assert_allclose(found.readings, log.readings, rtol=1e-8, atol=1e-9)
    # The script takes `vR` from column 5.
    assert_allclose(found.angular_rate[:, 0], np.loadtxt(file)[:, 4], rtol=1e-12)
    degrees = read_thesis_log(file)
    assert_allclose(degrees.angular_rate, np.radians(log.angular_rate), rtol=1e-8, atol=1e-9)


def test_lost_messages_and_wrapped_counts(log, tmp_path):
    counts = np.delete(np.arange(240, 281), 5) % 256
    found = read_thesis_log(thesis_file(tmp_path, counts, log.readings))
    assert_within(found.time * 200.0, np.delete(np.arange(41), 5), 1e-9)


def test_faulty_files_say_where(subtests, tmp_path):
    for text, message in [
        ("time [s],wy [rad/s]\n0,1\n0,2\n", "line 3, column 'time': is not later"),
        ("time [s],pitch [rad]\n0,1\n", "no column 'pitch'"),
        ("time [s]\n0\n1\n", "needs 'time' and one of"),
        ("time [s],wy [m/s2]\n0,1\n", "no unit of angular rate"),
    ]:
        with subtests.test(f"{text}"):
            file = tmp_path / "log.csv"
            file.write_text(text)
            with refused(message):
                read_inertial_log(file)


def test_faulty_bare_numbers_are_refused(subtests, tmp_path):
    for text, message in [
        ("1 2 3 4 5 6 7\n2 2 3\n", "columns changed from 7 to 3 at row 2"),
        ("1 2 3 4 5 6 nan\n2 2 3 4 5 6 7\n", "finite"),
        ("1 2 3 4 5 6 7\n", "two or more"),
        ("1 2 3 4 5 6 7\n1 2 3 4 5 6 7\n", "count messages"),
        ("1 2 3 4 5 6 7\n1.5 2 3 4 5 6 7\n", "count messages"),
        ("-5 2 3 4 5 6 7\n-6 2 3 4 5 6 7\n", "count messages"),
    ]:
        with subtests.test(f"{text}"):
            file = tmp_path / "imuData.txt"
            file.write_text(text)
            with refused(message):
                read_thesis_log(file)


def test_bad_arguments_are_refused(tmp_path):
    file = tmp_path / "imuData.txt"
    file.write_text("1 2 3 4 5 6 7\n2 2 3 4 5 6 7\n")
    for options in ({"force_unit": "N"}, {"rate_unit": "g"}):
        with refused():
            read_thesis_log(file, **options)
    for path in (tmp_path / "none.txt", "", 3):
        with refused():
            read_thesis_log(path)
