"""The page of a shadow: measured machine and twin in one scene, their difference, the alarms.

It runs in a process of its own, which asks for the latest state ten times a second, so that the
loop that takes the samples has little to do for it.
"""

from __future__ import annotations

import os
import signal
import time as clock
from html import escape
from math import nan
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.charts.panels import legs
from twin.errors import StateError, TwinError
from twin.link.protocol import Sample
from twin.model.machine_model import MachineModel
from twin.page.charts import LiveCharts
from twin.page.page import lay_out
from twin.page.panels.state import Status, note
from twin.page.scene.scene_view import FIRST_VIEW, SceneView
from twin.page.server.page_server import PageServer
from twin.rotations import displaced, displacement
from twin.shadow.detectors import Alarm
from twin.shadow.session import ShadowSession
from twin.shadow.shadow import ShadowState
from twin.simulation.live.machine_charts import MICRO_SCALE, Chart, History
from twin.simulation.live.runner import HISTORY_LENGTH
from twin.simulation.simulate import Scene

FRAME_PERIOD = 0.1
"""[s] Time between two frames."""

ALARMS_LISTED = 8
"""Number of the newest alarms that are listed."""

MIN_CHART_RANGE = 1e-5
"""[m, rad] Smallest range of the charts of the difference."""

AXIS_NAMES = ("x", "y", "z")


class ShadowFrame(NamedTuple):
    """A shadow at one instant, as the page shows it."""

    state: ShadowState
    measured: FloatArray
    """`(7,)` pose of the machine"""
    alarms: tuple[Alarm, ...]
    missed: int


class ShadowPage:
    """Shows the frames of a shadow in every browser that opens the page."""

    def __init__(self, server: Any, platform: MachineModel) -> None:
        """Build the page on viser's `server`."""
        self._platform = platform
        container = lay_out(server, lambda client: self._view.look(FIRST_VIEW, [client]))
        self._view = SceneView(server, platform)
        self._status = Status(server.gui)
        server.gui.add_html(note("Machine as it is measured; the twin orange over it.", "colours"))
        self.difference, self.alarms = server.gui.add_html(""), server.gui.add_html("")
        charts = (
            *(
                Chart(name, title, unit, AXIS_NAMES, MICRO_SCALE, min_extent=MIN_CHART_RANGE)
                for name, title, unit in (
                    ("place", "Position of machine less twin", "um"),
                    ("angle", "Angle of machine less twin", "urad"),
                )
            ),
            Chart(
                "residuals",
                "Residuals per threshold",
                "",
                tuple(legs(platform.n_actuators)),
                limits=(1.0,),
                min_extent=1.0,
            ),
        )
        self._history = History(charts, round(HISTORY_LENGTH / FRAME_PERIOD))
        self._charts = LiveCharts(server, charts, container)
        self._charts.show(chart.name for chart in charts)

    def show(self, frame: ShadowFrame) -> None:
        """Send a frame to the browsers."""
        state, measured = frame.state, frame.measured
        difference = displacement(measured, state.pose)
        values = {"place": difference[:3], "angle": difference[3:], "residuals": state.residuals}
        self._history.append(state.time, values)
        self._view.update(Scene(measured), state.time, Scene(state.pose))
        self._charts.update(self._history)
        reason = str(frame.alarms[-1]) if frame.alarms else ""
        self._status.show(
            f"shadow \u00b7 {self._platform.name}", "running", state.time, nan, reason
        )
        self.difference.content = note(_difference_text(frame, difference), "difference")
        self.alarms.content = note(_alarms_text(frame.alarms), "alarms")


def _difference_text(frame: ShadowFrame, offset: FloatArray) -> str:
    """Return HTML of the difference between machine and twin."""
    rows = "".join(
        f"<tr><td>{axis}</td><td align='right'>{MICRO_SCALE * offset[k]:.0f} \u00b5m</td>"
        f"<td align='right'>{MICRO_SCALE * offset[3 + k]:.0f} \u00b5rad</td></tr>"
        for k, axis in enumerate(AXIS_NAMES)
    )
    return (
        f"{frame.state.phase}; {frame.missed} samples missed<br>Machine less twin:"
        f"<table style='width: 100%'>{rows}</table>"
    )


def _alarms_text(alarms: tuple[Alarm, ...]) -> str:
    """Return HTML of the newest alarms, the last one first."""
    if not alarms:
        return "No alarm."
    rows = (
        f"<b>{escape(str(alarm))}</b><br>Look at {escape(alarm.parts_to_check)}."
        for alarm in alarms
    )
    return "<br>".join(reversed([*rows][-ALARMS_LISTED:]))


class ShadowWindow:
    """The page in its process, seen from the loop of the samples.

    Attributes:
        url: of the page.
    """

    def __init__(
        self, platform: MachineModel, port: int | None = None, *, browser: bool = True
    ) -> None:
        """Serve the page on this computer.

        Args:
            platform: the machine.
            port: as of `PageServer`.
            browser: whether to open the user's browser.

        Raises:
            TwinError: as `PageServer`.
            StateError: the process of the page has ended at once.
        """
        own_end, window_end = get_context("spawn").Pipe()
        self._platform, self._connection = platform, own_end
        self._process = get_context("spawn").Process(
            target=_serve, args=(window_end, platform, port, browser), daemon=True
        )
        self._process.start()
        window_end.close()
        try:
            answer = own_end.recv()
        except EOFError:
            raise StateError("the page ended before it could be served") from None
        if isinstance(answer, TwinError):
            raise answer
        self.url = str(answer)

    def offer(self, session: ShadowSession) -> None:
        """Send the last state if the page has asked for one; never waits."""
        sample, state, shadow = session.sample, session.state, session.shadow
        if sample is None or state is None:
            return
        try:
            if self._connection.poll():
                self._connection.recv()
                alarms = tuple(session.alarms[-ALARMS_LISTED:])
                measured = measured_pose(self._platform, sample, state)
                self._connection.send(ShadowFrame(state, measured, alarms, shadow.missed))
        except (EOFError, OSError):
            pass  # the page is gone; the shadow goes on

    def close(self) -> None:
        """End the page."""
        self._connection.close()
        self._process.join(2.0)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join()


def measured_pose(platform: MachineModel, sample: Sample, state: ShadowState) -> FloatArray:
    """Return the pose `(7,)` of the machine: measured, or of its coordinates near the twin's.

    Deflections of transmissions and springs are those of the twin; without a reading the pose is
    the twin's.
    """
    pose, coordinates = sample.values.get("pose"), sample.values.get("coordinates")
    if pose is not None and np.isfinite(pose).all():
        return np.concatenate([pose[:3], pose[3:] / np.linalg.norm(pose[3:])])
    if coordinates is None or not np.isfinite(coordinates).all():
        return state.pose
    difference = np.linalg.pinv(platform.jacobian(state.pose)) @ (coordinates - state.coordinates)
    return displaced(state.pose, difference)


def _serve(connection: Connection, platform: MachineModel, port: int | None, browser: bool) -> None:
    """Serve the page until the loop of the samples ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the loop, which ends this
    if hasattr(os, "sched_setscheduler"):  # not with the loop's real-time priority
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    os.nice(5)
    try:
        with PageServer(port=port, title=f"shadow of {platform.name}") as server:
            page = ShadowPage(server.viser, platform)
            connection.send(server.url)
            if browser:
                server.show()
            while True:
                connection.send(None)
                page.show(connection.recv())
                clock.sleep(FRAME_PERIOD)
    except TwinError as error:
        connection.send(error)
    except (EOFError, OSError):
        pass
