"""State of a machine at a glance: legs, closest limits of what it is to do, second engine."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from contextlib import suppress
from html import escape
from threading import Thread
from typing import Any

import numpy as np

from twin.analysis.feasibility.course import Margin, legs_text, share_text
from twin.analysis.feasibility.feasibility import Feasibility, feasibility, rest_feasibility
from twin.basics.arrays import FloatArray
from twin.errors import TwinError
from twin.page.panels.motion import MotionPanel
from twin.page.requests import Requests
from twin.page.scene.scene_view import SceneView, touched
from twin.simulation.live.live_machine import MAX_DISTURBANCE_TIME
from twin.simulation.live.machine_session import MachineSession

RUN_STATE_COLOURS = {"running": "#00866b", "paused": "#566370", "stopped": "#c0392b"}
"""Colours of the run's states, dark enough for white letters."""

STATUS_STYLE = "padding: 0.1em 0.75em 0.45em; font-size: 0.95em; font-variant-numeric: tabular-nums"

STATE_STYLE = (
    "display: inline-block; min-width: 4.6em; text-align: center; color: white; "
    "border-radius: 0.6em"
)

BANNER_STYLE = (
    "margin: 0 0.75em 0.5em; padding: 0.4em 0.6em; border-left: 0.25em solid #c0392b; "
    "background: rgba(192, 57, 43, 0.12); font-size: 0.9em; overflow-wrap: anywhere"
)

RESTART_HINT = "To go on, press <b>Reset and run</b>: the run begins anew."

NOTE_STYLE = "padding: 0.2em 0.75em 0.4em; font-size: 0.9em; font-variant-numeric: tabular-nums"

HEADING_STYLE = (
    "display: flex; gap: 0.5em; text-align: center; "
    "padding: 0 var(--mantine-spacing-xs) 0.1em calc(var(--mantine-spacing-xs) + 7.25em)"
)
"""Style of headings: the library's inputs have the same paddings and gaps, and labels of this
width.
"""

STRIP_STYLE = (
    "display: grid; gap: 0.15em 0.3em; align-items: center; padding: 0.1em 0.75em 0.4em; "
    "font-size: 11px; font-variant-numeric: tabular-nums; text-align: center; line-height: 1.35"
)

SPANNING_STYLE = "grid-column: 2 / -1; white-space: nowrap; text-overflow: ellipsis"
"""Style of a cell below the columns of all legs."""

CELL_STYLE = "border-radius: 0.25em; background: rgba(128, 140, 155, 0.2); overflow: hidden"

PUSH_HINT = "A push acts at once, or when the run goes on. A click on the platform pushes it there."

PUSH_ACCELERATION = 2.0
"""[m/s2] Engineering choice: acceleration that the proposed force would give the free platform."""

PUSH_DURATION = 0.2
"""[s] Engineering choice: proposed duration of the disturbance."""

CHECK_SAMPLES = 201
"""Number of times along a motion that are checked: enough for a line of text."""

MAX_LIMITS_NAMED = 3
"""Maximum number of violated limits that are named."""

IDLE_TIME = 0.5
"""[s] Time without a change of the controls before they are judged."""

VERDICT_HEIGHT = "7em"
"""Height of the lines: controls must not move under the pointer when the words change."""

CHECKED_TASKS = {"motion": "Motion", "at rest": "Rest at the setpoint"}
"""Tasks that are judged -> heads of their lines."""

VERDICT_COLOURS = {True: "#00866b", False: "#c0392b"}
"""Colours of the words for what holds (True) and what does not."""


def note(content: str, name: str = "note") -> str:
    """Return the HTML of a short text among the controls; `name` ends its CSS class."""
    return f'<div class="twin-{name}" style="{NOTE_STYLE}">{content}</div>'


