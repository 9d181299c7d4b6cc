"""Recorded motions: what is read, how accelerations are integrated, and every fault of a file."""

import csv
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from refusals import assert_all_refused, refused
from tolerance import assert_within

from twin.motion import RecordedMotion, SineMotion, TankTrackMotion, read_recording
from twin.motion.recording import DRIFT_METHODS

HOME = [0.0, 0.0, 0.87]


@pytest.fixture
def write(tmp_path):
    def written(text, name="run.csv"):
        file = tmp_path / name
        if isinstance(text, bytes):
            file.write_bytes(text)
        else:
            file.write_text(text, encoding="utf-8", newline="")
        return file

    return written


def table(header, *columns, delimiter=","):
    lines = [delimiter.join(header)]
    lines += [
        delimiter.join(repr(float(cell)) for cell in row) for row in zip(*columns, strict=True)
    ]
    return "\n".join(lines) + "\n"


def uneven_times(duration, count, seed=0):
    time = np.linspace(0.0, duration, count)
    step = time[1]
    time[1:-1] += np.random.default_rng(seed).uniform(-0.3, 0.3, count - 2) * step
    return time


def test_units_order_and_line_ends_do_not_matter(write):
    time = uneven_times(2.0, 300)
    z, pitch = 0.02 * np.sin(4.0 * time), 0.05 * np.cos(3.0 * time)
    plain = read_recording(write(table(["time [s]", "z [m]", "pitch [rad]"], time, z, pitch)), HOME)
    other = table(
        [" pitch [ ° ]", "time [ms]", "z[mm]"], np.degrees(pitch), 1e3 * time + 5e3, 1e3 * z
    )
    other = "\ufeff\r\n" + other.replace("\n", "\r\n") + "\r\n , ,\r\n"
    converted = read_recording(write(other), HOME)
    options = read_recording(
        write(table(["clock", "heave", "mood", "theta"], time, z, z, pitch, delimiter=";")),
        HOME,
        columns={"clock": "time", "heave": "z", "theta": "pitch"},
        units={"time": "s", "z": "m", "pitch": "rad"},
    )
    arrays = RecordedMotion(HOME, time, {"z": z, "pitch": pitch})
    at = np.linspace(0.0, 2.0, 77)
    for motion in (converted, options, arrays):
        assert motion.duration == pytest.approx(2.0, abs=1e-12)
        for one, two in zip(plain(at), motion(at), strict=True):
            # Decimals of the shifted time cost 1e-12; second derivatives amplify by 1 / step^2.
            assert_within(one, two, 1e-6)
    assert_within(plain.axes(time).values[:, 2], z, 1e-13)
    assert_within(plain.axes(time).values[:, 4], pitch, 1e-13)
    assert_array_equal(plain.axes(time).values[:, [0, 1, 3, 5]], 0.0)
    assert plain.time.flags.writeable is False


def test_splines_reproduce_polynomials_of_their_degree(subtests):
    for count, degree in [(4, 3), (5, 3), (6, 5), (30, 5)]:
        with subtests.test(f"{count}"):
            curve = np.polynomial.Polynomial([0.01, 0.02, -0.03, 0.02, 0.01, -0.01][: degree + 1])
            time = uneven_times(0.9, count)
            motion = RecordedMotion(HOME, time, {"y": curve(time)})
            at = np.linspace(0.0, 0.9, 40)
            axes = motion.axes(at)
            for order, part in enumerate(axes):
                expected = curve.deriv(order)(at) if order else curve(at)
                # Rounding 1e-17 over the square of the smallest step, 0.01 s.
                assert_within(part[:, 1], expected, 1e-12)


def test_round_trip_of_the_tank_track(write):
    run = TankTrackMotion(HOME, duration=4.0, fade_in=1.0, fade_out=1.0, peak_pitch=0.05)
    time = np.arange(4001) * 1e-3
    axes = run.axes(time).values
    text = table(["time [s]", "z [m]", "pitch [rad]", "roll [rad]"], time, *axes[:, [2, 4, 5]].T)
    motion = read_recording(write(text), HOME)
    at = np.linspace(0.2, 3.8, 500)
    # Quintic splines err by (omega step)^4 / 720-scale in the second derivative: 70 Hz, 1 ms
    # give 5e-5 of the part of the acceleration that is at 70 Hz.
    scale = np.abs(run(at).acceleration).max()
    assert_within(motion(at).acceleration, run(at).acceleration, 2e-4 * scale)
    assert_within(motion(at).pose, run(at).pose, 1e-9)


