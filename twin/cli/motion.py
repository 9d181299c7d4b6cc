"""Motions that options of a command describe, and what a user may not expect of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from twin.cli.values import NUMBERED_AXES, in_unit
from twin.errors import InputError

if TYPE_CHECKING:
    from typer import Context

    from twin.model.machine_model import MachineModel
    from twin.motion import Motion
    from twin.motion.specification import MotionSpecification


def refuse_motion_options(context: Context) -> None:
    """Refuse options that shape a motion where a command was given no motion.

    Raises:
        InputError: one of them stands on the command line.
    """
    for name in ("axis", "amplitude", "frequency", "duration", "fade"):
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise InputError(name, "shapes a motion; name one with --motion")


def given_motion(
    platform: MachineModel,
    specification: MotionSpecification,
    columns: Sequence[str] | None = None,
    absolute: bool = False,
) -> tuple[Motion | None, float]:
    """Return the requested motion, by name or from a file, and how long [s] it is followed.

    Args:
        platform: the machine.
        specification: the options that describe the motion; its name may be the path of a file.
        columns: options such as "z=Heave [mm]" for a table.
        absolute: whether a table's axes are in the base frame.

    Raises:
        InputError: unknown name or axis, numbers out of range, an amplitude in m along an angle or
            the like, or a file that cannot be read.
    """
    from twin.logs.motion import read_motion
    from twin.motion.specification import MOTION_NAMES

    name, axis = specification.name, specification.axis
    is_length = axis in NUMBERED_AXES and name != "tank"
    described = "the pitch of a tank course" if name == "tank" else axis
    in_unit(specification.amplitude, "amplitude", "m" if is_length else "rad", described)
    if name in MOTION_NAMES or not Path(name).suffix:
        if columns or absolute:
            raise InputError("column, absolute", "are for a motion from a file")
        motion = specification.motion_of(platform)
    else:
        pairs = [text.partition("=") for text in columns or ()]
        if any(not title for _, _, title in pairs):
            raise InputError("column", "must be AXIS=TITLE, such as 'z=Heave [mm]'")
        titles = {axis.strip(): title.strip() for axis, _, title in pairs}
        motion = read_motion(name, platform, columns=titles, absolute=absolute)
    return motion, specification.seconds(motion)


def motion_notes(motion: Motion | None, seconds: float) -> Iterator[str]:
    """Yield notes on what a user may not expect of a motion that is followed for `seconds` [s]."""
    from twin.motion import ChirpMotion, RecordedMotion, SineMotion

    if motion is None:
        return
    if isinstance(motion, RecordedMotion):
        is_about_home = motion.center[:3].any()
        yield (
            "axes of a table are taken about home (--absolute: in the base frame)"
            if is_about_home
            else "axes are taken in the base frame"
        )
    if seconds < motion.duration * (1.0 - 1e-9):
        yield f"the first {seconds:.4g} s of a motion of {motion.duration:.4g} s (--duration)"
    if motion.fade.fade_in > 0.0 and isinstance(motion, (SineMotion, ChirpMotion)):
        yield (
            f"the motion rises over {motion.fade.fade_in:.4g} s and falls over "
            f"{motion.fade.fade_out:.4g} s; --fade changes that, and 0 leaves it out"
        )
