"""One run: the same as by hand, with payload and values in it, and errors told in its row."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from small_sweeps import SMALL, small
from tolerance import max_abs

import twin
from twin.analysis.payload.body import Payload, with_payload
from twin.analysis.tracking import TrackingErrors
from twin.control import make_controller
from twin.machine.payload import Occupant, seated_on
from twin.machine.randomisation.sampler import with_values
from twin.motion.specification import MotionSpecification
from twin.plant.plant import Plant
from twin.sweep import PayloadChoice, plan
from twin.sweep.folder import loaded, run_task, simulated


def row_of(**changes):
    """Return the row of the first run."""
    return run_task(plan(small(**changes))[0])


@pytest.mark.parametrize("engine", ["analytic", "mujoco", "bullet"])
def test_a_run_is_what_one_does_by_hand(engine):
    changes = {
        "machine": "stewart",
        "configurations": "hardware",
        "engines": engine,
        "controllers": "cascade:position_gain=4",
        "parameters": {"leg.drive.delay": 0.004},
        "payloads": 50,
        "seeds": [3],
        "timestep": 5e-4,
    }
    row = row_of(**changes)
    nominal = twin.load("stewart", "hardware")
    varied = twin.Platform(with_values(nominal.parameters, {"leg.drive.delay": 0.004}))
    platform = with_payload(varied, Payload(50))
    size = SMALL["motion"]
    motion = MotionSpecification("sine", "z", size["amplitude"], size["frequency"], 0.06).motion_of(
        platform
    )
    run = platform.simulate(
        0.06,
        controller=make_controller("cascade", platform, motion, position_gain=4),
        plant=Plant(platform, seed=3),
        engine=engine,
        timestep=5e-4,
        fidelity="fast",
    )
    assert row["status"] == "done", row["error"]
    assert row["leg.drive.delay"] == 0.004
    errors = TrackingErrors(run)
    assert row["position_peak"] == errors.position.max()
    assert row["force_peak"] == max_abs(run.forces)
    assert (row["position_rms"], row["rotation_rms"], row["actuator_rms"]) == (
        errors.root_mean_square()
    )
    assert row["end_time"] == pytest.approx(0.06)


def test_seeds_matter_where_sensors_err():
    hardware = {"machine": "stewart", "configurations": "hardware", "parameters": {}}
    told = [simulated(task)[0].signals["inertial"] for task in plan(small(**hardware, seeds=2))]
    assert (told[0] != told[1]).mean() > 0.9


def test_payloads_are_on_the_platform():
    platform = twin.load("stewart")
    mass = platform.parameters.platform.body.mass
    assert loaded(platform, PayloadChoice()) is platform
    heavier = loaded(platform, PayloadChoice.model_validate({"mass": 10, "inertia": [1, 1, 1]}))
    assert heavier.parameters.platform.body.mass == pytest.approx(mass + 10)
    person = {"stature": 1.75, "mass": 80, "wheelchair": True}
    seated = loaded(platform, PayloadChoice.model_validate({"occupant": person}))
    assert seated.parameters.platform.body.mass == pytest.approx(mass + 80 + 17)
    plain = loaded(platform, PayloadChoice.model_validate("occupant:1.75:80"))
    expected = seated_on(platform.parameters, Occupant(1.75, 80.0))
    assert plain.parameters.platform.body.inertia == expected.platform.body.inertia


def test_nominal_controllers_do_not_know_what_is_varied():
    heavy = {"machine": "stewart", "parameters": {"platform.body.mass": 150.0}}
    known = simulated(plan(small(**heavy, controllers="computed_torque"))[0])[0]
    nominal = plan(small(**heavy, controllers="computed_torque:model=nominal"))[0]
    unknown = simulated(nominal)[0]
    plain = simulated(plan(small(machine="stewart", parameters={}))[0])[1]
    assert max_abs(known.signals["command"] - unknown.signals["command"]) > 100.0
    law = make_controller("computed_torque", plain)
    assert law.platform.parameters.platform.body.mass == 97.0


def test_motion_and_controller_have_parameters_too():
    small_motion = row_of(machine="stewart", parameters={"motion.amplitude": 1e-3})
    large_motion = row_of(machine="stewart", parameters={"motion.amplitude": 2e-3})
    assert_allclose(
        large_motion["position_peak"], 2.0 * small_motion["position_peak"], rtol=0.05, atol=0
    )
    row = row_of(machine="stewart", parameters={"controller.position_gain": 9.0})
    assert row["controller.position_gain"] == 9.0
    by_option = row_of(machine="stewart", controllers="cascade:position_gain=9", parameters={})
    assert row["position_rms"] == by_option["position_rms"]


def test_recordings_travel_with_the_run(tmp_path):
    time = np.arange(0, 0.2, 0.01)
    file = tmp_path / "course.csv"
    rows = [f"{t:.3f},{5 * np.sin(4 * np.pi * t) ** 2:.6f}" for t in time]
    file.write_text("time [s],z [mm]\n" + "\n".join(rows) + "\n")
    task = plan(small(motion={"name": str(file), "duration": 0.1}))[0]
    file.unlink()
    row = run_task(task)
    assert row["status"] == "done", row["error"]


def test_a_safe_stop_is_no_error():
    row = row_of(machine="stewart", motion={"amplitude": 0.3, "duration": 1.0}, parameters={})
    assert row["status"] == "stopped"
    assert row["stopped"]
    assert row["end_time"] < 1.0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"parameters": {"platform.body.mass": -1.0}}, "mass"),
        ({"parameters": {"motion.frequency": -1.0}}, "frequency"),
        ({"parameters": {"controller.gain": 1.0}}, "gain"),
        ({"timestep": 7e-4}, "time step"),
        ({"payloads": "occupant:0.1:80"}, "stature"),
    ],
)
def test_what_is_refused_is_told(changes, words):
    row = row_of(**changes)
    assert row["status"] == "error", row
    assert words in row["error"]
    assert "position_rms" not in row


def test_measures_of_ones_own():
    row = row_of(measure="own_measures:mass", parameters={"platform.body.mass": 4.0})
    assert row["mass"] == 4.0
    for name in ("wrong", "taken"):
        assert row_of(measure=f"own_measures:{name}")["status"] == "error"
    row = row_of(measure="own_measures:broken")
    assert row["status"] == "crashed"
    assert row["error"] == "ZeroDivisionError: a user's fault"
