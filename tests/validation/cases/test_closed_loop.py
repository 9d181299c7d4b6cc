"""Faults of closed loops that every machine survives, and heaves that it can follow."""

import numpy as np
import pytest
from case_outcomes import failed_names
from random_machines import random_machine
from redundant import machine_tool
from tolerance import max_abs

from twin.analysis.platform import Platform
from twin.control.gains import suitable_position_loop
from twin.machine import MachineParameters
from twin.validation.cases import closed_loop as faults
from twin.validation.cases.closed_loop import SPEED_FRACTION, heave, stop_measures, stopped_run
from twin.validation.measures.sampling import followed

pytestmark = pytest.mark.quick


def slow_loops():
    """Return a machine tool without limits of its actuators, whose position loops are slow."""
    content = machine_tool().parameters.model_dump()
    content["leg"]["actuator"] |= {"speed": None, "force": None}
    content["control"] = None
    return Platform(MachineParameters.model_validate(content))


def test_a_provoked_runaway_is_stopped_whatever_the_own_gain(constants):
    machine = slow_loops()
    (fault,) = (one for one in faults.INJECTED_FAULTS if one.name == "unstable position gain")
    own = suitable_position_loop(machine, faults.CONTROL_PERIOD)[0]
    assert faults.UNSTABLE_GAIN_FACTOR * own * faults.CONTROL_PERIOD < faults.DIVERGENT_LOOP_GAIN

    def failures():
        run = stopped_run(machine, fault)
        return failed_names(stop_measures(machine, fault, run))

    assert not failures()
    constants(faults, DIVERGENT_LOOP_GAIN=0.0)
    assert failures()


@pytest.mark.parametrize("seed", [42, 47])
def test_cranks_can_follow_the_heave(seed):
    """One has legs four times as long as its cranks, the other hardly any room above home."""
    machine = random_machine(seed)
    motion = heave(machine, 1.0)
    pose, twist, _ = motion(np.linspace(0.0, 1.0, 401))
    assert followed(machine, pose)
    rates = np.einsum("kij,kj->ki", machine.jacobian(pose), twist)
    limit = machine.parameters.leg.actuator.speed
    # The fades add to the speed of the sine.
    assert limit is not None and max_abs(rates) < 1.5 * SPEED_FRACTION * limit
