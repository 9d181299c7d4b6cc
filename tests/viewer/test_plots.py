"""Figures of trajectories and the texts of numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from turns import turn_of

from twin.charts.panels import Axes, Line, number, panels_figure, thin_out, value_text, write_figure
from twin.simulation.recorded.figures import comparison_figure, trajectory_figure
from twin.simulation.simulate import Trajectory

# Figures hold float32: seven digits.
SINGLE = {"rtol": 3e-7, "atol": 1e-9}


@pytest.fixture(scope="module")
def motion(platform):
    """A short motion of every machine."""
    rest = np.zeros(6)
    hold = platform.inverse_dynamics(platform.home, rest, rest)
    slow = 1e-3 if platform.kind == "strut" else 1.0
    twist = platform.constrain(platform.home, slow * np.array([0.1, 0.0, 0.0, 0.2, 0.3, 0.4])).twist
    return platform.simulate(0.05, twist=twist, forces=hold)


def values(line):
    """Return the y values of a line in a figure."""
    return np.asarray(line.y, dtype=float)


def test_trajectory_figure_shows_the_trajectory(motion):
    figure = motion.plot()
    legs = motion.lengths.shape[1]
    names = ["x", "y", "z", "yaw", "pitch", "roll"]
    names += 2 * [f"leg {k + 1}" for k in range(legs)]
    springs = [f"leg {k + 1}" for k in range(motion.deflection.shape[1] // 2)]
    assert [line.name for line in figure.data] == names + springs
    for line, spring in zip(figure.data[len(names) :], motion.deflection.T, strict=False):
        assert_allclose(values(line), spring, **SINGLE)
    for k in range(3):
        shift = motion.pose[:, k] - motion.pose[0, k]
        assert_allclose(values(figure.data[k]), shift, **SINGLE)
    turns = turn_of(motion.pose).as_euler("ZYX", degrees=True)
    for k in range(3):
        # Degrees of a few units in single precision, two formulae for the angles.
        assert_allclose(values(figure.data[3 + k]), turns[:, k], rtol=1e-6, atol=1e-6)
    for k in range(legs):
        assert_allclose(values(figure.data[6 + k]), motion.lengths[:, k], **SINGLE)
        forces = figure.data[6 + legs + k]
        assert_allclose(values(forces), motion.forces[:, k], **SINGLE)
        assert forces.line.shape == "hv", "forces are held from each time to the next"
    labels = [figure.layout[f"yaxis{k}"].title.text for k in ("", 2, 3, 4)]
    units = ["[rad]", "[N m]"] if motion.machine == "rss" else ["[m]", "[N]"]
    assert [label[label.index("[") :] for label in labels] == ["[m]", "[deg]", *units]


def test_comparison_shows_the_difference(motion, platform):
    pose = motion.pose.copy()
    pose[:, 2] += 1e-6
    arrays = (motion.time, pose, motion.twist, motion.lengths, motion.rates, motion.forces)
    words = (platform.name, "shifted", "fast", 1e-3, platform.hash, {})
    figure = Trajectory(*arrays, *words).plot(motion)
    lines = {line.name: line for line in figure.data}
    assert_allclose(values(lines["distance"]), 1e-6, rtol=1e-6)
    assert np.isnan(values(lines["angle"])).all(), "equal orientations have no place on decades"
    assert lines["z, shifted"].line.dash == "dash"
    assert figure.layout.yaxis2.type == "log"


def test_comparison_needs_the_same_times(motion, platform):
    shorter = platform.simulate(0.04)
    with refused("reference"):
        comparison_figure(motion, shorter)
    for wrong in (None, motion.pose, "trajectory"):
        with refused():
            comparison_figure(motion, wrong)
        with refused():
            trajectory_figure(wrong)


def test_thin_out_keeps_ends_and_peaks():
    x = np.linspace(0.0, 1.0, 100_000)
    y = np.sin(40 * x)
    y[[12_345, 67_890]] = [50.0, -60.0]
    y[500] = np.nan
    kept = thin_out(x, y)
    assert len(kept) <= 2000
    assert {0, 99_999, 12_345, 67_890} <= set(kept.tolist())
    assert (np.diff(kept) > 0).all()
    assert thin_out(x[:10], y[:10]).tolist() == list(range(10))


def test_rounding_is_drawn_flat_and_small_motion_is_not(subtests):
    for level in [0.0, 1.0, -845.0]:
        with subtests.test(f"{level}"):
            x = np.linspace(0.0, 1.0, 50)
            noise = np.random.default_rng(0).normal(size=50)
            flat = panels_figure([Axes("y", [Line("a", x, level + 1e-15 * noise)])], "x")
            low, high = flat.layout.yaxis.range
            assert high - low >= 1e-3
            assert low < level < high
            small = panels_figure([Axes("y", [Line("a", x, level + 1e-7 * noise)])], "x")
            assert small.layout.yaxis.range is None


def test_less_than_a_decade_has_ticks_that_are_seen(subtests):
    for low, high in [(0.30, 0.39), (0.21, 0.9), (0.2, 6.0)]:
        with subtests.test(f"{low}"):
            line = Line("error", np.arange(2.0), np.array([low, high]))
            ticks = panels_figure([Axes("error", [line], log_y=True)], "time").layout.yaxis.tickvals
            assert 2 <= sum(low <= tick <= high for tick in ticks) <= 10


def test_an_axis_without_room_for_two_ticks_of_a_decade_is_linear():
    line = Line("condition number", np.arange(2.0), np.array([2.22, 2.24]))
    panel = Axes("condition number", [line], log_y=True)
    assert panels_figure([panel], "time").layout.yaxis.type is None


def test_names_reach_plotly_escaped():
    x = np.array([0.0, 1.0])
    figure = panels_figure([Axes("<i>y</i>", [Line("<b>a</b>", x, x)])], "<u>x</u>", title="<s>")
    assert "<" not in figure.data[0].name + figure.layout.xaxis.title.text
    assert "<" not in figure.layout.yaxis.title.text + figure.layout.title.text


def test_written_figure_is_complete(motion, tmp_path):
    page = write_figure(motion.plot(), tmp_path / "motion.html").read_text(encoding="utf-8")
    assert len(page) > 1_000_000, "plotly.js is inside"
    assert "<script src" not in page.replace("'", '"')
    assert '"showSendToCloud": false' in page, "nothing offers to upload the figure"
    with refused():
        write_figure(motion.plot(), tmp_path / "missing" / "motion.html")


def test_numbers_as_text():
    assert number(0.1 + 0.2) == "0.3"
    assert number(-0.0) == "0"
    assert number(1.23456789e-9, 3) == "1.23e-09"
    for value in (None, float("nan"), float("inf")):
        assert number(value) == "not finite"
    assert value_text(np.pi / 2, "rad") == "1.5708 (90 deg)"
    assert value_text([0.5] * 6) == "0.5 (6 times)"
    assert value_text([[1.0, 0.0], [0.0, 2.0]]) == "1, 0; 0, 2"
