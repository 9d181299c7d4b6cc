"""State of a machine at a glance: legs, closest limits of what it is to do, second engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import numpy as np

from twin.analysis.feasibility.margin import Margin, legs_text, share_text
from twin.basics.arrays import FloatArray
from twin.simulation.live.machine_session import MachineSession

CALM, NEAR, OVER = "#0a7f66", "#b36b00", "#c0392b"
"""Colours of what is within limits, near them, and at them; all dark enough beside white."""

CLOSE, FULL = 0.7, 0.95
"""Shares of a limit from which on it is near, and as good as reached."""

FRAME = (
    "display: grid; gap: 0.15em 0.3em; align-items: center; padding: 0.1em 0.75em 0.4em; "
    "font-size: 11px; font-variant-numeric: tabular-nums; text-align: center; line-height: 1.35"
)

WHOLE = "grid-column: 2 / -1; white-space: nowrap; text-overflow: ellipsis"
"""Of a cell below the columns of all legs."""

CELL = "border-radius: 0.25em; background: rgba(128, 140, 155, 0.2); overflow: hidden"


class StatePanel:
    """A column for every leg; its colours tell how near the limits are."""

    def __init__(
        self, gui: Any, session: MachineSession, closest: Callable[[], Mapping[str, Margin | None]]
    ) -> None:
        """Add the strip where the next controls come.

        Args:
            gui: viser's.
            session: of the machine.
            closest: returns the tasks that are judged, with the margin to the limit that comes
                closest; None where there is no verdict.
        """
        self._session, self._closest = session, closest
        self._text = gui.add_html("")
        self.refresh()

    def refresh(self) -> None:
        """Show the present state; called on the run's thread."""
        session = self._session
        shares = session.stroke, session.speed_share, session.utilisation
        self._text.content = strip(*shares, self._closest()) + (
            beside(session.settings.comparison, session.difference, session.comparison_stopped)
        )


def strip(
    stroke: FloatArray,
    speed: FloatArray,
    force: FloatArray,
    closest: Mapping[str, Margin | None],
) -> str:
    """Return the HTML of the strip.

    Args:
        stroke: `(n,)` places between the ends of the strokes, 0 and 1.
        speed: `(n,)` shares of the largest speeds, NaN where none is known.
        force: `(n,)` shares of the largest forces, likewise.
        closest: task -> margin to the limit that comes closest, None where it is not judged.
    """
    count = len(stroke)
    names = "".join(f"<b>{k + 1}</b>" for k in range(count))
    rows = (
        f"<span></span>{names}",
        "<span>stroke</span>" + "".join(_track(place) for place in stroke),
        "<span>speed</span>" + "".join(_share(share) for share in speed),
        "<span>force</span>" + "".join(_share(share) for share in force),
        *(f"<span>{escape(task)}</span>{_margin(each)}" for task, each in closest.items()),
    )
    columns = f"grid-template-columns: 3.7em repeat({count}, 1fr)"
    return f'<div class="twin-strip" style="{FRAME}; {columns}">{"".join(rows)}</div>'


def beside(engine: str | None, difference: FloatArray | None, stopped: str) -> str:
    """Return the HTML of a line about the second engine; empty without one.

    Args:
        engine: its name.
        difference: `(2,)` [m], [rad] to the first engine.
        stopped: why it has stopped; empty while it runs.
    """
    if engine is None:
        return ""
    text = "stopped" if stopped else "beginning"
    if difference is not None and not stopped:
        distance, angle = 1e6 * np.asarray(difference)
        text = f"<b>{_micro(distance, 'm')}</b> and <b>{_micro(angle, 'rad')}</b> apart"
    style = "padding: 0 0.75em 0.4em; font-size: 0.9em; font-variant-numeric: tabular-nums"
    return f'<div class="twin-beside" style="{style}">beside {escape(engine)}: {text}</div>'


def _micro(value: float, unit: str) -> str:
    """Return millionths with three digits, larger ones as thousandths."""
    if value < 1e-3:
        return f"{'&lt; 0.001' if value else '0'} \u00b5{unit}"
    scaled, prefix = (value, "\u00b5") if value < 1e3 else (1e-3 * value, "m")
    return f"{scaled:.3g} {prefix}{unit}"


def _colour(share: float) -> str:
    return CALM if share < CLOSE else NEAR if share < FULL else OVER


def _track(place: float) -> str:
    """Return a stroke from bottom to top, filled from its middle to the present place."""
    at = float(np.clip(place, 0.0, 1.0))
    low, high = sorted((50.0, 100.0 * at))
    colour = _colour(2.0 * abs(at - 0.5))
    fill = f"bottom: {low:.0f}%; height: max(3px, {high - low:.0f}%); background: {colour}"
    return (
        f'<div style="{CELL}; position: relative; height: 34px">'
        f'<div style="position: absolute; left: 0; right: 0; {fill}"></div></div>'
    )


def _share(share: float) -> str:
    """Return a share of a limit as a number with a bar behind it."""
    if not np.isfinite(share):
        return _cell("\u2013")
    percent = round(100.0 * float(share))
    return _cell(f"{percent} %" if percent < 1000 else "&gt; 999 %", float(share))


def _margin(closest: Margin | None) -> str:
    """Return the limit that comes closest and its share, below the columns of all legs."""
    if closest is None:
        return _cell("\u2013", style=WHOLE)
    legs = f", {legs_text(closest.legs)}" if closest.legs else ""
    text = escape(f"{closest.quantity} {share_text(closest.share)}{legs}")
    return _cell(text if closest.holds else f"not feasible: {text}", closest.share, WHOLE)


def _cell(text: str, share: float = 0.0, style: str = "") -> str:
    """Return a cell with a bar behind its text that shows a share of a limit."""
    width, colour = min(100.0 * share, 100.0), _colour(share)
    bar = f"linear-gradient(to right, {colour}55 {width:.0f}%, transparent {width:.0f}%)"
    weight = "" if share < CLOSE else f"; box-shadow: inset 0 -2px {colour}; font-weight: 700"
    return f'<div style="{CELL}; {style}; background-image: {bar}{weight}">{text}</div>'
