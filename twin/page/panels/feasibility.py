"""Verdicts beside the controls: the described motion, and rest at the present setpoint."""

from __future__ import annotations

import time as clock
from contextlib import suppress
from html import escape
from threading import Thread
from typing import Any

import numpy as np

from twin.analysis.feasibility.feasibility import feasibility, rest_feasibility
from twin.analysis.feasibility.margin import Margin, legs_text, share_text
from twin.analysis.feasibility.verdict import Feasibility
from twin.basics.arrays import FloatArray
from twin.errors import TwinError
from twin.page.panels.motion import MotionPanel
from twin.page.panels.text import note
from twin.simulation.live.machine_session import MachineSession

SAMPLES = 201
"""Times along a motion: enough for a line of text."""

SHOWN = 3
"""Violated limits that are named."""

STILL = 0.5
"""[s] without a change of the controls before they are judged."""

HEIGHT = "7em"
"""Of the lines: controls must not move under the pointer when the words change."""

JUDGED = {"motion": "Motion", "at rest": "Rest at the setpoint"}
"""Tasks that are judged -> heads of their lines."""

COLOURS = {True: "#00866b", False: "#c0392b"}
"""Of words for what holds and what does not."""


class FeasibilityPanel:
    """Two lines that follow the controls; the work is done beside the run, one at a time.

    While a motion is played, the setpoint does not rest: that line is left out.

    Attributes:
        closest: "motion" and "at rest" -> margin to the limit that comes closest; None where there
            is no verdict.
    """

    def __init__(self, gui: Any, session: MachineSession, motions: MotionPanel) -> None:
        """Add the lines where the next controls come."""
        self._session, self._motions = session, motions
        self._text = gui.add_html(_block(""))
        self._seen: Any = None
        self._since = 0.0
        self._asked: Any = None
        self.closest: dict[str, Margin | None] = dict.fromkeys(JUDGED)
        self._found: tuple[str, dict[str, Margin | None]] = ("", self.closest)
        self._work: Thread | None = None

    def refresh(self) -> None:
        """Show finished verdicts and begin others where something changed; on the run's thread."""
        if self._work is not None and not self._work.is_alive():
            (lines, self.closest), self._work = self._found, None
            self._text.content = _block(lines)
        pose = self._session.scene.ghost
        if self._work is None and pose is not None:
            rests = not self._session.playing
            place = np.round(pose, 4).tobytes() if rests else b""
            asked = (self._session.platform.hash, self._motions.description, place)
            if asked != self._seen:
                self._seen, self._since = asked, clock.monotonic()
            elif asked != self._asked and clock.monotonic() - self._since > STILL:
                self._asked = asked
                # A daemon: the page may end while kernels are compiled.
                self._work = Thread(
                    target=self._judge, args=(pose.copy() if rests else None,), daemon=True
                )
                self._work.start()

    def _judge(self, pose: FloatArray | None) -> None:
        """Find both lines, without a pose one; a fault in a description leaves its line out."""
        platform = self._session.platform
        verdicts: dict[str, Feasibility] = {}
        with suppress(TwinError):
            motion = self._motions.described()
            verdicts["motion"] = feasibility(platform, motion, samples=SAMPLES)
        with suppress(TwinError):
            if pose is not None:
                poses = platform.constrain(pose[None]).pose
                verdicts["at rest"] = rest_feasibility(platform, poses, ("setpoint",), "at rest")
        lines = (verdict_line(JUDGED[name], found) for name, found in verdicts.items())
        closest = {name: verdicts[name].margins[0] if name in verdicts else None for name in JUDGED}
        self._found = "".join(note(line, "feasibility") for line in lines), closest


def _block(lines: str) -> str:
    return f'<div style="min-height: {HEIGHT}">{lines}</div>'


def verdict_line(head: str, found: Feasibility) -> str:
    """Return a verdict as HTML: its word, and the limits that are violated or the closest one."""
    word = "feasible" if found else "not feasible"
    named = found.violated[:SHOWN] or found.margins[:1]
    limits = "; ".join(_named(margin) for margin in named)
    more = len(found.violated) - len(named)
    if more > 0:
        limits += f" and {more} more"
    colour, joint = COLOURS[found.feasible], ", closest:" if found else ":"
    return f'{escape(head)}: <b style="color: {colour}">{word}</b>{joint} {escape(limits)}'


def _named(margin: Margin) -> str:
    legs = f", {legs_text(margin.legs)}" if margin.legs else ""
    when = "" if margin.time is None else f", at {margin.time:.3g} s"
    share = share_text(margin.share).replace(" ", "\u00a0")
    return f"{margin.quantity} {share}{legs}{when}"
