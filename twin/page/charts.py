"""Charts of a live run on the page.

The style of a chart (colours, axes, curves) has the form of viser's uPlot. Curves are sent to the
page as samples of a time span, thinned out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from html import escape
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from twin.basics.arrays import FloatArray, one_of
from twin.simulation.live.machine_charts import Chart, History
from twin.simulation.live.runner import HISTORY_LENGTH

if TYPE_CHECKING:
    from viser import ViserServer

SERIES_COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#8C6D31",
    "#7F7F7F",
)
"""Colours of Okabe and Ito, distinct also for the colour-blind, and two more at the end."""

LIMIT_COLOUR = "#8A8A8A"

CHART_FONT = "11px system-ui, sans-serif"

HIDDEN_CLASS = "twin-unseen"
"""CSS class of entries of a legend that are not shown."""

MIN_RELATIVE_HEIGHT = 0.02
"""Minimum height of a chart, as a fraction of the distance of its limits or of twice its largest
value.
"""

LEGEND_STYLE = (
    "display: flex; flex-wrap: wrap; gap: 0.1em 0.9em; padding: 0 0.9em 0.5em; font-size: 12px; "
    "font-variant-numeric: tabular-nums"
)

MIN_LOG_VALUE = 1e-3
"""Smallest number on the axes of the page's charts; logarithmic charts draw lesser values there."""

CHART_DECIMALS = 9
"""Digits after the point of the numbers on a chart: less is rounding error."""

MAX_POINTS = 320
"""Maximum number of samples in a chart, which is about as wide in pixels."""

UPDATE_PERIOD = 0.1
"""[s] Shortest time between two updates."""

DEFAULT_CHARTS = ("position", "forces")
"""Charts that are shown at first, if the run has them."""

COMPARISON_CHART = "difference"
"""Chart that opens when a run begins to have it."""

CHART_HEIGHT = 180
"""[pixels] Height of a chart without its legend."""


def curve_colours(chart: Chart) -> tuple[str, ...]:
    """Return the colour of each curve; the k-th reference has that of the k-th measurement."""
    measured = [name for name in chart.series if name not in chart.setpoint]
    position_of_curve = {name: k for k, name in enumerate(measured)}
    position_of_curve |= {name: k for k, name in enumerate(chart.setpoint)}
    return tuple(
        SERIES_COLOURS[position_of_curve[name] % len(SERIES_COLOURS)] for name in chart.series
    )


def series(
    chart: Chart, *, fitted: bool = False, has_values: Sequence[bool] = ()
) -> tuple[dict[str, Any], ...]:
    """Return the series of uPlot: time, the curves, the limits.

    Args:
        chart: to draw.
        fitted: whether the chart's height fits its curves alone, without the limits.
        has_values: whether each curve has any number; default all.
    """
    points = {"show": False}
    drawn_series: list[dict[str, Any]] = [{"label": "time [s]"}]
    is_shown = has_values or (True,) * len(chart.series)
    for name, colour, show in zip(chart.series, curve_colours(chart), is_shown, strict=True):
        curve = {"label": name, "stroke": colour, "show": show, "width": 1.6, "points": points}
        if name in chart.setpoint:
            curve |= {"dash": (6, 4), "width": 1.2}
        drawn_series.append(curve)
    for limit in chart.limits:
        drawn_series.append(
            {
                "label": f"limit {chart.scale * limit:.4g}",
                "stroke": LIMIT_COLOUR,
                "width": 1.2,
                "dash": (10, 3, 2, 3),
                "auto": not fitted,
                "points": points,
            }
        )
    # Two level lines, unseen, that the height includes where it does not include the limits.
    for end in ("low", "high"):
        drawn_series.append(
            {"label": end, "class": HIDDEN_CLASS, "width": 0, "auto": fitted, "points": points}
        )
    return tuple(drawn_series)


