"""Tables of trajectories: names and units of columns, and files that give the same numbers."""

import dataclasses
import json

import numpy as np
import pandas
import pytest
from closed_loops import heave
from numpy.testing import assert_array_equal
from refusals import refused

import twin
from twin.control.cascade import Cascade
from twin.simulation.recorded.files import (
    ARRAY_FIELDS,
    content_of,
    metadata_of,
    shapes_of,
    table_of,
)
from twin.simulation.simulate import Trajectory

pytestmark = pytest.mark.quick


def assert_same(one, other):
    """Compare all fields bit for bit."""
    for field in dataclasses.fields(Trajectory):
        found, expected = getattr(one, field.name), getattr(other, field.name)
        if field.name != "signals":
            assert_array_equal(found, expected)
    assert set(one.signals) == set(other.signals)
    for name, values in one.signals.items():
        assert_array_equal(values, other.signals[name])


def closed(platform, **options):
    """Return a run with signals."""
    law = Cascade(platform, heave(platform))
    return platform.simulate(0.02, controller=law, fidelity="fast", **options)


@pytest.fixture(scope="module")
def runs(stewart):
    """Runs of every shape of table."""
    return {
        "plain": stewart.simulate(0.01, twist=[0.0, 0.1, 0.1, 0.0, 0.3, 0.2]),
        "signals": closed(stewart, timestep=5e-4),
        "signals below": closed(stewart, every=5),
        "springs": twin.load("compliant_stewart").simulate(0.01),
        "cranks": twin.load("rss").simulate(0.01),
        "inertial": closed(twin.load("stewart", "hardware"), timestep=5e-4),
    }


@pytest.mark.parametrize("ending", ["csv", "parquet", "npz"])
def test_files_give_the_same_numbers(runs, tmp_path, ending):
    """With signals of any name, and without rows, too."""
    run = runs["plain"]
    own = {"gain, of\nall": np.zeros(5), 'a "b" #': np.arange(60.0).reshape(5, 3, 4)}
    signals = dataclasses.replace(run, signals=own, stopped='it "stopped", early\n')
    none = dataclasses.replace(run, **{name: getattr(run, name)[:0] for name in ARRAY_FIELDS})
    for each in (*runs.values(), signals, none):
        assert_same(Trajectory.load(each.save(tmp_path / f"run.{ending}")), each)


def test_columns_have_their_units(runs):
    names = {key: set(table_of(run)[0]) for key, run in runs.items()}
    assert {"time [s]", "x [m]", "qw", "wz [rad/s]", "length 6 [m]"} < names["plain"]
    assert {"force 1 [N]", "length rate 2 [m/s]"} < names["plain"]
    assert {"angle 1 [rad]", "angle rate 1 [rad/s]", "torque 1 [N m]"} < names["cranks"]
    assert {"deflection 6 [m]", "deflection rate 1 [m/s]"} < names["springs"]
    signals = {"signal: time [s]", "signal: setpoint 3 [m]", "signal: reference_pose z [m]"}
    assert signals | {"signal: command 1"} < names["signals"]


def test_a_data_frame_is_the_table(runs, tmp_path):
    run = runs["signals"]
    frame = run.to_dataframe()
    assert_array_equal(frame["x [m]"], run.pose[:, 0])
    assert_array_equal(frame["force 2 [N]"], run.forces[:, 1])
    instants = frame["signal: time [s]"].dropna().index
    assert_array_equal(frame["time [s]"][instants], run.signals["time"])
    assert (frame.attrs["machine"], frame.attrs["timestep"]) == ("stewart", 5e-4)
    again = pandas.read_csv(run.save(tmp_path / "run.csv"), comment="#")
    pandas.testing.assert_frame_equal(again, frame, rtol=1e-15)
    arrow = pandas.read_parquet(run.save(tmp_path / "run.parquet"))
    pandas.testing.assert_frame_equal(arrow, frame, check_exact=True)


def test_columns_may_change_their_order_and_number(runs):
    run = runs["signals"]
    names, values = table_of(run)
    order = np.random.default_rng(3).permutation(len(names))
    names = [*(names[k] for k in order), "remark"]
    values = np.column_stack([values[:, order], np.zeros(len(values))])
    metadata = {**metadata_of(run), **shapes_of(run)}
    content = content_of(names, values, metadata)
    assert content.pop("format") == 1
    assert_same(Trajectory(**content), run)
    with refused(r"has no column qw"):
        content_of(["other" if name == "qw" else name for name in names], values, metadata)


def spoilt(text, **changes):
    """Return a CSV file with other metadata."""
    first, rest = text.split("\n", 1)
    mark, metadata = first[: first.index("{")], json.loads(first[first.index("{") :])
    return f"{mark}{json.dumps({**metadata, **changes})}\n{rest}"


def test_wrong_metadata_are_refused(runs, tmp_path):
    file = runs["plain"].save(tmp_path / "run.csv")
    text = file.read_text()
    for changes, match in (
        ({"machine": 3}, "machine"),
        ({"format": 2}, "another format"),
        ({"actuators": 10**9}, "too few for what it says"),
        ({"actuators": "6"}, "not a saved trajectory"),
        ({"signals": {"x": [10**6, 10**6]}}, "too few for what it says"),
        ({"colour": "red"}, "colour"),
    ):
        file.write_text(spoilt(text, **changes))
        with refused(match):
            Trajectory.load(file)


def test_other_files_are_refused(runs, tmp_path):
    file = runs["plain"].save(tmp_path / "run.csv")
    lines = file.read_text().split("\n")
    for text in ("", "a,b\n1,2\n", "\n".join([*lines[:4], lines[4][:40]]), "\n".join(lines[:1])):
        file.write_text(text)
        with refused("path"):
            Trajectory.load(file)
    frame = runs["plain"].to_dataframe()
    frame.attrs = {}
    frame.to_parquet(tmp_path / "other.parquet")
    for path in (tmp_path / "other.parquet", tmp_path / "none.csv", tmp_path / "none.parquet"):
        with refused("path"):
            Trajectory.load(path)
    with refused("path"):
        runs["plain"].save(tmp_path / "no folder" / "run.csv")
    with refused(r"must end in .npz or .csv or .parquet"):
        runs["plain"].save("run.txt")
