"""Verdicts beside the controls: the described motion, and rest at the present setpoint."""

from __future__ import annotations

import time as clock
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

COLOURS = {True: "#00866b", False: "#c0392b"}
"""Of words for what holds and what does not."""


class FeasibilityPanel:
    """Two lines that follow the controls; the work is done beside the run, one at a time."""

    def __init__(self, gui: Any, session: MachineSession, motions: MotionPanel) -> None:
        """Add the lines where the next controls come."""
        self._session, self._motions = session, motions
        self._text = gui.add_html(_block(""))
        self._seen: Any = None
        self._since = 0.0
        self._asked: Any = None
        self._found = ""
        self._work: Thread | None = None

    def refresh(self) -> None:
        """Show finished verdicts and begin others where something changed; on the run's thread."""
        if self._work is not None and not self._work.is_alive():
            self._text.content, self._work = _block(self._found), None
        pose = self._session.scene.ghost
        if self._work is None and pose is not None:
            place = np.round(pose, 4).tobytes()
            asked = (self._session.platform.hash, self._motions.description, place)
            if asked != self._seen:
                self._seen, self._since = asked, clock.monotonic()
            elif asked != self._asked and clock.monotonic() - self._since > STILL:
                self._asked = asked
                # A daemon: the page may end while kernels are compiled.
                self._work = Thread(target=self._judge, args=(pose.copy(),), daemon=True)
                self._work.start()

    def _judge(self, pose: FloatArray) -> None:
        """Find both lines; a fault in a description leaves its line out."""
        platform = self._session.platform
        texts = []
        try:
            motion = self._motions.described()
            texts.append(verdict_line("Motion", feasibility(platform, motion, samples=SAMPLES)))
        except TwinError:
            pass
        try:
            poses = platform.constrain(pose[None]).pose
            found = rest_feasibility(platform, poses, ("setpoint",), "at rest")
            texts.append(verdict_line("Rest at the setpoint", found))
        except TwinError:
            pass
        self._found = "".join(note(text, "feasibility") for text in texts)


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