def span_ends(chart: Chart, values: FloatArray) -> tuple[float, float]:
    """Return the lower and upper value that a chart must include, so that noise does not fill it.

    Args:
        chart: to draw.
        values: `(k, c)` of its curves, as shown.
    """
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return MIN_LOG_VALUE, MIN_LOG_VALUE
    low, high = float(finite.min()), float(finite.max())
    if chart.logarithmic or chart.min_extent > 0.0:
        return low, high
    bounds = chart.scale * np.array(chart.limits)
    bound_range = float(np.ptp(bounds)) if bounds.size > 1 else 2.0 * max(-low, high)
    middle, half_height = 0.5 * (low + high), 0.5 * MIN_RELATIVE_HEIGHT * bound_range
    # Rounded, so that they keep their place while the curves do.
    digits = 0 if half_height <= 0.0 else int(1 - np.floor(np.log10(half_height)))
    return round(middle - half_height, digits), round(middle + half_height, digits)


def legend_text(chart: Chart, values: FloatArray) -> str:
    """Return the legend of a chart as HTML: the last value of every curve that has one.

    Args:
        chart: to draw.
        values: `(c,)` last values, as shown.
    """
    entries = []
    for name, colour, value in zip(chart.series, curve_colours(chart), values, strict=True):
        if np.isfinite(value):
            line = "dashed" if name in chart.setpoint else "solid"
            entries.append(
                f'<span style="white-space: nowrap"><span style="display: inline-block; '
                f'width: 1.3em; border-top: 2px {line} {colour}; vertical-align: middle">'
                f"</span> {escape(name)} <b>{value + 0.0:.4g}</b></span>"
            )
    unit = f"<span>{escape(chart.unit)}</span>" if chart.unit and entries else ""
    return f'<div class="twin-legend" style="{LEGEND_STYLE}">{"".join(entries)}{unit}</div>'


def scales(chart: Chart) -> dict[str, Any]:
    """Return the scales of the chart's axes."""
    height: dict[str, Any] = {}
    if chart.logarithmic:
        # Linear about zero and open to gaps, which uPlot's own logarithm is not.
        height = {"distr": 4, "asinh": MIN_LOG_VALUE}
    elif chart.min_extent > 0.0:
        soft = chart.scale * chart.min_extent
        soft_limits = {"min": -soft, "max": soft}
        height = {
            "range": {
                bound_name: {"pad": 0.1, "soft": bound, "mode": 1}
                for bound_name, bound in soft_limits.items()
            }
        }
    return {"x": {"time": False}, "y": height}


def axes(chart: Chart) -> tuple[dict[str, Any], ...]:
    """Return the axis of time and that of the values, with their units."""
    line = {"grid": {"width": 1}, "ticks": {"width": 1, "size": 4}, "gap": 3, "font": CHART_FONT}
    label = {"labelFont": CHART_FONT, "labelSize": 16, "labelGap": 0}
    unit = {**label, "label": chart.unit} if chart.unit else {}
    return (
        {**line, **label, "label": "time [s]", "size": 22},
        {**line, **unit, "size": 50},
    )


def span(
    time: FloatArray, values: FloatArray, start: float, end: float
) -> tuple[FloatArray, FloatArray]:
    """Return the samples `(k,)`, `(k, c)` between two times [s], both inclusive."""
    first_row, last_row = np.searchsorted(time, (start, end + 1e-9))
    return time[first_row:last_row], values[first_row:last_row]


def thinned(time: FloatArray, values: FloatArray, points: int) -> tuple[FloatArray, FloatArray]:
    """Return about `points` samples at most; the curves keep all their peaks.

    Each of equally long spells becomes two samples: the least and the greatest value of every
    curve, in the order in which the curve runs. The spells are fixed in time, so that a scrolling
    curve does not flicker.

    Args:
        time: `(k,)` [s], rising.
        values: `(k, c)`, NaN where there is none.
        points: largest number of samples, but for two more where spells are cut at the ends.
    """
    if len(time) <= points:
        return time, values
    # A power of two, so that a little more or less of time does not move all spells.
    length = 2.0 ** np.ceil(np.log2(2.0 * (time[-1] - time[0]) / points))
    spell = np.floor(time / length)
    spell_starts = np.flatnonzero(np.diff(spell, prepend=-np.inf))
    low, high = np.fmin.reduceat(values, spell_starts), np.fmax.reduceat(values, spell_starts)
    spell_ends = np.append(spell_starts[1:], len(time)) - 1
    falls = values[spell_ends] < values[spell_starts]
    kept_values = np.empty((2 * len(spell_starts), values.shape[1]))
    kept_values[0::2], kept_values[1::2] = np.where(falls, high, low), np.where(falls, low, high)
    kept_times = np.column_stack([time[spell_starts], time[spell_ends]]).ravel()
    return kept_times, kept_values


