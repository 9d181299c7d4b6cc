"""Charts on the page: what is sent, when, and how much of it."""

from functools import partial
from itertools import count

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused
from tolerance import assert_within

from twin.page.charts import (
    MAX_POINTS,
    MIN_RELATIVE_HEIGHT,
    LiveCharts,
    span_ends,
)
from twin.page.server.page_server import PageServer
from twin.simulation.live.machine_charts import Chart, History
from twin.simulation.live.machine_session import MachineSession
from twin.simulation.live.runner import HISTORY_INTERVAL, HISTORY_LENGTH

LEGS = ("leg 1", "leg 2")

CHARTS = (
    Chart("position", "Position", "mm", ("x", "x setpoint"), 1e3, ("x setpoint",), min_extent=1e-3),
    Chart("lengths", "Lengths", "mm", LEGS, 1e3, limits=(0.5, 0.9)),
    Chart("forces", "Forces", "N", LEGS, limits=(-400.0, 400.0)),
    Chart("loop_gap", "Loop gap", "nm", ("gap",), 1e9, logarithmic=True),
)

TESTPOINTS = "Object.values(__viserTestpoints.uplots)"
"""Charts of the page, as its library keeps them for tests of its own."""


@pytest.fixture(scope="module")
def server():
    with PageServer(port=0) as made:
        yield made


def every_second():
    """Return a clock that is a second later at every look."""
    return partial(next, count())


@pytest.fixture
def charts(server):
    panel = server.viser.gui.add_panel()
    yield LiveCharts(server.viser, CHARTS, panel.add_tab("Charts"), every_second())
    panel.remove()


def values(time):
    wave = np.sin(time)
    return {
        "position": [0.01 * wave, 0.01 * wave + 0.001],
        "lengths": [0.7 + 0.1 * wave, 0.7],
        "forces": [100.0 * wave, np.nan],
        "loop_gap": 1e-7 if round(time / HISTORY_INTERVAL) != 400 else 1e-3,
    }


def history_of(seconds):
    history = History(CHARTS, round(HISTORY_LENGTH / HISTORY_INTERVAL))
    for k in range(round(seconds / HISTORY_INTERVAL) + 1):
        history.append(k * HISTORY_INTERVAL, values(k * HISTORY_INTERVAL))
    return history


def data(charts, name):
    return charts.plots[name].data


def test_only_what_is_shown_is_drawn(charts):
    assert charts.shown == ("position", "forces")
    assert charts.update(history_of(12.0))
    assert len(data(charts, "position")[0]) > 100
    assert len(data(charts, "lengths")[0]) == 0
    charts.show(["lengths"])
    assert charts.update(history_of(12.0))
    assert [name for name, plot in charts.plots.items() if plot.visible] == ["lengths"]
    assert len(data(charts, "lengths")[0]) > 100
    with refused("known: position, lengths"):
        charts.show(["speed"])


def test_values_are_in_the_units_of_the_chart_with_limits_beside_them(charts):
    charts.show(["lengths", "position"])
    charts.update(history_of(12.0))
    time, first, second, low, high, *_ = data(charts, "lengths")
    assert_within((time[0], time[-1]), (2.0, 12.0), 0.01)
    assert_within(first, 700.0 + 100.0 * np.sin(time), 0.2)
    assert_allclose(second, 700.0)
    assert_array_equal([low[0], high[0]], [500.0, 900.0])
    _, measured, setpoint, *_ = data(charts, "position")
    assert_within(setpoint - measured, 1.0, 0.02)


def test_window_and_look_back_scroll(charts):
    history = history_of(29.0)
    charts.window.value = 5.0
    charts.back.value = 7.0
    assert charts.update(history)
    time = data(charts, "position")[0]
    assert_within((time[0], time[-1]), (17.0, 22.0), 0.05)
    charts.back.value = 25.0
    charts.update(history)
    time = data(charts, "position")[0]
    assert_within((time[0], time[-1]), (0.0, 5.0), 0.05)  # no more is kept
    charts.window.value = 30.0
    charts.update(history)
    assert len(data(charts, "position")[0]) <= MAX_POINTS + 2


def test_nothing_new_is_not_sent_and_updates_are_not_too_many(server):
    panel, moments = server.viser.gui.add_panel(), iter((0.0, 1.0, 2.0, 2.05, 2.11))
    charts = LiveCharts(server.viser, CHARTS, panel.add_tab("Charts"), partial(next, moments))
    history = history_of(6.0)
    assert charts.update(history)
    assert not charts.update(history)
    history.append(6.1, values(6.1))
    assert charts.update(history)
    history.append(6.2, values(6.2))
    assert not charts.update(history)
    assert charts.update(history)
    panel.remove()


def test_held_charts_stay_but_still_scroll(charts):
    history = history_of(12.0)
    charts.window.value = 5.0
    charts.update(history)
    charts.hold.value = True
    charts.update(history)
    history.append(12.1, values(12.1))
    assert not charts.update(history)
    assert_within(data(charts, "position")[0][-1], 12.0, 0.01)
    charts.back.value = 3.0
    assert charts.update(history)
    assert_within(data(charts, "position")[0][-1], 9.0, 0.05)
    charts.hold.value = False
    charts.back.value = 0.0
    charts.update(history)
    assert_within(data(charts, "position")[0][-1], 12.1, 0.01)


