"""What a page says first: what runs, whether it runs, and why it does not."""

from __future__ import annotations

from html import escape
from typing import Any

COLOURS = {"running": "#00866b", "paused": "#566370", "stopped": "#c0392b"}
"""Of the words for the state, dark enough for white letters."""

LINE = "padding: 0.1em 0.75em 0.45em; font-size: 0.95em; font-variant-numeric: tabular-nums"

PILL = (
    "display: inline-block; min-width: 4.6em; text-align: center; color: white; "
    "border-radius: 0.6em"
)

BANNER = (
    "margin: 0 0.75em 0.5em; padding: 0.4em 0.6em; border-left: 0.25em solid #c0392b; "
    "background: rgba(192, 57, 43, 0.12); font-size: 0.9em; overflow-wrap: anywhere"
)


class Status:
    """The lines at the top of the page, and the reason why a run has stopped."""

    def __init__(self, gui: Any) -> None:
        """Add them where the next controls come."""
        self._gui = gui
        self._line = gui.add_html("")
        self._banner = gui.add_html("", visible=False)
        self._label = ""

    def show(self, label: str, state: str, time: float, factor: float, said: str) -> None:
        """Say how the run is.

        Args:
            label: what runs.
            state: a key of `COLOURS`.
            time: [s] of the run.
            factor: run's time per real time; NaN where it is not known.
            said: why it has stopped or is being stopped; empty for nothing.
        """
        if label != self._label:
            self._label = label
            self._gui.set_panel_label(label)
        pace = "" if factor != factor else f"{factor:.2f} \u00d7 real time"
        self._line.content = (
            f'<div class="twin-status" style="{LINE}">'
            f'<span class="twin-state" style="{PILL}; background: {COLOURS[state]}">{state}</span>'
            f'<b class="twin-time" style="margin: 0 0.9em">{time:.2f} s</b>'
            f'<span class="twin-pace">{pace}</span></div>'
        )
        if self._banner.visible != bool(said):
            self._banner.visible = bool(said)
        if said:
            head = "Stopped." if state == "stopped" else "Attention."
            self._banner.content = (
                f'<div class="twin-banner" style="{BANNER}"><b>{head}</b> {escape(said)}</div>'
            )
