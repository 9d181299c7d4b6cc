"""Texts on the page: its status line and banner, and notes beside controls."""

from __future__ import annotations

from html import escape
from typing import Any

COLOURS = {"running": "#00866b", "paused": "#566370", "stopped": "#c0392b"}
"""Colours of the run's states, dark enough for white letters."""

LINE = "padding: 0.1em 0.75em 0.45em; font-size: 0.95em; font-variant-numeric: tabular-nums"

PILL = (
    "display: inline-block; min-width: 4.6em; text-align: center; color: white; "
    "border-radius: 0.6em"
)

BANNER = (
    "margin: 0 0.75em 0.5em; padding: 0.4em 0.6em; border-left: 0.25em solid #c0392b; "
    "background: rgba(192, 57, 43, 0.12); font-size: 0.9em; overflow-wrap: anywhere"
)


ON = "To go on, press <b>Reset and run</b>: the run begins anew."

NOTE = "padding: 0.2em 0.75em 0.4em; font-size: 0.9em; font-variant-numeric: tabular-nums"

COLUMNS = (
    "display: flex; gap: 0.5em; text-align: center; "
    "padding: 0 var(--mantine-spacing-xs) 0.1em calc(var(--mantine-spacing-xs) + 7.25em)"
)
"""Of headings: the library's inputs have the same paddings and gaps, and labels of this width."""


def note(content: str, name: str = "note") -> str:
    """Return the HTML of a short text beside controls; `name` ends its CSS class."""
    return f'<div class="twin-{name}" style="{NOTE}">{content}</div>'


def columns(*names: str) -> str:
    """Return the HTML of headings above the inputs of a vector, one for each of its parts."""
    cells = "".join(f'<b style="flex: 1; font-size: 0.875em">{name}</b>' for name in names)
    return f'<div class="twin-columns" style="{COLUMNS}">{cells}</div>'


class Status:
    """The lines at the top of the page, and the reason why a run has stopped."""

    def __init__(self, gui: Any) -> None:
        """Add them where the next controls come."""
        self._gui = gui
        self._line = gui.add_html("")
        self._banner = gui.add_html("", visible=False)
        self._label = ""

    def show(self, label: str, state: str, time: float, factor: float, reason: str) -> None:
        """Show the state of the run.

        Args:
            label: name of the run.
            state: a key of `COLOURS`.
            time: [s] of the run.
            factor: simulated time per real time; NaN where it is not known.
            reason: why it has stopped or is being stopped; empty for no banner.
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
        if self._banner.visible != bool(reason):
            self._banner.visible = bool(reason)
        if reason:
            stopped = state == "stopped"
            head, more = ("Stopped.", f"<br>{ON}") if stopped else ("Attention.", "")
            said = escape(reason[:1].upper() + reason[1:])
            self._banner.content = (
                f'<div class="twin-banner" style="{BANNER}"><b>{head}</b> {said}{more}</div>'
            )