def columns(*names: str) -> str:
    """Return the HTML of headings above the inputs of a vector, one for each of its parts."""
    cells = "".join(f'<b style="flex: 1; font-size: 0.875em">{name}</b>' for name in names)
    return f'<div class="twin-columns" style="{HEADING_STYLE}">{cells}</div>'


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
            state: a key of `RUN_STATE_COLOURS`.
            time: [s] of the run.
            factor: simulated time per real time; NaN where it is not known.
            reason: why it has stopped or is being stopped; empty for no banner.
        """
        if label != self._label:
            self._label = label
            self._gui.set_panel_label(label)
        pace_text = "" if factor != factor else f"{factor:.2f} \u00d7 real time"
        self._line.content = (
            f'<div class="twin-status" style="{STATUS_STYLE}">'
            f'<span class="twin-state" style="{STATE_STYLE}; '
            f'background: {RUN_STATE_COLOURS[state]}">{state}</span>'
            f'<b class="twin-time" style="margin: 0 0.9em">{time:.2f} s</b>'
            f'<span class="twin-pace">{pace_text}</span></div>'
        )
        if self._banner.visible != bool(reason):
            self._banner.visible = bool(reason)
        if reason:
            stopped = state == "stopped"
            head, more = ("Stopped.", f"<br>{RESTART_HINT}") if stopped else ("Attention.", "")
            sentence = escape(reason[:1].upper() + reason[1:])
            self._banner.content = (
                f'<div class="twin-banner" style="{BANNER_STYLE}"><b>{head}</b> '
                f"{sentence}{more}</div>"
            )


NORMAL_COLOUR = "#0a7f66"
"""Colour of what is within its limit; all three are dark enough next to white."""

NEAR_COLOUR = "#b36b00"
"""Colour of what is near its limit."""

LIMIT_COLOUR = "#c0392b"
"""Colour of what is at its limit."""

NEAR_FRACTION = 0.7
"""Fraction of a limit above which it counts as near."""

LIMIT_FRACTION = 0.95
"""Fraction of a limit above which it counts as reached."""


class StatePanel:
    """A strip with a column for every leg, coloured by the distance to the limits."""

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
        fractions = session.stroke, session.speed_share, session.utilisation
        self._text.content = strip(*fractions, self._closest())


def strip(
    stroke: FloatArray,
    speed: FloatArray,
    force: FloatArray,
    closest: Mapping[str, Margin | None],
) -> str:
    """Return the HTML of the strip.

    Args:
        stroke: `(n,)` positions between the ends of the strokes, 0 to 1.
        speed: `(n,)` fractions of the largest speeds, NaN where none is known.
        force: `(n,)` fractions of the largest forces, likewise.
        closest: task -> margin to the limit that comes closest, None where it is not judged.
    """
    count = len(stroke)
    names = "".join(f"<b>{k + 1}</b>" for k in range(count))
    rows = (
        f"<span></span>{names}",
        "<span>stroke</span>" + "".join(_track(position) for position in stroke),
        "<span>speed</span>" + "".join(_fraction_cell(fraction) for fraction in speed),
        "<span>force</span>" + "".join(_fraction_cell(fraction) for fraction in force),
        *(
            f"<span>{escape(task_name)}</span>{_margin(margin)}"
            for task_name, margin in closest.items()
        ),
    )
    columns = f"grid-template-columns: 3.7em repeat({count}, 1fr)"
    return f'<div class="twin-strip" style="{STRIP_STYLE}; {columns}">{"".join(rows)}</div>'


def _colour(fraction: float) -> str:
    return (
        NORMAL_COLOUR
        if fraction < NEAR_FRACTION
        else NEAR_COLOUR
        if fraction < LIMIT_FRACTION
        else LIMIT_COLOUR
    )


def _track(position: float) -> str:
    """Return a stroke from bottom to top, filled from its middle to the present place."""
    bounded_position = float(np.clip(position, 0.0, 1.0))
    low, high = sorted((50.0, 100.0 * bounded_position))
    colour = _colour(2.0 * abs(bounded_position - 0.5))
    fill = f"bottom: {low:.0f}%; height: max(3px, {high - low:.0f}%); background: {colour}"
    return (
        f'<div style="{CELL_STYLE}; position: relative; height: 34px">'
        f'<div style="position: absolute; left: 0; right: 0; {fill}"></div></div>'
    )


def _fraction_cell(fraction: float) -> str:
    """Return a fraction of a limit as a number with a bar behind it."""
    if not np.isfinite(fraction):
        return _cell("\u2013")
    percent = round(100.0 * float(fraction))
    return _cell(f"{percent} %" if percent < 1000 else "&gt; 999 %", float(fraction))


def _margin(closest: Margin | None) -> str:
    """Return the limit that comes closest and its fraction, below the columns of all legs."""
    if closest is None:
        return _cell("\u2013", style=SPANNING_STYLE)
    legs = f", {legs_text(closest.legs)}" if closest.legs else ""
    text = escape(f"{closest.quantity} {share_text(closest.share)}{legs}")
    return _cell(text if closest.holds else f"not feasible: {text}", closest.share, SPANNING_STYLE)


def _cell(text: str, fraction: float = 0.0, style: str = "") -> str:
    """Return a cell with a bar behind its text that shows a fraction of a limit."""
    width, colour = min(100.0 * fraction, 100.0), _colour(fraction)
    bar_style = f"linear-gradient(to right, {colour}55 {width:.0f}%, transparent {width:.0f}%)"
    weight = (
        "" if fraction < NEAR_FRACTION else f"; box-shadow: inset 0 -2px {colour}; font-weight: 700"
    )
    return f'<div style="{CELL_STYLE}; {style}; background-image: {bar_style}{weight}">{text}</div>'


class PushPanel:
    """A push is a disturbance wrench that the controller does not know."""

    def __init__(
        self, gui: Any, requests: Requests, session: MachineSession, view: SceneView
    ) -> None:
        """Add the controls where the next ones come."""
        self._session, self._view = session, view
        gui.add_html(columns("x", "y", "z"))
        axes = "x, y and z in base axes, held while it acts."
        self._force, self._moment, self._point = (
            gui.add_vector3(label, (0.0, 0.0, 0.0), step=1.0, hint=hint)
            for label, hint in (
                ("Force [N]", f"In newtons along {axes}"),
                ("Moment [N m]", f"In newton metres about {axes}"),
                (
                    "Point [mm]",
                    "Point at which the force acts, in millimetres from the platform's reference "
                    "point along the platform's axes.",
                ),
            )
        )
        self._duration = gui.add_number(
            "For [s]",
            PUSH_DURATION,
            min=0.001,
            max=MAX_DISTURBANCE_TIME,
            step=0.1,
            hint="Duration of the push.",
        )
        self._button = gui.add_button("Push", icon="arrow-big-right")
        self._text = gui.add_html("")
        for handle in (self._force, self._moment, self._point, self._duration):
            handle.precision = 6
        self._controls = {
            "force": self._force,
            "moment": self._moment,
            "point": self._point,
            "push_duration": self._duration,
        }
        self._propose()
        requests.on(self._button.on_click, lambda _: self._push())
        requests.on(view.on_click, self._strike)

    def refresh(self) -> None:
        """Show whether a push acts; called on the run's thread."""
        if self._session.platform is not self._platform:
            self._propose()
        is_acting = self._session.disturbance is not None
        text = "acting" if is_acting else PUSH_HINT
        self._text.content = note(text, "push")

    def _propose(self) -> None:
        """Propose a force that suits the machine."""
        self._platform = self._session.platform
        self._force.value = (default_force(self._session), 0.0, 0.0)
        self._moment.value = self._point.value = (0.0, 0.0, 0.0)
        self._duration.value = PUSH_DURATION
        self._proposed = self._values()

    def _values(self) -> dict[str, Any]:
        return {name: control.value for name, control in self._controls.items()}

    @property
    def chosen(self) -> dict[str, Any]:
        """The push that is set, as controls of a `SetUp`; what is proposed is left out."""
        initial = self._proposed
        return {name: value for name, value in self._values().items() if value != initial[name]}

    def restore(self, controls: Mapping[str, Any]) -> None:
        """Set the push of a `SetUp`; called on the run's thread."""
        self._propose()
        for name, control in self._controls.items():
            control.value = controls.get(name, self._proposed[name])

    def _strike(self, event: Any) -> None:
        """Apply the set force where the user clicks on the platform, along the line of sight."""
        point = touched(self._view.machine, event.ray_origin, event.ray_direction)
        if point is None:
            return
        size = float(np.linalg.norm(self._force.value)) or default_force(self._session)
        ray_direction = np.asarray(event.ray_direction) / np.linalg.norm(event.ray_direction)
        self._force.value = _three_digits(size * ray_direction)
        self._moment.value = (0.0, 0.0, 0.0)
        self._point.value = _three_digits(1e3 * point)
        self._push()

    def _push(self) -> None:
        point = 1e-3 * np.array(self._point.value)
        force, moment, duration = self._force.value, self._moment.value, self._duration.value
        self._session.disturb(force, moment, point, duration)
        self._view.push.begin(force, moment, point, time=self._session.time, duration=duration)


