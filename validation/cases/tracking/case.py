"""Tank motion under control.

Part of the tank-track motion runs at its full size, faded in from rest, with controllers at 1 kHz
in MuJoCo at 0.5 ms. The controllers are the thesis' cascade, the cascade with a Kalman observer in
torque mode, feedforward by inverse dynamics, and computed torque. They run on the ideal plant and
on the hardware one, with armature inertia, delay, friction, backlash and encoders. One table has
the root mean squares of the platform's and the actuators' errors. Then the case shows the gain from
the observer's estimates with and without friction and backlash. Last, each controller runs a short
course of the ideal plant in all three engines.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from twin.analysis.platform import Platform, load
from twin.control.cascade import Cascade
from twin.control.computed_torque import ComputedTorque
from twin.control.controller import Controller
from twin.control.feedforward import InverseDynamicsFeedforward
from twin.control.observer.cascade import ObserverCascade
from twin.control.observer.design import lumped_mass
from twin.control.reference import Reference, sample_reference
from twin.engines import make_engine
from twin.machine.machine import MachineParameters
from twin.validation.case import Case
from twin.validation.cases.tank_motion import tank_motion
from twin.validation.cases.tracking.observer_evidence import (
    FROM_THE_START,
    evidence_measures,
    evidence_statements,
    evidence_table,
    linear_encoders,
    observer_evidence,
)
from twin.validation.cases.tracking.tracked import (
    Excerpt,
    Tracked,
    apart,
    part,
    tracked,
    tracking_plots,
)
from twin.validation.measures.comparison import BARS, FULL_MOTION
from twin.validation.published.papers import THESIS
from twin.validation.results import CaseResult, Entry, Measure, Quantity, Statement, Table

CASE = Case(
    "tracking",
    __doc__,
    machines=("stewart",),
    because="the thesis controls its own machine, stewart; other machines' controllers are tested",
    cost=5.0,
)

CONTROL_PERIOD = 1e-3
"""[s] Control period."""

ENGINE_STEP = 0.5e-3
"""[s] Time step of the engines."""

EXCERPT_BEGIN = 2.0
"""[s] Time in the tank motion, which has its full size from then on, at which the run begins."""

FADE_TIME = 0.4
"""[s] Fade-in of the motion."""

RUN_TIME = 1.2
"""[s] Duration of the run."""

LOOK_AHEAD_TIME = 0.02
"""[s] Reference beyond the end of the run, for controllers that look ahead."""

ENGINE_PERIODS = (500, 560)
"""First and last control period of the part that is run in all engines."""

ENGINE_DIFFERENCE = max(bar.tolerance for bar in BARS) / FULL_MOTION
"""Largest difference of engines per motion: their largest error in an open loop, 1e-6 m, per 1 cm
of motion; a stable control loop does not increase it."""

PAYLOAD_SHARE = 0.9
"""Payload of the wrong model, per true payload."""

FRICTION_SHARE = 0.7
"""Friction of the wrong model, per true friction."""

CONTROLLERS: dict[str, type[Controller]] = {
    "thesis cascade": Cascade,
    "PI + Kalman": ObserverCascade,
    "feedforward": InverseDynamicsFeedforward,
    "computed torque": ComputedTorque,
}

WRONG_MODELS = ("feedforward", "computed torque")
"""Controllers that are also given a model that is wrong."""

ERROR_UNITS = (("position", "mm"), ("rotation", "mrad"), ("actuator", "mm"))
"""Of the three root mean squares, after multiplication by a thousand."""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    machines = {"ideal": platform, "hardware": load(platform.name, "hardware")}
    motion = Excerpt(tank_motion(platform), EXCERPT_BEGIN, RUN_TIME + LOOK_AHEAD_TIME, FADE_TIME)
    references = {
        plant: sample_reference(machine, motion, CONTROL_PERIOD)
        for plant, machine in machines.items()
    }
    runs: dict[tuple[str, str], Tracked] = {}
    for plant, machine in machines.items():
        engine = make_engine("mujoco", machine, ENGINE_STEP, "accurate")
        for name in CONTROLLERS:
            controller = _controller(name, machine, references[plant])
            runs[plant, name] = tracked(machine, controller, engine, RUN_TIME)
        engine.close()
    wrong = _wrong_models(machines["hardware"], references["hardware"])
    found, size = observer_evidence(machines, motion, RUN_TIME, CONTROL_PERIOD, ENGINE_STEP)
    linear = linear_encoders(machines["hardware"], motion, RUN_TIME, CONTROL_PERIOD, ENGINE_STEP)
    measures = [
        *_better(runs, wrong),
        *evidence_measures(found, size),
        *_engines(platform, part(platform, references["ideal"], *ENGINE_PERIODS)),
    ]
    return CASE.result(
        platform,
        measures,
        tracking_plots(runs, ERROR_UNITS, tuple(CONTROLLERS)),
        (*evidence_statements(found, linear), _mass_statement(platform)),
        (_table(runs, wrong, size), evidence_table(found)),
    )


def wrong_model(machine: Platform) -> Platform:
    """Return a model of the machine with a payload and frictions that are too small."""
    content = machine.parameters.model_dump()
    body = content["platform"]["body"]
    body["mass"] *= PAYLOAD_SHARE
    body["inertia"] = (PAYLOAD_SHARE * np.array(body["inertia"])).tolist()
    for name in ("friction_torque", "viscous_torque"):
        content["leg"]["drive"][name] *= FRICTION_SHARE
    return Platform(MachineParameters.model_validate(content))


def _controller(name: str, machine: Platform, reference: Reference, **options: Any) -> Controller:
    kind = CONTROLLERS[name]
    starts = FROM_THE_START if kind in (Cascade, ObserverCascade) else {}
    return kind(machine, reference, **starts, **options)


def _wrong_models(machine: Platform, reference: Reference) -> dict[str, Tracked]:
    """Return runs on the analytic engine under controllers that know a wrong model."""
    model = wrong_model(machine)
    engine = make_engine("analytic", machine, ENGINE_STEP, "fast")
    runs = {
        name: tracked(machine, _controller(name, machine, reference, model=model), engine, RUN_TIME)
        for name in WRONG_MODELS
    }
    engine.close()
    return runs


def _table(
    runs: dict[tuple[str, str], Tracked],
    wrong: dict[str, Tracked],
    size: tuple[float, float, float],
) -> Table:
    """Return root mean squares by controller, plant and error."""

    def texts(values: tuple[float, ...]) -> tuple[str, ...]:
        return tuple(f"{1e3 * value:.3g}" for value in values)

    rows = [
        (name, *texts(runs["ideal", name].rms), *texts(runs["hardware", name].rms))
        for name in CONTROLLERS
    ]
    unknown = ("",) * len(ERROR_UNITS)
    rows += [
        (f"{name}, wrong model", *unknown, *texts(course.rms)) for name, course in wrong.items()
    ]
    rows.append(("none: the motion itself", *texts(size), *texts(size)))
    columns = [
        f"{plant}: {what} [{unit}]" for plant in ("ideal", "hardware") for what, unit in ERROR_UNITS
    ]
    return Table(
        "Errors under control",
        ("controller", *columns),
        tuple(rows),
        f"Root mean squares over {RUN_TIME:g} s in MuJoCo; wrong models, with {PAYLOAD_SHARE:g} of "
        f"the payload and {FRICTION_SHARE:g} of the friction, on the analytic engine.",
    )


def _better(runs: dict[tuple[str, str], Tracked], wrong: dict[str, Tracked]) -> Iterator[Entry]:
    """Yield runs that stopped early, and errors of the thesis' cascade per other controllers."""
    early = sum(bool(course.trajectory.stopped) for course in (*runs.values(), *wrong.values()))
    yield Measure("runs stopped early", early, 0.0, "all controllers reach the end")
    thesis = np.array(runs["hardware", "thesis cascade"].rms)
    shares = {
        name: float((thesis / np.array(runs["hardware", name].rms)).min()) for name in CONTROLLERS
    }
    best = max(CONTROLLERS, key=lambda name: shares[name])
    yield Measure(
        f"hardware plant: error of the thesis' cascade per error of {best}, the best controller",
        shares[best],
        1.0,
        "smallest ratio of the three errors; forces of the motion that are fed forward leave less "
        "error to feedback",
        at_least=True,
    )
    for name, course in wrong.items():
        yield Quantity(
            f"hardware plant: error of the thesis' cascade per error of {name} with a wrong model",
            (thesis / np.array(course.rms)).min(),
            note=f"{PAYLOAD_SHARE:g} of the payload and {FRICTION_SHARE:g} of the friction",
        )


