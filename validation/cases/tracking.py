"""Tank motion under control: the thesis' cascade, Kalman observer, feedforward, computed torque."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.catalogue import load
from twin.control.cascade import Cascade
from twin.control.computed_torque import ComputedTorque
from twin.control.controller import Controller
from twin.control.equivalent_mass import lumped_mass
from twin.control.feedforward import InverseDynamicsFeedforward
from twin.control.observer_cascade import ObserverCascade
from twin.control.reference import Reference, sample_reference
from twin.engines import make_engine
from twin.parameters.machine import MachineParameters
from twin.platform import Platform
from twin.validation.case import Case
from twin.validation.cases.tank_motion import tank_motion
from twin.validation.published import THESIS
from twin.validation.results import CaseResult, Measure, Statement
from twin.validation.tracked import Tracked, apart, part, tracked
from twin.validation.tracking_plots import tracking_plots

CASE = Case(
    key="tracking",
    title="Tank motion under control",
    description=(
        "The first seconds of the tank-track motion, driven by controllers at 1 kHz in MuJoCo at "
        "0.5 ms: the thesis' cascade, the cascade with a Kalman observer in torque mode, "
        "feedforward by inverse dynamics, and computed torque; on the ideal plant and on the "
        "hardware one, with armature inertia, delay, friction, backlash and encoders. Root mean "
        "squares of the platform's and the actuators' errors in one table. Then a short ride of "
        "the ideal plant under each controller in all three engines."
    ),
    machines=("stewart",),
    because="the thesis controls its own machine, stewart; other machines' controllers are tested",
    cost=7.0,
)

PERIOD, TIMESTEP = 1e-3, 0.5e-3
"""[s] of controllers and engines"""

RIDE = 2.5
"""[s]"""

SHORT = (2500, 2650)
"""Control periods of the ride in all engines, at full motion."""

BETTER = 3.0
"""Required: thesis' cascade per best controller."""

SAME = 1e-4
"""Required: difference of engines in parts of the motion."""

LIGHTER, SMOOTHER = 0.9, 0.7
"""Payload and friction of a model that is wrong, in parts of the true ones."""

NEAR = 5e-3
"""Error in parts of the motion under which a controller leaves nothing distinct to improve."""

CONTROLLERS: dict[str, type[Controller]] = {
    "thesis cascade": Cascade,
    "PI + Kalman": ObserverCascade,
    "feedforward": InverseDynamicsFeedforward,
    "computed torque": ComputedTorque,
}

UNITS = (("position", "mm"), ("rotation", "mrad"), ("actuator", "mm"))
"""Of the three root mean squares, after multiplication by a thousand."""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    machines = {"ideal": platform, "hardware": load(platform.name, "hardware")}
    rides: dict[tuple[str, str], Tracked] = {}
    for plant, machine in machines.items():
        reference = sample_reference(machine, tank_motion(machine), PERIOD, RIDE)
        engine = make_engine("mujoco", machine, TIMESTEP, "validation")
        for name, controller in _controllers(machine, plant, reference).items():
            rides[plant, name] = tracked(machine, controller, engine, RIDE)
        engine.close()
    whole = sample_reference(platform, tank_motion(platform), PERIOD)
    measures = [
        *_table(rides),
        *_better(rides),
        *_engines(platform, part(platform, whole, *SHORT)),
    ]
    return CASE.result(
        platform,
        measures,
        tracking_plots(rides, UNITS, tuple(CONTROLLERS)),
        _statements(platform, rides),
    )


def wrong_model(machine: Platform) -> Platform:
    """Return a model of the machine with a payload and frictions that are too small."""
    content = machine.parameters.model_dump()
    body = content["platform"]["body"]
    body["mass"] *= LIGHTER
    body["inertia"] = (LIGHTER * np.array(body["inertia"])).tolist()
    for name in ("friction_torque", "viscous_torque"):
        content["leg"]["drive"][name] *= SMOOTHER
    return Platform(MachineParameters.model_validate(content))


def _controllers(machine: Platform, plant: str, reference: Reference) -> dict[str, Controller]:
    found = {name: kind(machine, reference) for name, kind in CONTROLLERS.items()}
    if plant == "hardware":
        model = wrong_model(machine)
        found["PI + Kalman, its disturbance not fed forward"] = ObserverCascade(
            machine, reference, compensation=False
        )
        found["feedforward, wrong model"] = InverseDynamicsFeedforward(
            machine, reference, model=model
        )
        found["computed torque, wrong model"] = ComputedTorque(machine, reference, model=model)
    return found


