"""Controls of the motion that a machine follows: described, or read from an uploaded file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import numpy as np

from twin.basics.arrays import one_of, positive
from twin.errors import InputError
from twin.motion import Motion, read_recording
from twin.motion.specification import (
    MOTION_NAMES,
    MotionSpecification,
    convention_of,
    sine_amplitude,
)
from twin.page.requests import Requests, notify
from twin.simulation.live.machine_session import MachineSession

SLIDER_HOLD_TIME = 1.0
"""[s] Time after a change by a person before the sliders follow the machine again."""

EXTRA_DIGITS = 2
"""Number of digits that can be typed beyond those that are dragged."""

AXIS_DIRECTIONS = {
    "x": "along the base's x axis",
    "y": "along the base's y axis",
    "z": "upwards",
    "yaw": "about the base's z axis",
    "pitch": "about the y axis",
    "roll": "about the x axis",
}

BUILTIN_MOTIONS = tuple(name for name in MOTION_NAMES if name != "still")
"""Built-in motions."""

PERIODIC_MOTIONS = ("sine", "chirp")
"""Motions with a frequency."""

FITTED_MOTION = "tank"
"""Motion along several axes, by as much as the machine can follow."""

UPLOAD_LIMIT = 20.0
"""[MB] Size limit of an uploaded file, unless the page is given another."""


class AxisSliders:
    """One slider per axis: millimetres and degrees from home, dragged or typed."""

    def __init__(self, gui: Any, requests: Requests, session: MachineSession) -> None:
        """Add the sliders where the next controls come."""
        self._gui, self._requests, self._session = gui, requests, session
        self._folder = gui.add_folder(None)
        self._used = -SLIDER_HOLD_TIME
        self._axes = session.axes
        self._shown: list[float] = []
        self._sliders = self._add()

    def refresh(self) -> None:
        """Show the setpoint of the platform; called on the run's thread."""
        if self._session.axes != self._axes:
            self._axes = self._session.axes
            for slider in self._sliders:
                slider.remove()
            self._sliders = self._add()
        if monotonic() - self._used < SLIDER_HOLD_TIME:
            return
        playing = self._session.playing
        values = self._session.setpoint if playing else self._session.target
        present_values = [slider.value for slider in self._sliders]
        if present_values != self._shown:
            # Somebody has just changed one; the request follows.
            self._shown, self._used = present_values, monotonic()
            return
        for slider, value in zip(self._sliders, values, strict=True):
            step = slider.step if playing else 0.1**slider.precision
            # The sum has no negative zero.
            value_shown = round(round(float(value) / step) * step, slider.precision) + 0.0
            slider.value = min(max(value_shown, slider.min), slider.max)
        self._shown = [slider.value for slider in self._sliders]

    def release(self) -> None:
        """Make the sliders follow the machine immediately."""
        self._used = -SLIDER_HOLD_TIME
        self.refresh()

    def _add(self) -> list[Any]:
        with self._folder:
            sliders = [
                self._gui.add_slider(
                    f"{axis.name} [{axis.unit}]",
                    axis.low,
                    axis.high,
                    _step(axis.high - axis.low),
                    min(max(0.0, axis.low), axis.high),
                    hint=f"From home, {AXIS_DIRECTIONS[axis.name]}; the range is that with all "
                    "other axes at home. The platform stops before the end of an actuator.",
                )
                for axis in self._axes
            ]
        for slider in sliders:
            slider.precision += EXTRA_DIGITS
            self._requests.on(slider.on_update, lambda _: self._move())
        self._shown = [slider.value for slider in sliders]
        return sliders

    def _move(self) -> None:
        self._used = monotonic()
        self._shown = [slider.value for slider in self._sliders]
        values_and_axes = zip(self._shown, self._axes, strict=True)
        # While a number is typed it can lie outside the range.
        self._session.move_to(
            [min(max(value, axis.low), axis.high) for value, axis in values_and_axes]
        )