def since_last_gap(values: FloatArray) -> int:
    """Return the row from which all curves in values `(k, c)` have no gap.

    The page's charts join curves over gaps, which would show a motion that never was, and find no
    range if the first number is NaN. Curves without any number do not count.
    """
    is_finite = np.isfinite(values)
    starts_run = is_finite.copy()
    starts_run[1:] &= ~is_finite[:-1]
    return int(np.flatnonzero(starts_run.any(axis=1)).max(initial=0))


MIN_TIME_SPAN = 5.0
"""[s] Shortest time span of the charts."""

DEFAULT_TIME_SPAN = 10.0
"""[s] Default time span of the charts."""


class LiveCharts:
    """Charts of a history, one above the other, with their controls.

    Only charts that are shown are sent, at most ten times a second. The controls of the page only
    keep the choice; `update` draws it.

    Attributes:
        charts: all charts of the run.
        plots: what the page shows of each chart, by name.
        window: control of the time span [s].
        back: control of the time [s] between the end of the span and the newest value.
        hold: control that stops the charts.
        fitted: control that fits the height to the curves.
    """

    def __init__(
        self,
        server: ViserServer,
        charts: Sequence[Chart],
        container: AbstractContextManager[Any],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Add controls and charts.

        Args:
            server: of the page.
            charts: of the histories to come.
            container: of the page for them: a tab or a folder.
            clock: time [s] that limits how often charts are sent.
        """
        self._clock = clock
        self._server, self._container = server, container
        self._boxes: dict[str, Any] = {}
        self.plots: dict[str, Any] = {}
        self._legends: dict[str, Any] = {}
        self._styles: dict[str, tuple[bool, ...]] = {}
        self._drawn: tuple[Any, ...] = ()
        self._last_update = -np.inf
        self._held_time: float | None = None
        gui = server.gui
        with container:
            self.window = gui.add_slider(
                "Shown [s]", MIN_TIME_SPAN, HISTORY_LENGTH, 1.0, DEFAULT_TIME_SPAN
            )
            self.back = gui.add_slider(
                "Look back [s]", 0.0, HISTORY_LENGTH - MIN_TIME_SPAN, 0.5, 0.0
            )
            self.hold = gui.add_checkbox(
                "Hold",
                False,
                hint="Stop the charts to read them; drag across one to zoom, double-click to go "
                "back",
            )
            self._chooser = gui.add_folder("Choose charts", expand_by_default=False)
        with self._chooser:
            self.fitted = gui.add_checkbox(
                "Fit to curves", True, hint="Leave out limits that are far away"
            )
        self._compared = False
        self._build(charts, DEFAULT_CHARTS)

    @property
    def shown(self) -> tuple[str, ...]:
        """Names of the charts that are shown."""
        return tuple(name for name, box in self._boxes.items() if box.value)

    def show(self, names: Iterable[str]) -> None:
        """Show exactly these charts.

        Raises:
            InputError: no chart of that name; lists the known ones.
        """
        names_shown = tuple(names)
        for name in names_shown:
            one_of(name, "charts", self._boxes)
        for name, box in self._boxes.items():
            box.value = name in names_shown

    @property
    def chosen(self) -> dict[str, tuple[str, ...]]:
        """The shown charts, as a control of a `SetUp`; empty for the default ones."""
        return {} if set(self.shown) == set(DEFAULT_CHARTS) else {"charts": self.shown}

    def restore(self, controls: Mapping[str, Any]) -> None:
        """Show the charts of a `SetUp`; called on the run's thread.

        Raises:
            InputError: as `show`.
        """
        self.show(controls.get("charts", DEFAULT_CHARTS))

    def update(self, history: History) -> bool:
        """Draw the history if it has changed; return whether anything was sent.

        May be called at any rate, also while the run pauses, so that scrolling goes on.

        Args:
            history: of the same charts, or of others, which then replace them.
        """
        if history.charts != self.charts:
            names_shown = self.shown
            self._clear()
            self._build(history.charts, names_shown)
        self._open_difference(history)
        controls = (self.window, self.back, self.hold, self.fitted)
        state = (history.changes, *(control.value for control in controls), self.shown)
        present_time = self._clock()
        if (
            state == self._drawn
            or present_time - self._last_update < UPDATE_PERIOD
            or len(history) == 0
        ):
            return False
        has_changed = self._drawn[1:] != state[1:]
        self._drawn, self._last_update = state, present_time
        time = history.time()
        newest = float(time[-1])
        if not self.hold.value:
            self._held_time = None
        elif self._held_time is None or self._held_time > newest:
            self._held_time = newest
        elif not has_changed:
            return False
        end_time = (newest if self._held_time is None else self._held_time) - self.back.value
        end_time = max(end_time, min(float(time[0]) + self.window.value, newest))
        for chart in self.charts:
            if self._boxes[chart.name].value:
                self._draw(chart, time, history.values(chart.name), end_time)
            for handle in (self.plots[chart.name], self._legends[chart.name]):
                handle.visible = self._boxes[chart.name].value
        return True

    def remove(self) -> None:
        """Remove controls and charts from the page; nothing may be called afterwards."""
        self._clear()
        for handle in (self.window, self.back, self.hold, self._chooser):
            handle.remove()

    def _build(self, charts: Sequence[Chart], names_to_show: Sequence[str]) -> None:
        self.charts, self._drawn = tuple(charts), ()
        names = [chart.name for chart in self.charts]
        first_shown = names_to_show if set(names_to_show) <= set(names) else names[:2]
        gui = self._server.gui
        with self._chooser:
            self._boxes = {
                chart.name: gui.add_checkbox(chart.title, chart.name in first_shown)
                for chart in self.charts
            }
        with self._container:
            for chart in self.charts:
                self.plots[chart.name] = self._plot(chart)
                self._legends[chart.name] = self._server.gui.add_html("", visible=False)
        self._styles = dict.fromkeys(names, ())

    def _plot(self, chart: Chart) -> Any:
        curves = 3 + len(chart.series) + len(chart.limits)
        return self._server.gui.add_uplot(
            (np.zeros(0),) * curves,
            series(chart),  # type: ignore[arg-type]
            title=f"{chart.title} [{chart.unit}]" if chart.unit else chart.title,
            scales=scales(chart),
            axes=axes(chart),  # type: ignore[arg-type]
            cursor={"points": {"show": False}},
            height=CHART_HEIGHT,
            padding=(8, 14, 0, 0),
            visible=False,
        )

    def _open_difference(self, history: History) -> None:
        """Show the difference to a second engine while there is one; people may close it."""
        if COMPARISON_CHART in self._boxes and len(history):
            compared = bool(np.isfinite(history.values(COMPARISON_CHART)[-1]).any())
            if compared != self._compared:
                self._boxes[COMPARISON_CHART].value = compared
            self._compared = compared

    def _draw(self, chart: Chart, time: FloatArray, values: FloatArray, end: float) -> None:
        time, values = span(time, values, end - self.window.value, end)
        first_row = since_last_gap(values)
        time, values = thinned(time[first_row:], values[first_row:], MAX_POINTS)
        has_values: Any = np.isfinite(values).any(axis=0)
        plot, style = self.plots[chart.name], (self.fitted.value, *has_values.tolist())
        if self._styles[chart.name] != style:
            plot.series = series(chart, fitted=style[0], has_values=style[1:])
            self._styles[chart.name] = style
        values = np.round(chart.scale * values, CHART_DECIMALS)
        if chart.logarithmic:
            values = np.maximum(values, MIN_LOG_VALUE)
        limits = [np.full(len(time), chart.scale * limit) for limit in chart.limits]
        span_lines = [np.full(len(time), end) for end in span_ends(chart, values)]
        plot.data = (time, *values.T, *limits, *span_lines)
        last_values = values[-1] if len(values) else np.full(len(chart.series), np.nan)
        self._legends[chart.name].content = legend_text(chart, last_values)

    def _clear(self) -> None:
        for handles in (self.plots, self._legends, self._boxes):
            for handle in handles.values():
                handle.remove()
            handles.clear()
