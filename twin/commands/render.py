"""Draw a machine that follows a motion, or a saved run, as a film or a picture."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from twin.commands.console import line
from twin.commands.engine_step import dividing_step
from twin.commands.options import told_as
from twin.control import make_controller
from twin.errors import InputError
from twin.machine.payload import Occupant
from twin.motion.specification import MotionSpecification
from twin.plant.plant import Plant
from twin.simulation.live.recorded_machine import machine_of
from twin.simulation.platform import Platform, load
from twin.simulation.trajectory import Trajectory
from twin.viewer.camera import Quality
from twin.viewer.clip import PICTURE, RATES, check_film, check_picture
from twin.viewer.film import Look, write_film, write_picture
from twin.viewer.view import View, as_view


class Run(NamedTuple):
    """What the machine does."""

    specification: MotionSpecification | None
    """the motion; None for a saved run"""
    controller: str
    engine: str
    fidelity: str
    trajectory: Path | None
    """a saved run, in place of a motion"""


class Film(NamedTuple):
    """How it is shown."""

    size: str
    """such as 640x480"""
    view: str
    """a name, or azimuth and elevation [deg] with a comma"""
    quality: Quality
    ghost: bool
    rate: float | None
    """[1/s]"""
    speed: float
    start: float | None
    """[s]"""
    time: float | None
    """[s]"""


def render(machine: str, configuration: str | None, run: Run, film: Film, out: Path) -> None:
    """Simulate the closed loop or load a run, and draw it.

    Raises:
        InputError: an argument that cannot be used.
        MissingDependencyError: a library of the extra `render`, or OpenGL.
    """
    look, picture = _look(film), out.suffix == PICTURE
    if out.suffix not in (*RATES, PICTURE):
        raise InputError("out", f"must end in {', '.join(RATES)} or {PICTURE}, got {str(out)!r}")
    with told_as(path="out"):
        if picture:
            check_picture(out)
        else:
            check_film(out, look.width, look.height)
    if not picture and film.time is not None:
        raise InputError("time", f"is for pictures, files that end in {PICTURE}")
    if picture and (film.start is not None or film.rate is not None):
        raise InputError("start, rate", "are for films; a picture takes --time")
    platform, payload, shown = _shown(machine, configuration, run)
    if picture:
        written = write_picture(shown, platform, out, look=look, payload=payload, time=film.time)
    else:
        written = write_film(
            shown,
            platform,
            out,
            look=look,
            payload=payload,
            rate=film.rate,
            speed=film.speed,
            start=film.start,
        )
    if shown.stopped:
        line(f"stopped: {shown.stopped}", bold=True)
    line(f"wrote {written} ({written.stat().st_size / 1e3:.0f} kB)")


def _shown(
    machine: str, configuration: str | None, run: Run
) -> tuple[Platform, Occupant | None, Trajectory]:
    """Return the machine, who rides on it, and the run that is drawn."""
    if run.trajectory is not None:
        if run.specification is not None:
            raise InputError("trajectory", "is drawn as it is: leave out --motion")
        with told_as(path="trajectory"):
            saved = Trajectory.load(run.trajectory)
        if configuration is not None:
            return load(machine, configuration), None, saved
        recorded = machine_of(saved, machine)
        return recorded.platform, recorded.payload, saved
    platform, specification = load(machine, configuration), run.specification
    if specification is None:
        raise InputError("motion", "give one, or a saved run")
    law = make_controller(run.controller, platform, specification.motion_of(platform))
    step = dividing_step(platform, law)
    made = platform.simulate(
        max(1, round(specification.duration / law.period)) * law.period,
        controller=law,
        plant=Plant(platform),
        engine=run.engine,
        timestep=step,
        fidelity=run.fidelity,
        every=round(law.period / step),
    )
    return platform, None, made


def _look(film: Film) -> Look:
    """Return how to draw, from texts."""
    parts = film.size.lower().split("x")
    if len(parts) != 2 or not all(part.isascii() and part.isdigit() for part in parts):
        raise InputError("size", f"must be pixels such as 640x480, got {film.size!r}")
    width, height = map(int, parts)
    return Look(width, height, _view(film.view), film.quality, film.ghost)


def _view(text: str) -> View:
    """Return the view that a name, or two angles [deg] with a comma, mean."""
    if "," not in text:
        return as_view(text)
    try:
        return as_view([float(part) for part in text.split(",")])
    except ValueError:
        raise InputError("view", f"must be two angles such as 140,-24, got {text!r}") from None