def bumpy(time):
    """Position with zero value, rate and acceleration at both ends, and its acceleration."""
    motion = SineMotion(
        HOME, amplitude={"z": 0.02}, frequency=1.5, duration=12.0, fade_in=2.0, fade_out=2.0
    )
    axes = motion.axes(time)
    return axes.values[:, 2], axes.accelerations[:, 2]


def test_accelerations_integrate_to_the_position(subtests):
    for drift in DRIFT_METHODS:
        with subtests.test(f"{drift}"):
            time = uneven_times(12.0, 2400)
            position, acceleration = bumpy(time)
            motion = RecordedMotion(HOME, time, {"az": acceleration}, drift=drift)
            got = motion.axes(time)
            # 'none' is exact up to the spline. The others take away what they hold for drift: of a
            # run of 18 periods, percents.
            tolerance = 1e-7 if drift == "none" else 0.03 * 0.02
            inside = (time > 1.5) & (time < 10.5)
            assert_within(got.values[inside, 2], position[inside], tolerance)


@pytest.mark.parametrize("drift", ["detrend", "high_pass"])
def test_bias_and_ramp_do_not_drift(drift):
    time = uneven_times(12.0, 2400)
    position, acceleration = bumpy(time)
    biased = acceleration + 0.3 - 0.02 * time
    with refused(r"az: .*drift treatment"):
        RecordedMotion(HOME, time, {"az": biased}, drift="none")
    got = RecordedMotion(HOME, time, {"az": biased}, drift=drift, cutoff=0.2).axes(time)
    inside = (time > 2.5) & (time < 9.5)
    # Drift untreated: 20 m. What the filter leaves of bias and ramp near the ends is millimetres.
    tolerance = 0.03 * 0.02 if drift == "detrend" else 0.2 * 0.02
    assert_within(got.values[inside, 2], position[inside], tolerance)


def test_detrend_needs_no_rest_at_the_start():
    time = np.linspace(0.0, 10.0, 2001)
    omega = 2.0 * np.pi * 2.0
    acceleration = -0.01 * omega**2 * np.cos(omega * time)
    got = RecordedMotion(HOME, time, {"az": acceleration}).axes(time).values[:, 2]
    # A cubic through 20 periods of a cosine: some percent at the ends.
    assert_within(got, 0.01 * np.cos(omega * time), 0.1 * 0.01)


def test_positions_and_accelerations_mix():
    time = np.linspace(0.0, 3.0, 301)
    motion = RecordedMotion(
        HOME,
        time,
        {"z": 0.01 * np.sin(5.0 * time), "pitch_acceleration": np.sin(5.0 * time)},
        drift="none",
    )
    axes = motion.axes(time)
    assert_within(axes.values[:, 2], 0.01 * np.sin(5.0 * time), 1e-14)
    assert_within(axes.accelerations[:, 4], np.sin(5.0 * time), 1e-12)
    # From rest: the integral of sin is 1 - cos.
    assert_within(axes.rates[:, 4], (1.0 - np.cos(5.0 * time)) / 5.0, 1e-10)


def test_other_conventions_name_their_axes(write):
    time = np.linspace(0.0, 1.0, 50)
    text = table(["time [s]", "x [mm]", "angle_x [deg]"], time, 10.0 * time**2, 5.0 * time**2)
    motion = read_recording(write(text), HOME, convention="fixed_xyz")
    sample = motion(1.0)
    assert sample.pose[0] == pytest.approx(0.01)
    assert 2.0 * np.degrees(np.arcsin(sample.pose[4])) == pytest.approx(5.0)


def test_gaps_are_bridged_when_asked(write):
    time = np.concatenate([np.linspace(0.0, 1.0, 101), np.linspace(1.3, 2.0, 71)])
    file = write(table(["time [s]", "z [m]"], time, 0.01 * np.sin(3.0 * time)))
    with refused(r"line 103, column 'time': gap of 0\.3 s"):
        read_recording(file, HOME)
    motion = read_recording(file, HOME, largest_gap=0.5)
    assert motion(1.15).pose[2] == pytest.approx(0.87 + 0.01 * np.sin(3.45), abs=1e-6)


