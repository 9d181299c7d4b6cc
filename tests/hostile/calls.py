"""Public functions and constructors with good arguments, of which some are then spoiled."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import twin
from hostile.studies import part, study_calls
from hostile.values import bad_value, spoiled
from twin.control import CONTROLLERS, make_controller
from twin.engines.base import replay
from twin.engines.export import export
from twin.machine.file.read import template
from twin.machine.payload import Occupant, SeatedPosture, Wheelchair
from twin.machine.randomisation import Choice, LogUniform, Normal, Uniform, as_randomisation
from twin.machine.randomisation.sampler import nominal_value, with_values
from twin.model.ball import Ball, as_ball
from twin.motion import (
    ChirpMotion,
    MultiSineMotion,
    RecordedMotion,
    RestToRestMotion,
    SineMotion,
    StepMotion,
    TankTrackMotion,
    rotational_motion,
    shortest_rise,
)
from twin.motion.specification import MotionSpecification
from twin.plant.plant import Plant
from twin.simulation.batched import make_batched_plant
from twin.simulation.simulate import Trajectory
from twin.sweep import Sweep, plan, read_results


class Call(NamedTuple):
    """A function with good arguments."""

    function: Callable[..., Any]
    good: dict[str, Any]


REST = [0.0] * 6
SAMPLES = np.arange(20) * 0.01
WIDE = {"duration": 0.5, "convention": "yaw_pitch_roll"}


@lru_cache(maxsize=1)
def calls():
    """Return all calls by name."""
    found = {}
    for machine in ("stewart", "driving_simulator", "compliant_stewart", "rss"):
        found |= {f"{name} of {machine}": c for name, c in _numeric(twin.load(machine)).items()}
    return found | _motions() | _machines() | _controllers() | _runs() | study_calls(Call)


def _numeric(platform):
    """Return the numeric methods of a machine."""
    home = platform.home.tolist()
    pose, state = {"pose": home}, {"pose": home, "twist": REST}
    moved = state | {"acceleration": REST}
    ends = {"forces": [0.0] * platform.n_actuators, "wrench": REST}
    lengths = {"lengths": platform.home_coordinates.tolist()}
    springs = [0.01] * (2 * platform.n_deflections)
    inside = {"deflection": springs} if springs else {}
    good = {
        "inverse_kinematics": pose,
        "forward_kinematics": lengths | {"guess": home},
        "forward_kinematics_derivatives": lengths,
        "forward_kinematics_all": lengths,
        "fit_pose": lengths | {"tolerance": 1e-3},
        "jacobian": pose,
        "jacobian_derivative": state,
        "constraints": pose,
        "constrain": moved,
        "within_limits": pose,
        "mass_matrix": pose | inside,
        "forward_dynamics": state | ends | inside,
        "forward_dynamics_derivatives": state | ends | inside,
        "inverse_dynamics": moved | {"wrench": REST} | inside,
        "inverse_dynamics_derivatives": moved | {"wrench": REST} | inside,
        "energy": state | inside,
        "dissipation": state | inside,
        "leg_coordinates": moved | inside,
        **({"as_deflection": inside} if springs else {}),
    }
    found = {name: Call(getattr(platform, name), values) for name, values in good.items()}
    return found | {
        # Infinite at a singular pose, so that its inverse must be finite.
        "condition_number": Call(lambda pose: 1.0 / platform.condition_number(pose), pose),
        "linearise": Call(lambda **given: platform.linearise(**given).stiffness, pose | ends),
        "with_": Call(
            lambda mass, **given: platform.with_(
                parameters={"platform.body.mass": mass}, **given
            ).mass_matrix(platform.home),
            {"payload": 1.0, "gravity": 1.6, "mass": 2.0},
        ),
    }


def _sampled(kind):
    """Return a function that makes a motion and takes samples of it."""

    def sampled(time=SAMPLES, **options):
        motion = kind(**options)
        return tuple(motion(time))

    return sampled


def _motions():
    home = twin.load("stewart").home.tolist()
    axes = {"z": 0.01, "pitch": 0.02}
    common = {"center": home, "time": SAMPLES, "fade_in": 0.1, "fade_out": 0.1}
    shape = {"displacement": axes, "rise": 0.2, "center": home, "time": SAMPLES}
    good = {
        SineMotion: WIDE | common | {"amplitude": axes, "frequency": 2.0, "phase": 0.1},
        ChirpMotion: WIDE
        | common
        | {"amplitude": axes, "start_frequency": 1.0, "end_frequency": 5.0, "sweep": "linear"},
        MultiSineMotion: WIDE
        | common
        | {
            "frequencies": [1.0, 2.0],
            "amplitude": {"z": [0.01, 0.01]},
            "phases": "random",
            "seed": 1,
        },
        StepMotion: WIDE | shape | {"start": 0.1},
        RestToRestMotion: shape | {"law": "harmonic"},
        TankTrackMotion: {
            "center": home,
            "speed": 5.6,
            "duration": 4.0,
            "time": SAMPLES,
            "peak_pitch": 0.05,
        },
    }
    recorded = {
        "center": home,
        "time": 0.01 * np.arange(60),
        "columns": {"z": 0.01 * np.sin(np.arange(60) / 9)},
        "convention": "yaw_pitch_roll",
        "largest_gap": 0.5,
        "drift": "detrend",
        "cutoff": 2.0,
        "check_size": True,
        "fade_in": 0.1,
        "fade_out": 0.1,
    }
    angles = {"angles": [0.1, 0.2, 0.3], "name": "yaw_pitch_roll"}

    def specified(**options):
        motion = MotionSpecification(**options).motion_of(twin.load("stewart"))
        return None if motion is None else tuple(motion(SAMPLES))

    def read(path=None, text=None, **options):
        from twin.motion import read_recording

        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "a.csv"
            file.write_text(text if isinstance(text, str) else "time [s]\n", errors="replace")
            return tuple(read_recording(path or file, home, **options)(SAMPLES))

    rows = "\n".join(f"{0.01 * k},{0.001 * k}" for k in range(30))
    return {
        **{kind.__name__: Call(_sampled(kind), options) for kind, options in good.items()},
        "RecordedMotion": Call(lambda **o: tuple(RecordedMotion(**o)(SAMPLES)), recorded),
        "read_recording": Call(
            read,
            {"text": f"time [s],z [m]\n{rows}", "units": {}, "columns": None},
        ),
        "specification": Call(
            specified,
            {"name": "sine", "axis": "z", "amplitude": 0.01, "frequency": 1.0, "duration": 1.0},
        ),
        "shortest rise": Call(
            shortest_rise, {"distance": 0.1, "peak_acceleration": 1.0, "law": "harmonic"}
        ),
        "quaternion": Call(twin.rotations.quaternion_from_angles, angles),
        "angles": Call(
            twin.rotations.angles_from_quaternion,
            {"quaternion": [1.0, 0.0, 0.0, 0.0], "name": "rodrigues"},
        ),
        "pose from angles": Call(
            twin.rotations.pose_from_angles, angles | {"position": [0.0, 0.0, 1.0]}
        ),
        "rotational motion": Call(
            rotational_motion, angles | {"rates": [0.1] * 3, "accelerations": [0.0] * 3}
        ),
        "displaced": Call(twin.rotations.displaced, {"pose": home, "displacement": REST}),
        "pose": Call(
            twin.pose,
            {"x": 0.1, "y": 0.0, "z": 1.0, "roll": 1.0, "pitch": 0.0, "yaw": 2.0, "degrees": True},
        ),
    }


def _machines():
    """Return what makes or changes machines, bodies and distributions."""
    parameters = twin.load("stewart").parameters
    hardware = twin.load("stewart", "hardware").parameters
    ball = {"radius": 0.02, "mass": 0.1, "plate_radius": 0.3, "plate_height": 0.05, "friction": 0.5}
    posture = {"recline": 0.2, "head": 0.0, "thigh": 1.5, "shank": 0.3, "upper_arm": 0.3}

    def drawn(value, generator=None):
        found = as_randomisation(value, hardware)
        return dict(found.sample(generator or np.random.default_rng(1), hardware).values)

    def written(folder, **options):
        with tempfile.TemporaryDirectory() as place:
            return len(export(folder=Path(place) / "a" if folder is None else folder, **options))

    table = {"gravity": {"kind": "uniform", "low": 9.0, "high": 10.0}}
    return {
        "load": Call(
            twin.load, {"machine": "stewart", "configuration": "hardware", "limits": True}
        ),
        "template": Call(lambda **o: len(template(**o)), {"name": "mine", "legs": "ups"}),
        "with_values": Call(
            lambda **o: len(with_values(**o).legs),
            {"parameters": parameters, "values": {"gravity": 9.0}},
        ),
        "nominal_value": Call(nominal_value, {"parameters": parameters, "path": "gravity"}),
        "Ball": Call(part(Ball, "mass"), ball),
        "as_ball": Call(lambda value: as_ball(value, parameters) is None, {"value": ball}),
        "Occupant": Call(
            part(Occupant, "stature"),
            {"stature": 1.8, "mass": 80.0, "sex": "male", "seat": (0.0, 0.0, 0.1)},
        ),
        "SeatedPosture": Call(part(SeatedPosture, "head"), posture),
        "Wheelchair": Call(
            part(Wheelchair, "mass"), {"mass": 17.0, "seat_height": 0.5, "length": 1.0}
        ),
        "Uniform": Call(part(Uniform, "extremes"), {"low": 1.0, "high": 2.0, "offset": True}),
        "LogUniform": Call(part(LogUniform, "extremes"), {"low": 1.0, "high": 2.0}),
        "Normal": Call(
            part(Normal, "extremes"),
            {"mean": 1.0, "deviation": 2.0, "low": 0.0, "high": 3.0},
        ),
        "Choice": Call(part(Choice, "extremes"), {"values": [1.0, 2.0]}),
        "as_randomisation": Call(drawn, {"value": table}),
        "export": Call(written, {"platform": twin.load("srspm"), "form": "mjcf", "folder": None}),
        "Sweep": Call(
            lambda **o: len(plan(Sweep(**o))),
            {
                "machine": "srspm",
                "engines": ["analytic"],
                "timestep": 1e-3,
                "seeds": 3,
                "controllers": ["cascade"],
                "parameters": {"gravity": [9.0, 10.0]},
                "payloads": [5.0],
                "motion": {"name": "sine"},
                "measure": None,
            },
        ),
        "read_results": Call(read_results, {"folder": "/dev/null/such"}),
    }


def _controllers():
    common = {"platform": twin.load("stewart"), "motion": None}
    options = {
        "cascade": {"position_gain": 5.0, "velocity_gain": 1e3, "feedforward_start": 0.1},
        "observer": {"design": None, "compensation": True, "velocity_time": 0.1},
        "feedforward": {"position_gain": 5.0},
        "computed_torque": {"bandwidth": 20.0, "damping": 1.0, "integral_share": 0.1},
        "lqr": {"weights": None, "integral": False, "design": None},
        "loop_shaping": {"weights": None, "design": None},
        "ilqr": {"horizon": 20, "iterations": 2, "plan_period": 0.01},
        "iff": {"platform": twin.load("micro_hexapod"), "period": 1e-4},
        "dvf": {"platform": twin.load("micro_hexapod"), "period": 1e-4},
        "hac_lac": {"platform": twin.load("micro_hexapod"), "inner": "iff", "period": None},
    }

    def made(**given):
        controller = make_controller(**given)
        return controller.loop_gains

    found = {
        f"controller {name}": Call(made, {"name": name, "period": 1e-3, **common, **options[name]})
        for name in CONTROLLERS
    }
    machine = {"platform": twin.load("stewart", "hardware")}
    return found | {
        "Plant": Call(
            lambda **o: Plant(**o).platform.home,
            machine | {"seed": 1, "dropouts": [(0.1, 0.2)], "inertial": True},
        ),
    }


def _runs():
    """Return simulations, engines, batched plants and trajectories."""
    stewart = twin.load("stewart")
    run = stewart.simulate(0.005, progress=False)
    simulated = {
        "platform": stewart,
        "duration": 0.003,
        "pose": stewart.home,
        "twist": REST,
        "forces": REST,
        "engine": "analytic",
        "timestep": 1e-3,
        "wrench": REST,
        "fidelity": "fast",
        "every": 1,
        "progress": False,
        "deflection": None,
        "plant": None,
    }

    def looped(**given):
        controller = make_controller("cascade", stewart, period=2e-3)
        options = {"controller": controller, "duration": 0.004, "platform": stewart} | given
        return twin.simulate(**options).forces

    def batched(**given):
        plant = make_batched_plant(**given)
        plant.close()
        return plant.home if hasattr(plant, "home") else None

    def engine(**given):
        made = twin.make_engine(**given)
        made.close()
        return made.timestep

    def advanced(forces, wrench, pose, twist):
        made = twin.make_engine("analytic", stewart)
        made.reset(pose, twist)
        return tuple(made.step(forces, wrench))

    state = {"pose": stewart.home, "twist": REST}
    return {
        "simulate": Call(part(twin.simulate, "pose"), simulated),
        "closed loop": Call(
            looped, {"timestep": 1e-3, "progress": None, "plant": None, "wrench": REST}
        ),
        "integrate": Call(
            part(twin.integrate, "pose"),
            {
                "platform": stewart,
                "duration": 0.002,
                **state,
                "forces": REST,
                "method": "rk4",
                "timestep": 1e-3,
                "relative_tolerance": 1e-9,
                "absolute_tolerance": 1e-9,
            },
        ),
        "make_engine": Call(
            engine,
            {
                "name": "analytic",
                "platform": stewart,
                "timestep": 1e-3,
                "fidelity": "fast",
                "largest_gap": 1.0,
            },
        ),
        "engine": Call(advanced, state | {"forces": REST, "wrench": REST}),
        "batched plant": Call(
            batched,
            {
                "engine": "analytic",
                "platform": stewart,
                "size": 2,
                "period": 0.01,
                "timestep": 1e-3,
                "mode": "force",
            },
        ),
        "Trajectory": Call(part(Trajectory, "pose"), dict(vars(run))),
        "load a trajectory": Call(Trajectory.load, {"path": "/dev/null/such.npz"}),
        "save a trajectory": Call(run.save, {"path": "/dev/null/such/place/a.npz"}),
        "plot": Call(lambda reference: run.plot(reference) is None, {"reference": run}),
        "replay": Call(replay, {"path": "/dev/null/such.npz"}),
    }


def call_input(random):
    """Return the name of a call and the call, with one or two spoiled arguments."""
    name = random.choice(sorted(calls()))
    call = calls()[name]
    given = dict(call.good)
    for field in random.sample(list(given), min(len(given), random.choice((1, 1, 1, 2)))):
        given[field] = spoiled(given[field], random)
    if random.random() < 0.03:
        given[random.choice(("colour", "self", "x"))] = bad_value(random)
        return name, lambda: _unknown(call.function, given)
    return name, lambda: call.function(**given)


def _unknown(function, given):
    """Call with an argument that the function may not have: Python itself refuses it."""
    try:
        return function(**given)
    except TypeError as error:
        if "unexpected keyword" in str(error) or "multiple values" in str(error):
            return None
        raise
