"""Calls of studies, designs, pictures and environments, each small enough for many of them."""

from __future__ import annotations

from functools import lru_cache

import gymnasium
import numpy as np

import twin
from twin.analysis.feasibility.actuators import motor_requirement
from twin.analysis.feasibility.feasibility import feasibility
from twin.analysis.frequency.linear import compliance, linear_modes
from twin.analysis.payload.body import Payload, with_payload
from twin.analysis.stiffness import (
    compliance_matrix,
    natural_modes,
    sag,
    static_pose,
    stiffness_matrix,
    with_gravity,
)
from twin.analysis.tuning.tuning import StepSpecification, step_figures
from twin.analysis.workspace.dexterity import dexterity
from twin.control.controller import sample_reference
from twin.control.linear.loop_shaping import ShapingWeights, loop_shaping
from twin.control.linear.lqr import RegulatorWeights, linearise, regulator
from twin.control.linear.machine import discretise
from twin.envs import environment_ids
from twin.motion import SineMotion
from twin.motion.cueing import ClassicalWashout, Manoeuvre
from twin.motion.cueing.manoeuvre import make_manoeuvre
from twin.simulation.live.settings import as_settings
from twin.viewer.film import Look, write_film, write_picture

REST = [0.0] * 6


def part(function, name):
    """Return a function that gives one part of what another one returns."""
    return lambda **given: getattr(function(**given), name)


def study_calls(call):
    """Return the calls by name, made by `call` of a function and its good arguments."""
    stewart = twin.load("stewart")
    springs = twin.load("micro_hexapod")
    sine = SineMotion(stewart.home, amplitude={"z": 0.01}, frequency=1.0, duration=0.5)
    run = stewart.simulate(0.005, progress=False)
    on = {"platform": springs, "pose": springs.home}
    time = np.linspace(0.0, 1.0, 50)
    step = {"time": time, "response": 1.0 - np.exp(-9.0 * time)}
    found = {
        "Payload": (
            part(Payload, "mass"),
            {"mass": 5.0, "center": [0.0, 0.0, 0.1], "inertia": [1.0, 1.0, 1.0], "name": "box"},
        ),
        "with_payload": (
            part(with_payload, "home"),
            {"platform": stewart, "payload": Payload(3.0)},
        ),
        "stiffness": (part(stiffness_matrix, "elastic"), on | {"stiffness": None}),
        "compliance matrix": (compliance_matrix, on | {"stiffness": None, "carried": None}),
        "natural modes": (part(natural_modes, "frequencies"), on | {"stiffness": None}),
        "static pose": (static_pose, {"platform": springs, "wrench": REST, "guess": springs.home}),
        "sag": (part(sag, "exact"), on | {"wrench": REST}),
        "with_gravity": (part(with_gravity, "home"), {"platform": springs, "gravity": 9.0}),
        "dexterity": (
            part(dexterity, "smallest"),
            {"platform": stewart, "pose": stewart.home},
        ),
        "motor requirement": (
            part(motor_requirement, "forces"),
            {"platform": stewart, "motion": sine, "wrench": REST, "samples": 20},
        ),
        "feasibility": (
            lambda **o: len(feasibility(**o).margins),
            {"platform": stewart, "motion": sine, "payload": 5.0, "wrench": REST, "samples": 20},
        ),
        "linearise": (
            part(linearise, "mass"),
            {"platform": stewart, "pose": stewart.home, "wrench": REST},
        ),
        "regulator": (
            lambda **o: regulator(_linear(), **o).gain,
            {"period": 1e-3, "weights": RegulatorWeights(), "integral": False},
        ),
        "weights": (
            lambda **o: regulator(_linear(), weights=RegulatorWeights(**o)).gain,
            {"displacement": 1e-3, "rate": 0.1, "force": 10.0, "integral": 1e-4},
        ),
        "shaping": (
            lambda **o: loop_shaping(_linear(), ShapingWeights(**o)).gamma,
            {"crossover": 10.0, "integral": 0.2, "lead": 3.0},
        ),
        "discretise": (
            lambda **o: discretise(_linear().system("forces", "displacement"), **o).A,
            {"period": 1e-3, "delay": 1e-3},
        ),
        "linear modes": (
            part(linear_modes, "frequencies"),
            {"linear": _linear(), "law": None},
        ),
        "compliance": (compliance, {"linear": _linear(), "frequencies": [1.0, 2.0]}),
        "reference": (
            part(sample_reference, "coordinates"),
            {"platform": stewart, "motion": sine, "period": 0.01, "duration": 0.1},
        ),
        "StepSpecification": (
            part(StepSpecification, "rise"),
            {"rise_time": 0.01, "rise": 0.9, "overshoot": 0.1},
        ),
        "step figures": (lambda **o: len(step_figures(**o)), step),
        "Manoeuvre": (
            part(Manoeuvre, "duration"),
            {
                "name": "m",
                "time": time,
                "specific_force": np.tile([0.0, 0.0, 9.81], (50, 1)),
                "angular_rate": np.zeros((50, 3)),
            },
        ),
        "make_manoeuvre": (
            part(make_manoeuvre, "duration"),
            {"name": "braking", "car": None},
        ),
        "ClassicalWashout": (
            part(ClassicalWashout, "period"),
            {"platform": stewart, "head": [0.0, 0.0, 0.3], "settings": None, "period": 0.005},
        ),
        "live settings": (
            lambda **o: as_settings(o).engine,
            {
                "engine": "analytic",
                "fidelity": "fast",
                "controller": "cascade",
                "payload": "none",
                "gains": {},
            },
        ),
        "film": (
            write_film,
            {
                "trajectory": run,
                "platform": stewart,
                "path": "/dev/null/such/a.gif",
                "look": Look(),
                "rate": 5.0,
                "speed": 1.0,
                "start": 0.0,
            },
        ),
        "picture": (
            write_picture,
            {"trajectory": run, "platform": stewart, "path": "/dev/null/such/a.png", "time": 0.0},
        ),
    }
    return {name: call(function, good) for name, (function, good) in found.items()} | _worlds(call)


@lru_cache(maxsize=1)
def _linear():
    return linearise(twin.load("stewart"))


def _worlds(call):
    """Return environments made, reset and stepped, alone and several at once."""
    found = {}
    for name in environment_ids():
        env = gymnasium.make(name).unwrapped
        found[f"reset {name}"] = call(_reset(env), {"seed": 3, "options": {}})
        drawn = dict.fromkeys(env.task.varied_settings)
        found[f"options {name}"] = call(_options(env), drawn)
        found[f"step {name}"] = call(_step(env), {"action": env.action_space.low})
        found[f"make {name}"] = call(
            _make(type(env)),
            {
                "machine": "",
                "configuration": None,
                "engine": "analytic",
                "period": 0.01,
                "timestep": None,
                "fidelity": "fast",
                "weights": {},
                "randomisation": None,
                "render_mode": None,
            },
        )
    return found


def _reset(env):
    return lambda **given: env.reset(**given)[0]


def _options(env):
    usual = env.task.default_values()
    return lambda **given: env.reset(
        options={name: usual.get(name) if value is None else value for name, value in given.items()}
    )[0]


def _step(env):
    def step(action):
        env.reset(seed=1)
        return env.step(action)[:2]

    return step


def _make(kind):
    def make(**given):
        env = kind(**given)
        env.reset(seed=1)
        env.close()
        return

    return make