def test_size_check_can_be_switched_off(write):
    time = np.linspace(0.0, 20.0, 21)
    file = write(table(["time [s]", "yaw [rad]"], time, 0.2 * time))
    with refused("wrong unit"):
        read_recording(file, HOME)
    motion = read_recording(file, HOME, check_size=False)
    assert motion(20.0).twist[5] == pytest.approx(0.2)


GOOD = "time [s],z [m]\n0,0\n0.1,0.01\n0.2,0.02\n0.3,0.01\n0.4,0\n"
ROWS = GOOD.split("\n", 1)[1]

FAULTY = {
    "empty": ("", {}, "is empty"),
    "no header": (ROWS, {}, "line 1: holds numbers"),
    "no time": ("z [m],x [m]\n0,0\n1,1\n", {}, "no column 'time'"),
    "unknown column": (GOOD.replace("z [m]", "height [m]"), {}, "no column 'height'"),
    "double column": ("time [s],z [m],z [mm]\n0,0,0\n", {}, "'z' is there twice"),
    "axis twice": (
        "time [s],z [m],az [m/s2]\n0,0,0\n0.1,0,0\n0.2,0,0\n0.3,0,0\n",
        {},
        "already given",
    ),
    "time without unit": (GOOD.replace("time [s]", "time"), {}, r"'time': has no unit"),
    "axis without unit": (GOOD.replace("z [m]", "z"), {}, r"'z': has no unit; write 'z \[m\]'"),
    "unit of another quantity": (
        GOOD.replace("z [m]", "z [deg]"),
        {},
        "'deg' is no unit of length",
    ),
    "unknown unit": (GOOD.replace("z [m]", "z [furlong]"), {}, "use one of m, mm"),
    "contradicting units": (GOOD, {"units": {"z": "mm"}}, "remove one"),
    "brackets open": (GOOD.replace("z [m]", "z [m"), {}, "no column name"),
    "endless name": (GOOD.replace("z [m]", "z" + " " * 5000 + "x"), {}, "too long"),
    "text cell": (GOOD.replace("0.02", "high"), {}, "line 4, column 'z': 'high' is not a number"),
    "empty cell": (GOOD.replace("0.02", ""), {}, "line 4, column 'z': is empty"),
    "NaN": (GOOD.replace("0.02", "NaN"), {}, "line 4, column 'z': is NaN"),
    "huge": (GOOD.replace("0.02", "1e300"), {}, "line 4, column 'z': 1e300 is too large"),
    "short line": (GOOD.replace("0.2,0.02", "0.2"), {}, "line 4: has 1 cells, the header has 2"),
    "cut off": (GOOD[:-3], {}, "line 6: has 1 cells"),
    "repeated time": (GOOD.replace("0.2,", "0.1,"), {}, "line 4, column 'time': 0.1 s repeats"),
    "nearly repeated time": (
        GOOD.replace("0.2,", "0.1000000001,"),
        {"largest_gap": 1.0},
        "line 4, column 'time': hardly later",
    ),
    "too few samples": ("time [s],z [m]\n0,0\n0.1,0\n0.2,0\n", {}, "line 4.*needs 4 samples"),
    "milliseconds as seconds": (
        table(["time [s]", "z [m]"], 1.0 * np.arange(50), np.zeros(50)),
        {},
        "1 s apart: wrong unit of time",
    ),
    "seconds as milliseconds": (
        table(["time [ms]", "z [m]"], 0.01 * np.arange(50), 0.01 * np.sin(0.2 * np.arange(50))),
        {},
        "column 'z': its spline accelerates .*wrong unit of time",
    ),
    "degrees as radians": (
        GOOD.replace("z [m]", "pitch [rad]").replace("0.02", "30"),
        {},
        "line 4, column 'pitch': 30 rad is more .*wrong unit.*deg",
    ),
    "millimetres as metres": (
        GOOD.replace("0.02", "20"),
        {},
        "line 4, column 'z': 20 m is more .*wrong unit.*mm",
    ),
    "gravity left in": (
        table(["time [s]", "az [m/s2]"], 0.01 * np.arange(50), 9.8 + 0.1 * np.sin(np.arange(50))),
        {},
        "gravity is still in it",
    ),
    "gap": (GOOD + "9.0,0\n", {}, "line 7, column 'time': gap of 8.6 s"),
    "outlier": (
        table(["time [s]", "z [m]"], 1e-3 * np.arange(50), np.eye(50)[25]),
        {},
        "outliers, or noise",
    ),
    "bytes that are no number": (b"time [s],z [m]\n0,\xff\xfe\n", {}, "is not a number"),
    "binary": (bytes(range(128)) * 4, {}, "run.csv"),
    "open quote": (GOOD.replace("0.02", '"0.02'), {}, "is not CSV"),
    "picked column missing": (
        GOOD,
        {"columns": {"time": "time", "heave": "z"}},
        "no column 'heave' to read 'z' from",
    ),
    "columns to an unknown name": (
        GOOD,
        {"columns": {"time": "time", "z": "up"}},
        "no column 'up'",
    ),
    "column of the time missing": (GOOD, {"columns": {"Clokc": "time", "z": "z"}}, "Clokc"),
    "columns no mapping": (GOOD, {"columns": "z"}, "must map names"),
    "bad gap": (GOOD, {"largest_gap": -1.0}, "largest_gap"),
    "bad drift": (GOOD.replace("z [m]", "az [m/s2]"), {"drift": "wish"}, "drift: unknown drift"),
    "bad cutoff": (
        table(["time [s]", "az [m/s2]"], 0.01 * np.arange(50), np.zeros(50)),
        {"drift": "high_pass", "cutoff": 1e-3},
        "cutoff: must be one number from",
    ),
    "too short for the filter": (
        GOOD.replace("z [m]", "az [m/s2]").rsplit("\n", 2)[0] + "\n",
        {"drift": "high_pass"},
        "cutoff|too few samples",
    ),
    "bad convention": (GOOD, {"convention": "euler"}, "unknown convention"),
    "fade too long": (GOOD, {"fade_in": 1.0}, "fade_in"),
}