def _engines(platform: Platform, reference: Reference) -> Iterator[Entry]:
    duration = (ENGINE_PERIODS[1] - ENGINE_PERIODS[0]) * CONTROL_PERIOD
    engines = [
        make_engine(name, platform, ENGINE_STEP, "accurate")
        for name in ("analytic", "mujoco", "bullet")
    ]
    for name in CONTROLLERS:
        runs = [
            tracked(platform, _controller(name, platform, reference), engine, duration).trajectory
            for engine in engines
        ]
        difference = max(max(apart(runs[0], course)) for course in runs[1:])
        yield Measure(
            f"ideal plant, {name}: largest difference of engines, per motion",
            difference,
            ENGINE_DIFFERENCE,
            "MuJoCo and PyBullet against the analytic engine: their largest error in an open loop, "
            "1e-6 m, per 1 cm of motion",
        )
    for engine in engines:
        engine.close()


def _mass_statement(platform: Platform) -> Statement:
    mass = float(lumped_mass(platform, drives=False)[0])
    return THESIS["equivalent_mass"].judged(
        f"By that rule {mass:.2f} kg; with the armature's inertia "
        f"{float(lumped_mass(load(platform.name, 'hardware'))[0]):.0f} kg.",
        abs(mass - 18.8) < 0.05,
        "the code gives no source for its mass; neither contains the armature, which is 26 "
        "times the rest",
    )