def _three_digits(vector: FloatArray) -> tuple[float, ...]:
    """Return a vector `(3,)` with three digits of its largest part."""
    step = 10.0 ** (np.floor(np.log10(np.abs(vector).max())) - 2.0)
    return tuple(np.round(np.round(vector / step) * step, 9).tolist())


def default_force(session: MachineSession) -> float:
    """Return a force [N] of one digit that moves the machine visibly."""
    force = PUSH_ACCELERATION * float(session.platform.mass_matrix(session.platform.home)[0, 0])
    digit = 10.0 ** np.floor(np.log10(force))
    return float(round(np.round(force / digit) * digit, 9))


class FeasibilityPanel:
    """Two lines that follow the controls; the work is done in a thread, one task at a time.

    While a motion is played, the setpoint does not rest: that line is left out.

    Attributes:
        closest: "motion" and "at rest" -> margin to the limit that comes closest; None where there
            is no verdict.
        text: the lines on the page.
    """

    def __init__(self, gui: Any, session: MachineSession, motions: MotionPanel) -> None:
        """Add the lines where the next controls come."""
        self._session, self._motions = session, motions
        self.text = gui.add_html(_block(""))
        self._last_task: Any = None
        self._changed_at = 0.0
        self._judged_task: Any = None
        self.closest: dict[str, Margin | None] = dict.fromkeys(CHECKED_TASKS)
        self._verdict: tuple[str, dict[str, Margin | None]] = ("", self.closest)
        self._work: Thread | None = None

    def refresh(self) -> None:
        """Show finished verdicts and begin others where something changed; on the run's thread."""
        if self._work is not None and not self._work.is_alive():
            (lines, self.closest), self._work = self._verdict, None
            self.text.content = _block(lines)
        pose = self._session.scene.ghost
        if self._work is None and pose is not None:
            rests = not self._session.playing
            rounded_pose = np.round(pose, 4).tobytes() if rests else b""
            task = (self._session.platform.hash, self._motions.description, rounded_pose)
            if task != self._last_task:
                self._last_task, self._changed_at = task, clock.monotonic()
            elif task != self._judged_task and clock.monotonic() - self._changed_at > IDLE_TIME:
                self._judged_task = task
                # A daemon: the page may end while kernels are compiled.
                self._work = Thread(
                    target=self._judge, args=(pose.copy() if rests else None,), daemon=True
                )
                self._work.start()

    def _judge(self, pose: FloatArray | None) -> None:
        """Judge the motion, and rest at a pose if there is one; skip invalid descriptions."""
        platform = self._session.platform
        verdicts = {}
        with suppress(TwinError):
            motion = self._motions.described()
            verdicts["motion"] = feasibility(platform, motion, samples=CHECK_SAMPLES)
        with suppress(TwinError):
            if pose is not None:
                poses = platform.constrain(pose[None]).pose
                verdicts["at rest"] = rest_feasibility(platform, poses, ("setpoint",), "at rest")
        lines = (verdict_line(CHECKED_TASKS[name], verdict) for name, verdict in verdicts.items())
        closest = {
            name: verdicts[name].margins[0] if name in verdicts else None for name in CHECKED_TASKS
        }
        self._verdict = "".join(note(line, "feasibility") for line in lines), closest


def _block(lines: str) -> str:
    return f'<div style="min-height: {VERDICT_HEIGHT}">{lines}</div>'


def verdict_line(head: str, verdict: Feasibility) -> str:
    """Return a verdict as HTML: its word, and the limits that are violated or the closest one."""
    verdict_text = "feasible" if verdict else "not feasible"
    named_margins = verdict.violated[:MAX_LIMITS_NAMED] or verdict.margins[:1]
    limits = "; ".join(_named(margin) for margin in named_margins)
    n_more = len(verdict.violated) - len(named_margins)
    if n_more > 0:
        limits += f" and {n_more} more"
    colour, separator = VERDICT_COLOURS[verdict.feasible], ", closest:" if verdict else ":"
    return (
        f'{escape(head)}: <b style="color: {colour}">{verdict_text}</b>{separator} {escape(limits)}'
    )


def _named(margin: Margin) -> str:
    legs = f", {legs_text(margin.legs)}" if margin.legs else ""
    time_text = "" if margin.time is None else f", at {margin.time:.3g} s"
    fraction = share_text(margin.share).replace(" ", "\u00a0")
    return f"{margin.quantity} {fraction}{legs}{time_text}"
