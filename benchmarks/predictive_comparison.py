"""Compare predictive controllers on stewart with its drives, along three motions.

    nice python benchmarks/predictive_comparison.py

Prints the tables of docs/model_based_control.md and writes the curves of its picture, which
`docs/images/predictive_control.py` draws, to `benchmarks/results/predictive_comparison.json`.

Three motions: one that the legs can follow, one that they cannot, and a ball on the plate whose
target jumps. Of the ball, a linear law chooses the plate's tilt 100 times a second; its own model
of ball and plate says how the tilt will go on, which is the reference of all controllers.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import expm

import twin
from twin.analysis.platform import Platform
from twin.analysis.tracking import TrackingErrors
from twin.basics.arrays import FloatArray
from twin.basics.files import write_text
from twin.cli.console import table
from twin.control import make_controller
from twin.control.controller import Controller, Reference, Supervisor, reference_of
from twin.control.loop import ClosedLoop
from twin.model.ball import ball_for, on_plate
from twin.motion import SineMotion
from twin.rotations import displaced

RESULTS = Path(__file__).parent / "results" / "predictive_comparison.json"

NAMES = ("cascade", "computed_torque", "ilqr")
STEP, PERIOD = 5e-4, 1e-3

LASTING = 10.0
"""[s] Of saturation without a stop, so that all controllers reach the end."""

LAW, PLATE = 3.0, 20.0
"""[rad/s] of the law that moves the ball, and of the tilt that follows it."""

AHEAD, EVERY = 0.6, 10
"""[s] of tilt that a reference gives, and control periods between two."""

TARGETS = ((0.05, 0.0), (-0.05, 0.03), (0.04, -0.04))
HOLD = 1.5
"""[s] at each target [m]."""

POINTS = 450
"""Of a curve as it is kept, about."""


class Result(NamedTuple):
    """A run and the numbers of the table."""

    time: FloatArray
    shown: FloatArray
    """`(k,)` numbers of the picture"""
    numbers: list[str]
    """of the table"""


def patient(controller: Controller) -> Controller:
    """Return a controller whose supervisor lets drives stay at their limits."""
    supervisor = Supervisor(
        controller.platform, controller.reference, controller.period, saturation=LASTING
    )
    controller.supervisor = lambda: supervisor  # type: ignore[method-assign]
    return controller


def share_limited(limited: FloatArray) -> str:
    """Return the share of time [%] in which a drive is at a limit."""
    return f"{100.0 * float(limited.any(axis=1).mean()):.0f}"


def followed(platform: Platform, name: str, speed: float) -> Result:
    """Return the result of a heave and pitch at a frequency [Hz]."""
    motion = SineMotion(
        platform.home,
        amplitude={"z": 0.05, "pitch": 0.05},
        frequency=speed,
        duration=3.0,
        fade_in=0.8,
        fade_out=0.8,
    )
    controller = patient(make_controller(name, platform, motion))
    run = platform.simulate(
        3.0, controller=controller, timestep=STEP, fidelity="fast", progress=False
    )
    position, rotation, _ = TrackingErrors(run).root_mean_square()
    numbers = [f"{1e3 * position:.2g}", f"{1e3 * rotation:.2g}"]
    numbers.append(share_limited(run.signals["limited"]) if not run.stopped else "stopped")
    time, height = run.signals["time"], np.interp(run.signals["time"], run.time, run.pose[:, 2])
    return Result(time, 1e3 * (height - run.signals["reference_pose"][:, 2]), numbers)


def law(pull: float) -> FloatArray:
    """Return the matrix (5, 5) of ball and plate along one axis, and the target's place.

    The state is (place, speed, slope, its rate, target). A slope s accelerates the ball by pull s,
    and follows s' = (LAW^2 (target - place) - 2 LAW speed) / pull with the bandwidth `PLATE`.
    """
    command = np.array([-(LAW**2), -2.0 * LAW, 0.0, 0.0, LAW**2]) / pull
    system = np.zeros((5, 5))
    system[0, 1], system[1, 2], system[2, 3] = 1.0, pull, 1.0
    system[3] = PLATE**2 * command
    system[3, 2:4] -= PLATE**2, 2.0 * PLATE
    return system


def tilts(platform: Platform, course: FloatArray, system: FloatArray, begin: int) -> Reference:
    """Return the reference of the tilts that states `(k, 5, 2)` of ball and plate have."""
    slope, rate, bend = course[:, 2], course[:, 3], (system @ course)[:, 3]
    # A slope along x is a pitch, one along y a roll the other way round.
    turn, spin, more = (
        np.stack([-part[:, 1], part[:, 0], np.zeros(len(part))], axis=1)
        for part in (slope, rate, bend)
    )
    spin, still = spin + 0.5 * np.cross(turn, spin), np.zeros((len(course), 3))
    pose = displaced(np.tile(platform.home, (len(course), 1)), np.hstack([still, turn]))
    motion = pose, np.hstack([still, spin]), np.hstack([still, more])
    time = PERIOD * np.arange(len(course))
    return reference_of(platform, PERIOD, time, *motion, begin=begin)


def balanced(platform: Platform, name: str) -> Result:
    """Return the result of a ball whose target jumps."""
    ball = ball_for(platform.parameters)
    system = law(platform.parameters.gravity / (1.0 + ball.inertia_factor))
    step, count = expm(PERIOD * system), round(AHEAD / PERIOD)
    powers = np.array([np.linalg.matrix_power(step, k) for k in range(count)])
    now = np.zeros((5, 2))
    first = tilts(platform, powers @ now, system, 0)
    controller = patient(make_controller(name, platform, first))
    loop, away, limited = ClosedLoop(platform, controller), [], []
    engine: Any = twin.make_engine("analytic", platform, timestep=STEP, fidelity="fast", ball=ball)
    state = engine.reset(ball=[0.0, 0.0, 0.0, 0.0])
    loop.start(STEP, state)
    ratio, steps = round(PERIOD / STEP), round(HOLD * len(TARGETS) / STEP)
    for index in range(steps):
        if index % (ratio * EVERY) == 0:
            seen = on_plate(state.pose, state.twist, engine.ball)
            now = powers[EVERY] @ now if index else now
            now[0], now[1] = seen[:2], seen[3:5]
            now[4] = TARGETS[int(index * STEP / HOLD)]
            away.append(float(np.linalg.norm(now[0] - now[4])))
            loop.redirect(tilts(platform, powers @ now, system, index // ratio))
        state = engine.step(loop.step(index, state))
        limited.append(loop.plant.limited.any())
        if loop.stopped:
            break
    engine.close()
    distance = np.array(away)
    late = [part[len(part) // 2 :] for part in np.array_split(distance, len(TARGETS))]
    numbers = [f"{1e3 * distance.mean():.3g}", f"{1e3 * np.concatenate(late).mean():.2g}"]
    numbers.append("stopped" if loop.stopped else share_limited(np.array(limited)[:, None]))
    return Result(PERIOD * EVERY * np.arange(len(distance)), 1e3 * distance, numbers)


def main() -> None:
    """Print the tables and write the curves."""
    platform = twin.load("stewart", "hardware")
    scenes: tuple[tuple[str, str, Callable[[str], Result]], ...] = (
        ("0.5 Hz", "error of height [mm]", lambda name: followed(platform, name, 0.5)),
        ("1.2 Hz", "error of height [mm]", lambda name: followed(platform, name, 1.2)),
        ("ball", "ball from target [mm]", lambda name: balanced(platform, name)),
    )
    followed_rows, ball_rows = [], []
    curves: list[dict[str, Any]] = []
    for title, label, scene in scenes:
        curves.append({"title": title, "label": label, "curves": {}})
        for name in NAMES:
            found = scene(name)
            rows = ball_rows if title == "ball" else followed_rows
            rows.append([title, name, *found.numbers])
            thin = max(1, len(found.time) // POINTS)
            time, shown = np.round(found.time[::thin], 3), np.round(found.shown[::thin], 4)
            curves[-1]["curves"][name] = [time.tolist(), shown.tolist()]
    first = ("motion", "controller")
    for rows, titles in (
        (followed_rows, ("position [mm]", "rotation [mrad]", "at a limit [%]")),
        (ball_rows, ("distance [mm]", "in second halves [mm]", "at a limit [%]")),
    ):
        table((*first, *titles), rows, platform.name)
    write_text(RESULTS, json.dumps(curves) + "\n")
    print(RESULTS)


if __name__ == "__main__":
    main()