def test_the_good_file_is_good(write):
    assert read_recording(write(GOOD), HOME)(0.2).pose[2] == pytest.approx(0.89)
    assert len(FAULTY) >= 20


@pytest.mark.filterwarnings("error")
def test_faulty_files_say_where_and_what(subtests, write):
    for fault in FAULTY:
        with subtests.test(f"{fault}"):
            text, options, message = FAULTY[fault]
            with refused(message) as error:
                read_recording(write(text), HOME, **options)
            if "line" in message:
                assert "run.csv" in error.value.field


def test_bad_paths_are_refused():
    paths = ("", None, "no/such/file.csv", "a\0b", "/dev/zero", ".", "x" * 9999)
    assert_all_refused(lambda path: read_recording(path, HOME), [(path, None) for path in paths])


def test_bad_arrays_are_refused():
    fifths, unchecked = np.arange(5.0) / 10, {"check_size": False}
    assert_all_refused(
        lambda time, columns, options: RecordedMotion(HOME, time, columns, **options),
        [
            (fifths, {}, {}, None),
            (fifths, {"time": np.zeros(5)}, {}, None),
            (fifths, {"z": np.zeros(4)}, {}, None),
            (0.1, {"z": 0.1}, {}, None),
            (np.arange(5.0) * 1e-12, {"z": np.zeros(5)}, {}, None),
            (np.arange(5.0) * 1e9, {"z": np.zeros(5)}, unchecked, None),
            (fifths, {"z": [0, 1e308, -1e308, 1e308, 0]}, unchecked, None),
            (np.arange(9.0) / 10, {"az": np.full(9, 1e308)}, unchecked | {"drift": "none"}, None),
        ],
    )


def test_quoted_cells_are_read(write):
    file = write("")
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
        writer.writerows(line.split(",") for line in GOOD.splitlines())
    assert read_recording(file, HOME).duration == pytest.approx(0.4)


MEMORY = """
import resource, sys
from twin.motion import read_recording
read_recording(sys.argv[1], (0.0, 0.0, 0.0), check_size=False)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
read_recording(sys.argv[2], (0.0, 0.0, 0.0), check_size=False)
print(1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["z [m]", "az [m/s2]"])
def test_a_large_file_takes_at_most_eight_times_its_size(tmp_path, name):
    """Values of one or two characters: the text is as short as it can be."""
    header = f"time [ms],{name},{name.replace('z', 'x')}\n"
    for count in (100, 300_000):
        rows = "".join(f"{i},{i % 2},{1 - i % 2}\n" for i in range(count))
        (tmp_path / f"{count}.csv").write_text(header + rows)
    files = [str(tmp_path / name) for name in ("100.csv", "300000.csv")]
    command = [sys.executable, "-c", MEMORY, *files]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(found.stdout) < 8 * (tmp_path / "300000.csv").stat().st_size