def _table(rides: dict[tuple[str, str], Tracked]) -> Iterator[Measure]:
    for (plant, name), ride in rides.items():
        for (what, unit), value in zip(UNITS, ride.rms, strict=True):
            told = ride.trajectory.stopped or f"root mean square over {RIDE:g} s"
            yield Measure(f"{plant} plant, {name}: {what} error", 1e3 * value, unit, reason=told)
    early = sum(bool(ride.trajectory.stopped) for ride in rides.values())
    yield Measure("rides stopped early", float(early), "1", 0.0, "all controllers reach the end")


def _better(rides: dict[tuple[str, str], Tracked]) -> Iterator[Measure]:
    """Yield by how much the best controller is better than the thesis', and the wrong models."""
    thesis = np.array(rides["hardware", "thesis cascade"].rms)
    shares = {
        name: float((thesis / np.array(ride.rms)).min())
        for (plant, name), ride in rides.items()
        if plant == "hardware"
    }
    best = max(CONTROLLERS, key=lambda name: shares[name])
    yield Measure(
        f"hardware plant: thesis cascade per best controller ({best})",
        shares[best],
        "1",
        BETTER,
        "required; the smallest of the ratios of the three errors",
        at_least=True,
    )
    for name in ("feedforward, wrong model", "computed torque, wrong model"):
        yield Measure(
            f"hardware plant: thesis cascade per {name}",
            shares[name],
            "1",
            reason=f"model with {LIGHTER:g} of the payload and {SMOOTHER:g} of the friction",
        )


def _engines(platform: Platform, reference: Reference) -> Iterator[Measure]:
    duration = (SHORT[1] - SHORT[0]) * PERIOD
    engines = [
        make_engine(name, platform, TIMESTEP, "validation")
        for name in ("analytic", "mujoco", "bullet")
    ]
    for name, kind in CONTROLLERS.items():
        starts = {"feedforward_start": 0.0} if kind in (Cascade, ObserverCascade) else {}
        rides = [
            tracked(platform, kind(platform, reference, **starts), engine, duration).trajectory
            for engine in engines
        ]
        far = max(max(apart(rides[0], ride)) for ride in rides[1:])
        told = "required; analytic against MuJoCo and PyBullet, in parts of the motion"
        yield Measure(f"ideal plant, {name}: engines apart", far, "1", SAME, told)
    for engine in engines:
        engine.close()


def _statements(platform: Platform, rides: dict[tuple[str, str], Tracked]) -> tuple[Statement, ...]:
    ideal, observed = rides["ideal", "thesis cascade"], rides["ideal", "PI + Kalman"]
    motion = float(np.sqrt(((ideal.trajectory.lengths - platform.home_coordinates) ** 2).mean()))
    shares = [ride.rms[2] / motion for ride in (ideal, observed)]
    with_force = rides["hardware", "PI + Kalman"].rms[1]
    without = rides["hardware", "PI + Kalman, its disturbance not fed forward"].rms[1]
    mass = float(lumped_mass(platform, drives=False)[0])
    return (
        Statement.judged(
            f"{THESIS}, section 4.4.2",
            "In simulation, speed and disturbance estimates bring no distinct progress in accuracy "
            "over feedback alone.",
            f"On the ideal plant the actuators' errors are {100.0 * shares[0]:.2f} percent of the "
            f"motion with the cascade and {100.0 * shares[1]:.2f} percent with the observer.",
            max(shares) < NEAR,
        ),
        Statement.judged(
            f"{THESIS}, section 4.4.2",
            "In real-time control it can overcome friction and the like and improve the accuracy.",
            f"On the hardware plant feeding the disturbance forward takes the rotation error from "
            f"{1e3 * without:.3f} to {1e3 * with_force:.3f} mrad. It finds friction, not play: the "
            "encoders are on the motors' side of it.",
            with_force < 0.9 * without,
        ),
        Statement.judged(
            f"{THESIS}, section 4.4.1 and appendix A.3",
            "The equivalent mass is the actuator's moving mass and a sixth of the platform; the "
            "code has m = 18.8 kg.",
            f"By that rule {mass:.2f} kg; with the armature's inertia "
            f"{float(lumped_mass(load(platform.name, 'hardware'))[0]):.0f} kg.",
            abs(mass - 18.8) < 0.05,
            "the code gives no source for its mass; neither contains the armature, which is 26 "
            "times the rest",
        ),
    )