def test_curves_without_values_are_hidden_and_gaps_not_joined(charts):
    history = history_of(6.0)
    charts.update(history)
    shown = [entry.get("show", True) for entry in charts.plots["forces"].series]
    assert shown == [True, True, False, True, True, True, True]
    history.append(6.1, {})
    for k in range(10):
        history.append(6.2 + k * HISTORY_INTERVAL, values(6.2))
    charts.update(history)
    assert data(charts, "position")[0][0] == pytest.approx(6.2)


def test_fitting_to_curves_leaves_limits_out_of_the_range(charts):
    """At first the height fits the curves; the last two entries keep noise from filling it."""
    charts.update(history_of(6.0))
    for fitted in (True, False):
        charts.fitted.value = fitted
        charts.update(history_of(6.0))
        entries = charts.plots["forces"].series
        assert [entry["auto"] for entry in entries[-4:]] == [not fitted] * 2 + [fitted] * 2
    *_, low, high = data(charts, "forces")
    assert (low == low[0]).all() and (high == high[0]).all()
    assert high[0] > low[0]


def test_noise_does_not_fill_a_chart_and_large_limits_do_not_flatten_it():
    chart = Chart("f", "F", "N", ("leg 1",), limits=(-3000.0, 3000.0))
    low, high = span_ends(chart, np.array([[260.772], [260.785]]))
    assert low < 260.772 and high > 260.785
    assert high - low == pytest.approx(MIN_RELATIVE_HEIGHT * 6000.0, rel=0.05)
    wide = span_ends(chart, np.array([[-1000.0], [1000.0]]))
    assert -1000.0 < wide[0] < wide[1] < 1000.0
    assert np.isfinite(span_ends(chart, np.array([[np.nan]]))).all()


def test_a_run_that_begins_again_and_another_run_are_drawn(charts):
    history = history_of(12.0)
    charts.hold.value = True
    charts.update(history)
    history.clear()
    assert not charts.update(history)
    for k in range(4):
        history.append(k * HISTORY_INTERVAL, values(k * HISTORY_INTERVAL))
    assert charts.update(history)
    assert data(charts, "position")[0][-1] == pytest.approx(0.1)
    other = History((Chart("return", "Return", "1", ("return",)),), 10)
    other.append(0.0, {"return": 2.0})
    assert charts.update(other)
    assert charts.shown == ("return",)
    assert_array_equal(data(charts, "return")[1], [2.0])


def test_the_difference_opens_first_when_a_second_engine_begins(server):
    """Above all other charts, and only once: people may close it."""
    session, panel = MachineSession("stewart", engine="analytic"), server.viser.gui.add_panel()
    tab = panel.add_tab("Charts")
    made = LiveCharts(server.viser, session.history.charts, tab, every_second())

    def shown_after(seconds):
        session.advance(seconds)
        made.update(session.history)
        return made.shown

    usual = shown_after(0.1)
    assert "difference" not in usual
    session.configure(comparison="bullet")
    assert shown_after(0.1) == ("difference", *usual)
    orders = [made.plots[name].order for name in made.shown]
    assert orders == sorted(orders) and made.plots["difference"].visible
    made.show(usual)
    assert shown_after(0.1) == usual
    session.configure(comparison=None)
    assert shown_after(0.1) == usual
    session.configure(comparison="bullet")
    assert "difference" in shown_after(0.1)
    session.configure(comparison=None)
    assert shown_after(0.1) == usual
    session.close()
    panel.remove()


def test_charts_are_seen_with_their_values_under_the_cursor(server, visit):
    """In a real browser: curves in their colours, and the legend reads them off."""
    panel = server.viser.gui.add_panel()
    panel.dock_left()
    charts = LiveCharts(server.viser, CHARTS, panel.add_tab("Charts"))
    charts.update(history_of(12.0))
    visitor = visit(server.url)
    page = visitor.page
    first = page.locator(".uplot").first
    first.wait_for(timeout=60_000)
    # As if the chart had been made anew while its first data came in: the page shows them again.
    page.evaluate(f"{TESTPOINTS}.forEach(({{chart}}) => chart.setScale('x', {{min: -9, max: -8}}))")
    over = first.locator(".u-over")
    values = first.locator(".u-series:visible .u-value")

    def is_read_off():
        over.hover(position={"x": 100, "y": 40})
        texts = values.all_inner_texts()
        return bool(texts) and all(text[-1:].isdigit() for text in texts)

    visitor.wait(is_read_off, "the legend reads values")
    legend = first.locator(".u-legend")
    labels = legend.inner_text().replace("\n", " ")
    assert "time" not in labels
    assert "x setpoint" in labels
    measured, setpoint = map(float, values.all_inner_texts())
    assert abs(measured) < 10.1
    assert_within(setpoint - measured, 1.0, 0.02)
    panel.remove()
