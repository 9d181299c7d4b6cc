"""A window that shows a machine as it moves, in real time if the computer is fast enough."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

from twin.basics.arrays import NotCopied, positive
from twin.engines.mujoco import mujoco
from twin.errors import StateError
from twin.model.ball import Ball
from twin.model.machine_model import MachineModel
from twin.viewer.camera import View, as_view, framing, has_display
from twin.viewer.scene_model import HIDDEN_GROUP, SceneModel

STOP_TIMEOUT = 10.0
"""[s] Time to wait for the window's thread to end."""

DISPLAY_ADVICE = (
    "take pictures instead (render_mode='rgb_array'), or start the program with xvfb-run"
)


class Window(NotCopied):
    """Shows one machine in MuJoCo's viewer, in the state of any engine.

    Attributes:
        platform: the machine.
    """

    def __init__(
        self,
        platform: MachineModel,
        *,
        period: float = 0.02,
        view: str | View | tuple[float, float] = "overview",
        ghost: bool = False,
        ball: Ball | None = None,
        payload: Any = None,
        dark: bool = False,
        on_key: Callable[[int], None] | None = None,
    ) -> None:
        """Open the window; `close` it.

        Args:
            platform: the machine.
            period: time [s] between two pictures, which `show` waits for.
            view: a name of `VIEWS`, or azimuth and elevation [deg], to start with.
            ghost: whether the platform can be drawn a second time, at the setpoint.
            ball: a ball that rolls on the platform.
            payload: what rides on the platform, at rest on it: an `Occupant`, or segments.
            dark: whether ground and sky are dark.
            on_key: is called with GLFW's code of a key that was pressed, on the window's thread.

        Raises:
            InputError: an argument that cannot be used.
            StateError: there is no display, or none that draws.
        """
        self._period = positive(period, "period")
        direction = as_view(view)
        _check_display()
        self.platform = platform
        self._scene_model = SceneModel(platform, ghost=ghost, ball=ball, payload=payload, dark=dark)
        model = self._scene_model.model
        other_threads = set(threading.enumerate())
        launch = import_module("mujoco.viewer").launch_passive
        self._handle: Any = launch(
            model,
            self._scene_model.data,
            key_callback=on_key,
            show_left_ui=False,
            show_right_ui=False,
        )
        self._threads = [thread for thread in threading.enumerate() if thread not in other_threads]
        with self._handle.lock():
            camera = self._handle.cam
            camera.azimuth, camera.elevation = direction
            view_frame = framing(
                self._scene_model.corners(), direction, model.vis.global_.fovy, 1.6
            )
            camera.lookat, camera.distance = view_frame
            self._handle.opt.geomgroup[HIDDEN_GROUP] = 0
        self._next_time = time.monotonic()

    @property
    def is_open(self) -> bool:
        """Whether neither the program nor its user has closed the window."""
        return self._handle is not None and bool(self._handle.is_running())

    def show(self, pose: Any, deflection: Any = None, **scene_fields: Any) -> None:
        """Show a state at its time; arguments and errors are those of `SceneModel.place`.

        Does nothing once the window is closed.
        """
        if not self.is_open:
            return
        with self._handle.lock():
            self._scene_model.place(pose, deflection, **scene_fields)
        self._handle.sync()
        present_time = time.monotonic()
        time.sleep(max(0.0, self._next_time - present_time))
        self._next_time = max(self._next_time, present_time) + self._period

    def write(self, names: str, values: str) -> None:
        """Write two columns of lines into the upper left corner, in place of what was there."""
        if not self.is_open:
            return
        font, corner = mujoco.mjtFont.mjFONT_NORMAL, mujoco.mjtGridPos.mjGRID_TOPLEFT
        self._handle.set_texts((font, corner, names, values))

    def close(self) -> None:
        """Close the window and wait until its thread has ended; more calls do nothing."""
        if getattr(self, "_handle", None) is None:
            return
        self._handle.close()
        for thread in self._threads:
            thread.join(STOP_TIMEOUT)
        self._handle = None

    def __enter__(self) -> Window:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _check_display() -> None:
    """Raise StateError where no window opens; MuJoCo's viewer would wait for it for ever."""
    if not has_display():
        raise StateError(f"there is no display (DISPLAY is not set): {DISPLAY_ADVICE}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trial = import_module("mujoco.glfw").GLContext(16, 16)
            trial.make_current()
            opened = import_module("glfw").get_current_context()
            trial.free()
    # Missing libraries, drivers and displays show as errors of many kinds.
    except Exception as error:
        raise StateError(f"the display does not draw ({error}): {DISPLAY_ADVICE}") from None
    if not opened:
        raise StateError(f"the display does not draw (no window could be opened): {DISPLAY_ADVICE}")
