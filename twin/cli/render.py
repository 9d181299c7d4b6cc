"""The command `render`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from twin.cli import options
from twin.cli.application import app
from twin.cli.console import line
from twin.cli.motion import given_motion
from twin.cli.options import file_option, option
from twin.cli.values import quantity_option, renamed_fields
from twin.errors import InputError

if TYPE_CHECKING:
    from twin.machine.payload import Occupant
    from twin.model.machine_model import MachineModel
    from twin.simulation.simulate import Trajectory
    from twin.viewer.camera import View
    from twin.viewer.film import Look

QualityName = Literal["fast", "fine"]

FIELD_OPTIONS = {
    "trajectory": "replay",
    "time": "instant",
    "rate": "frame_rate",
    "speed": "playback",
    "size": "pixels",
    "width": "pixels",
    "height": "pixels",
}
"""Fields of errors of pictures and films, and the options from which they come."""


Replay = Annotated[
    Path | None, file_option("Draw this saved run (.npz, .csv) in place of a motion.")
]
Pixels = Annotated[str, option("Size of a picture in pixels.", metavar="WIDTHxHEIGHT")]
Direction = Annotated[
    str,
    option("overview, front, side, top, or azimuth,elevation in degrees."),
]
Quality = Annotated[QualityName, option("Fast, or fine with smooth edges.")]
Ghost = Annotated[bool, option("Draw the reference pose too, in green.", "--ghost/--no-ghost")]
Dark = Annotated[bool, option("Draw ground and sky dark.", "--dark/--light")]
FrameRate = Annotated[
    float | None,
    quantity_option("Pictures per second in Hz; default: 30 for mp4, 15 for gif.", "Hz"),
]
Playback = Annotated[float, option("Speed of the film; 0.1 is ten times slower than the machine.")]
Start = Annotated[
    float | None,
    quantity_option("Instant of the run in s at which the film begins.", "s"),
]
Instant = Annotated[
    float | None,
    quantity_option(
        "Instant of the run in s of the picture; default: farthest from the start.", "s"
    ),
]


@app.command()
def render(
    machine: options.Machine,
    *,
    out: Annotated[Path, file_option("Film as .mp4 or .gif, or a single picture as .png.")],
    motion: options.OptionalMotion = None,
    axis: options.Axis = "z",
    amplitude: options.Amplitude = None,
    frequency: options.Frequency = 1.0,
    duration: options.Duration = None,
    fade: options.Fade = None,
    controller: options.Controller = "cascade",
    engine: options.Engine = "analytic",
    fidelity: options.Fidelity = "accurate",
    configuration: options.Configuration = None,
    replay: Replay = None,
    pixels: Pixels = "640x480",
    view: Direction = "overview",
    quality: Quality = "fast",
    ghost: Ghost = False,
    dark: Dark = False,
    frame_rate: FrameRate = None,
    playback: Playback = 1.0,
    start: Start = None,
    instant: Instant = None,
) -> None:
    """Draw a machine that follows a motion, as a film or a picture; no display is needed.

    \f
    Raises:
        InputError: options that cannot be used together, or an invalid value.
    """
    from twin.analysis.platform import load
    from twin.cli.closed_loop import closed_loop
    from twin.control import make_controller
    from twin.motion.specification import MotionSpecification
    from twin.viewer.film import Look, write_film, write_picture

    look = Look(*_pixels(pixels), _view(view), quality, ghost, dark)
    is_picture = _check_output(out, look, instant, start, frame_rate)
    if replay is not None and motion is not None:
        raise InputError("replay", "holds its own motion: leave out --motion")
    payload = None
    if replay is None:
        platform: MachineModel = load(machine, configuration)
        specification = MotionSpecification(
            motion or "sine", axis, amplitude, frequency, duration, fade
        )
        reference, seconds = given_motion(platform, specification)
        simulate = partial(closed_loop, engine=engine, fidelity=fidelity, every_period=True)
        run = simulate(platform, make_controller(controller, platform, reference), seconds)
    else:
        platform, payload, run = _saved_run(replay, machine, configuration)
    drawn: dict[str, Any] = {"look": look, "payload": payload}
    with renamed_fields(**FIELD_OPTIONS):
        if is_picture:
            file = write_picture(run, platform, out, time=instant, **drawn)
        else:
            drawn |= {"rate": frame_rate, "speed": playback, "start": start}
            file = write_film(run, platform, out, **drawn)
    if run.stopped:
        line(f"stopped: {run.stopped}", bold=True)
    line(f"wrote {file} ({file.stat().st_size / 1e3:.0f} kB)")


def _saved_run(
    file: Path, machine: str, configuration: str | None
) -> tuple[MachineModel, Occupant | None, Trajectory]:
    """Return the machine of a saved run, the person on it, and the run."""
    from twin.analysis.platform import load
    from twin.simulation.recorded.files import machine_of
    from twin.simulation.simulate import Trajectory

    with renamed_fields(path="replay", trajectory="replay"):
        trajectory = Trajectory.load(file)
        if configuration is not None:
            return load(machine, configuration), None, trajectory
        recorded_machine = machine_of(trajectory, machine)
    return recorded_machine.platform, recorded_machine.payload, trajectory


def _check_output(
    out: Path, look: Look, instant: float | None, start: float | None, frame_rate: float | None
) -> bool:
    """Check the file of a film or a picture and its options; return whether it is a picture."""
    from twin.viewer.camera import DEFAULT_RATES, PICTURE_SUFFIX, check_film, check_picture

    if out.suffix not in (*DEFAULT_RATES, PICTURE_SUFFIX):
        raise InputError(
            "out", f"must end in {', '.join(DEFAULT_RATES)} or {PICTURE_SUFFIX}, got {str(out)!r}"
        )
    with renamed_fields(path="out", **FIELD_OPTIONS):
        if out.suffix == PICTURE_SUFFIX:
            check_picture(out)
        else:
            check_film(out, look.width, look.height)
    is_picture = out.suffix == PICTURE_SUFFIX
    if not is_picture and instant is not None:
        raise InputError("instant", f"is for pictures, files that end in {PICTURE_SUFFIX}")
    if is_picture and (start is not None or frame_rate is not None):
        raise InputError("start, frame_rate", "are for films; a picture takes --instant")
    return is_picture


def _pixels(text: str) -> tuple[int, int]:
    """Return width and height [pixels] of a text such as 640x480."""
    sizes = text.lower().split("x")
    if len(sizes) != 2 or not all(part.isascii() and part.isdigit() for part in sizes):
        raise InputError("pixels", f"must be pixels such as 640x480, got {text!r}")
    return int(sizes[0]), int(sizes[1])


def _view(text: str) -> View:
    """Return the view of a name, or of two angles [deg] with a comma."""
    from twin.viewer.camera import as_view

    if "," not in text:
        return as_view(text)
    try:
        return as_view([float(part) for part in text.split(",")])
    except ValueError:
        raise InputError("view", f"must be two angles such as 140,-24, got {text!r}") from None