def _step(width: float) -> float:
    """Return a step that divides a range of some `width` into 100 to 1000."""
    step = 1.0
    while step > 0.01 * width:
        step /= 10.0
    return round(step, 9)


class MotionPanel:
    """A motion is chosen, described and started; it goes on while other controls are used."""

    def __init__(
        self,
        gui: Any,
        requests: Requests,
        session: MachineSession,
        upload_limit: float = UPLOAD_LIMIT,
    ) -> None:
        """Add the controls where the next ones come; no upload is larger than its limit [MB]."""
        self._requests, self._session = requests, session
        self._upload_limit = positive(upload_limit, "upload_limit")
        self._files: dict[str, Motion] = {}
        self._platform = session.platform
        with gui.add_folder("Motion"):
            # First: in a narrow window the charts leave room for no more.
            self._start = gui.add_button("Start motion", icon="player-play", color="teal")
            self._stop = gui.add_button(
                "Stop motion", icon="player-stop", color="red", disabled=True
            )
            self._kind = gui.add_dropdown("Kind", BUILTIN_MOTIONS, hint="Motion of the platform.")
            axes, first_axis = self._axes()
            self._axis = gui.add_dropdown(
                "Axis", axes, initial_value=first_axis, hint="Axis along or about which it moves."
            )
            self.amplitude = gui.add_number(
                "Amplitude",
                0.0,
                min=0.0,
                hint="Largest displacement from home, or the step's size.",
            )
            self._frequency = gui.add_number(
                "Frequency [Hz]",
                1.0,
                min=0.01,
                max=500.0,
                hint="Of a chirp the highest one.",
            )
            self._duration = gui.add_number(
                "Duration [s]", 10.0, min=0.1, max=600.0, hint="Time of one run through the motion."
            )
            self._loop = gui.add_checkbox("Loop", False, hint="Begin again at its end.")
            upload = gui.add_upload_button(
                "Motion from CSV", mime_type=".csv,text/csv", icon="upload", color="gray"
            )
        self._controls: dict[str, Any] = {
            "motion": self._kind,
            "axis": self._axis,
            "amplitude": self.amplitude,
            "frequency": self._frequency,
            "duration": self._duration,
            "loop": self._loop,
        }
        for control in (self.amplitude, self._frequency, self._duration):
            control.precision = 6
        self._propose()
        requests.on(self._kind.on_update, lambda _: self._choose())
        requests.on(self._axis.on_update, lambda _: self._propose())
        requests.on(self._start.on_click, self._play, lambda _: self.described())
        requests.on(self._stop.on_click, lambda _: session.stop_motion())
        requests.on(upload.on_upload, self._add, self._read)

    def refresh(self) -> None:
        """Follow the machine, and whether it runs a motion; called on the run's thread."""
        if self._session.platform is not self._platform:
            self._exchange()
        if self._stop.disabled == self._session.playing:
            self._stop.disabled = not self._session.playing

    @property
    def chosen(self) -> dict[str, str | float | bool]:
        """The described motion, as controls of a `SetUp`; empty for one from a file."""
        if self._kind.value in self._files:
            return {}
        values = {name: control.value for name, control in self._controls.items()}
        return values | {"playing": self._session.playing}

    def restore(self, controls: Mapping[str, Any]) -> None:
        """Show the motion of a `SetUp`; called on the run's thread.

        Raises:
            InputError: names or numbers that the machine cannot use; the controls stay.
        """
        self.refresh()
        if "motion" in controls:
            one_of(controls["motion"], "motion", BUILTIN_MOTIONS)
        if "axis" in controls:
            one_of(controls["axis"], "axis", self._axes()[0])
        values_before = {name: control.value for name, control in self._controls.items()}
        try:
            self._show({**values_before, "loop": False, **controls})
            self.described()
        except InputError:
            self._show(values_before)
            raise

    def _show(self, values: Mapping[str, Any]) -> None:
        for name, control in self._controls.items():
            control.value = values[name]
            if name == "axis":
                self._propose()
        self._choose()

    def play(self) -> None:
        """Play the described motion; called on the run's thread."""
        self._play(self.described())

    def _axes(self) -> tuple[list[str], str]:
        """Return the machine's axes, and the one to begin with."""
        axes = [axis.name for axis in self._session.axes]
        return axes, "z" if "z" in axes else axes[0]

    def _exchange(self) -> None:
        """Switch the controls to another machine, whose motions are its own."""
        self._platform = self._session.platform
        self._files = {}
        self._kind.options, self._axis.options = BUILTIN_MOTIONS, self._axes()[0]
        self._propose()
        self._choose()

    def _choose(self) -> None:
        """Enable the controls that the chosen motion needs."""
        name = self._kind.value
        is_made_by_name = name not in self._files
        self._axis.disabled = self.amplitude.disabled = not is_made_by_name or name == FITTED_MOTION
        self._frequency.disabled = name not in PERIODIC_MOTIONS
        self._duration.disabled = not is_made_by_name
        if not is_made_by_name:
            self._duration.value = self._files[name].duration

    def _propose(self) -> None:
        """Propose an amplitude that suits the machine and the axis."""
        axis, platform = self._axis.value, self._session.platform
        size = sine_amplitude(platform, axis) / _unit(axis)
        digit = 10.0 ** np.floor(np.log10(size) - 1.0)
        self.amplitude.label = f"Amplitude [{'mm' if axis in 'xyz' else 'deg'}]"
        self.amplitude.step = float(digit)
        self.amplitude.value = round(float(np.floor(size / digit) * digit), 9)

    @property
    def description(self) -> tuple[Any, ...]:
        """Values of the controls, which change with the motion."""
        return tuple(control.value for name, control in self._controls.items() if name != "loop")

    def described(self) -> Motion:
        """Return the described motion.

        Raises:
            InputError: numbers that cannot be used, or an unknown kind of motion.
        """
        name = self._kind.value
        if name in self._files:
            return self._files[name]
        # `MotionSpecification` takes other names as files: no page reads the server's files.
        one_of(name, "kind", BUILTIN_MOTIONS)
        axis = self._axis.value
        amplitude = None if name == FITTED_MOTION else self.amplitude.value * _unit(axis)
        specification = MotionSpecification(
            name, axis, amplitude, self._frequency.value, self._duration.value
        )
        motion = specification.motion_of(self._session.platform)
        assert motion is not None
        return motion

    def _play(self, motion: Motion) -> None:
        self._session.play(motion, loop=self._loop.value)

    def _read(self, event: Any) -> tuple[Any, str, Motion]:
        """Return the client that uploaded a motion, the motion's name and the motion.

        Raises:
            InputError: names the fault in the file, and its place.
        """
        name, content = Path(event.target.value.name).name, event.target.value.content
        if name in BUILTIN_MOTIONS:
            raise InputError(name, "is the name of a built-in motion; rename the file")
        if len(content) > 1e6 * self._upload_limit:
            raise InputError(
                name,
                f"has {len(content) / 1e6:.3g} MB, more than {self._upload_limit:g} MB; cut or "
                "decimate it, or raise --upload-limit of twin view",
            )
        platform = self._session.platform
        with TemporaryDirectory() as folder:
            file = Path(folder) / "motion.csv"
            file.write_bytes(content)
            try:
                convention = convention_of(platform)
                motion = read_recording(file, platform.home, convention=convention)
            except InputError as error:
                field = name if error.field == str(file) else error.field
                raise InputError(field, error.message) from None
        return event.client, name, motion

    def _add(self, client_name_and_motion: tuple[Any, str, Motion]) -> None:
        client, name, motion = client_name_and_motion
        self._files[name] = motion
        self._kind.options = (*BUILTIN_MOTIONS, *self._files)
        self._kind.value = name
        self._choose()
        notify(client, name, f"{motion.duration:.4g} s; Start motion plays it.", "green")


def _unit(axis: str) -> float:
    """Return the factor from the displayed unit (mm or deg) to SI."""
    return 1e-3 if axis in ("x", "y", "z") else float(np.pi / 180.0)
