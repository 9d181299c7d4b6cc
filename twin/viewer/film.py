"""Films and pictures of recorded runs: drawn without a display, written as MP4, GIF or PNG."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_flag, as_instance, positive
from twin.basics.progress import Progress
from twin.errors import InputError, MissingDependencyError, brief
from twin.model.machine_model import MachineModel, as_model
from twin.simulation.simulate import RecordedScenes, Trajectory
from twin.viewer.camera import (
    Camera,
    Image,
    Quality,
    View,
    check_film,
    check_picture,
    picture_rate,
    png_bytes,
    write_images,
    write_png,
)

MAX_PICTURES = 100_000
"""Maximum number of pictures of a film: almost an hour."""

FRAMING_SAMPLES = 8
"""Number of instants of a film that are examined beforehand for framing."""


class Look(NamedTuple):
    """Size, view, quality and colours of pictures."""

    width: int = 640
    """[pixels]"""
    height: int = 480
    """[pixels]"""
    view: str | View | tuple[float, float] = "overview"
    """a name of `twin.viewer.camera.VIEWS`, or azimuth and elevation [deg]"""
    quality: Quality = "fast"
    """"fast", or "fine" with smooth edges"""
    ghost: bool = False
    """whether the setpoint pose of a closed loop is drawn too, translucent green"""
    dark: bool = False
    """whether ground and sky are dark"""


DEFAULT_LOOK = Look()


def write_film(
    trajectory: Trajectory,
    platform: MachineModel,
    path: str | Path,
    *,
    look: Look = DEFAULT_LOOK,
    payload: Any = None,
    rate: Any = None,
    speed: Any = 1.0,
    start: Any = None,
    progress: bool | None = None,
) -> Path:
    """Draw a run as a film and return its path.

    Args:
        trajectory: the run.
        platform: its machine.
        path: ends in .mp4 (H.264, even numbers of pixels) or .gif (repeats for ever).
        look: size, view, quality, ghost and colours.
        payload: what the platform carries, as the engine was given it.
        rate: pictures per second; default 30 for MP4 and 15 for GIF.
        speed: of the machine in the film: 0.1 is slow motion, ten times slower than it was.
        start: [s] of the run at which the film begins; default with the run.
        progress: show a progress bar; default: on a terminal when it takes longer than 2 s.

    Raises:
        InputError: wrong types, numbers out of range, the run of another machine, an ending that
            is not known, a place that cannot be written to.
        MissingDependencyError: a library of the extra `render`, or OpenGL.
        StateError: the video encoder failed.
    """
    as_instance(look, "look", Look)
    target = check_film(path, look.width, look.height)
    scenes = _scenes(trajectory, platform)
    frequency = picture_rate(rate, target)
    start_time = scenes.start if start is None else _instant(start, "start", scenes)
    times = _times(start_time, scenes.end, frequency, positive(speed, "speed"))
    title = f"{platform.name}: {target.name}"
    with (
        run_camera(platform, scenes, look, payload) as camera,
        Progress(title, len(times), progress, every=1) as progress_bar,
    ):
        images = _images(camera, scenes, times, look.ghost, progress_bar)
        return write_images(target, images, (camera.width, camera.height), frequency)


def write_picture(
    trajectory: Trajectory,
    platform: MachineModel,
    path: str | Path,
    *,
    look: Look = DEFAULT_LOOK,
    payload: Any = None,
    time: Any = None,
) -> Path:
    """Draw one instant of a run as a PNG and return its path.

    Args:
        trajectory: the run.
        platform: its machine.
        path: ends in .png.
        look: size, view, quality, ghost and colours.
        payload: what the platform carries, as the engine was given it.
        time: [s] of the instant; default when the platform is farthest from its start.

    Raises:
        InputError: as `write_film`.
        MissingDependencyError: Pillow or OpenGL.
    """
    as_instance(look, "look", Look)
    target = check_picture(path)
    scenes = _scenes(trajectory, platform)
    instant = scenes.farthest_time() if time is None else _instant(time, "time", scenes)
    with run_camera(platform, scenes, look, payload) as camera:
        return write_png(target, image_at(camera, scenes, instant, look.ghost))


def home_png(platform: MachineModel) -> bytes:
    """Return a PNG of a machine at home; empty where nothing draws on this computer."""
    try:
        with Camera(platform, width=360, height=300) as camera:
            return png_bytes(camera.image(platform.home))
    except MissingDependencyError:
        return b""


def _scenes(trajectory: Trajectory, platform: MachineModel) -> RecordedScenes:
    """Return the scenes of a run, which must be of this machine."""
    scenes = RecordedScenes(trajectory)
    name = as_model(platform).name
    if trajectory.machine != name:
        raise InputError("trajectory", f"is of {trajectory.machine}, not of {name}")
    return scenes


def run_camera(
    platform: MachineModel, scenes: RecordedScenes, look: Look, payload: Any = None
) -> Camera:
    """Return a camera that sees the machine whole during all of a run."""
    options = look._asdict() | {"ghost": as_flag(look.ghost, "ghost")}
    camera = Camera(platform, payload=payload, **options)
    camera.step_back(
        scenes.at(time) for time in np.linspace(scenes.start, scenes.end, FRAMING_SAMPLES)
    )
    return camera


def image_at(camera: Camera, scenes: RecordedScenes, time: float, ghost: bool) -> Image:
    """Return a picture `(height, width, 3)` of an instant [s] of a run."""
    scene = scenes.at(time)
    return camera.image(scene.pose, scene.deflection, ghost=scene.ghost if ghost else None)


def _images(
    camera: Camera, scenes: RecordedScenes, times: FloatArray, ghost: bool, bar: Progress
) -> Iterator[Image]:
    for image_index, time in enumerate(times):
        yield image_at(camera, scenes, time, ghost)
        bar.tick(image_index)


def _instant(value: Any, field: str, scenes: RecordedScenes) -> float:
    """Return an instant [s] of a run."""
    try:
        time = float(value)
    except (TypeError, ValueError):
        raise InputError(field, f"must be a number, got {brief(value)}") from None
    if not scenes.start - 1e-9 <= time <= scenes.end + 1e-9:
        raise InputError(field, f"must be from {scenes.start:g} to {scenes.end:g} s, in the run")
    return time


def _times(start: float, end: float, rate: float, speed: float) -> FloatArray:
    """Return the instants [s] of a film's pictures; each stays until the next."""
    pictures = (end - start) * rate / speed + 1e-6
    if pictures > MAX_PICTURES:
        message = f"makes {pictures:.6g} pictures; at most {MAX_PICTURES} are drawn"
        raise InputError("speed", message)
    count = max(1, int(pictures))
    return np.asarray(start + np.arange(count) * speed / rate, dtype=float)
