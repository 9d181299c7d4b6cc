"""Refusals of a unit: each message names the variable and says what is wrong."""

import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmu_rig import UnitRun, unit_of

import twin

pytestmark = pytest.mark.quick


@pytest.mark.seconds
def test_a_singular_pose_ends_the_run(machine_of, folder):
    """Cranks and rods are pulled straight: the unit keeps the last state that exists."""
    unit = unit_of(machine_of("rss"), folder)
    run = UnitRun(unit, wrench=[0.0, 0.0, 2e4, 0.0, 0.0, 0.0])
    with pytest.raises(FMICallException):
        run.step(1.0)
    assert "singular" in run.messages[-1]
    last = run.state
    assert np.isfinite(last).all()
    assert last[2] > unit.platform.home[2] + 0.05
    with pytest.raises(FMICallException):
        run.step(1e-3)
    assert "reset it" in run.messages[-1]
    run.fmu.reset()
    run.begin()
    run.step(1e-3)


WRONG_STARTS = {
    "stewart": [
        ({"start.pose.qw": 1.1}, "quaternion must have norm 1, got 1.1"),
        ({"payload.mass": -1.0}, "no body has mass -1 kg"),
        ({"payload.inertia.xx": 3.0, "payload.inertia.yy": 1.0}, "no body has mass 0 kg"),
        ({"payload.inertia.xy": 1.0}, "no body has mass 0 kg"),
        ({"start.pose.x": np.inf}, "start.pose.x must be a number"),
        ({"pose.x": 1.0}, "pose.x is an output"),
    ],
    "driving_simulator": [
        ({"start.pose.x": 0.01}, "the legs do not allow them"),
        ({"start.twist.wz": 0.01}, "the legs do not allow them"),
    ],
    "rss": [({"start.pose.z": 9.0}, "a leg cannot reach it")],
}


@pytest.mark.seconds
def test_wrong_values_are_named(subtests, folder):
    for machine in WRONG_STARTS:
        with subtests.test(f"{machine}"):
            unit = unit_of(twin.load(machine), folder)
            for values, message in WRONG_STARTS[machine]:
                run = UnitRun(unit)
                with pytest.raises(FMICallException):
                    run.set(values)
                    run.begin()
                assert message in run.messages[-1]


def test_wrong_calls_are_refused(stewart_unit):
    run = UnitRun(stewart_unit, payload=np.zeros(10))
    for time, span in ((0.0, 0.0), (0.0, -1e-3), (0.0, np.nan), (0.5, 1e-3), (0.0, 1e300)):
        with pytest.raises(FMICallException):
            run.fmu.doStep(time, span)
    with pytest.raises(FMICallException):
        run.set({"start.pose.z": 0.9})
    assert "start.pose.z is fixed after" in run.messages[-1]
    with pytest.raises(FMICallException):
        run.fmu.getFloat64([10_000])
    run.set({"payload.mass": -2.0})
    with pytest.raises(FMICallException):
        run.step(1e-3)
    assert "no body has mass -2 kg" in run.messages[-1]
    run.set({"payload.mass": 2.0})
    run.step(1e-3)
