"""Commands of recorded samples: in logs from when they were in force, replayed at the end of it."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from recorded_motion import SPEEDS, emulated, log_of_samples, sines
from tolerance import assert_within

from twin.control import make_controller
from twin.identification.result.identify import identify
from twin.link.emulated import EmulatedMachine
from twin.link.protocol import Sample
from twin.link.transport import open_source, samples
from twin.logs import log_of, write_log
from twin.shadow.shadow import Shadow
from twin.shadow.thresholds import INFINITE_THRESHOLDS

PERIOD, DURATION = 1e-3, 1.5
DELAY = 3e-3
"""[s] The file has 2 ms."""


@pytest.fixture(scope="module")
def motion(hardware):
    """Return a motion with accelerations that show a period's delay."""
    return sines(hardware, SPEEDS, DURATION)


@pytest.mark.quick
@pytest.mark.parametrize("start", [PERIOD, 1.7e9])
def test_replay_gives_the_samples_back(hardware, tmp_path, start):
    """Each with its own command: at the start of the clock, and years later."""
    rows = np.arange(30.0)[:, None] + np.zeros(6)
    sent = [
        Sample(
            "measurement",
            start + PERIOD * k,
            {"coordinates": rows[k], "setpoint": rows[k] + 0.5, "command_rates": -rows[k]},
        )
        for k in range(30)
        if k not in (11, 12)
    ]
    log = log_of_samples(hardware, sent)
    path = write_log(log, tmp_path / "run.csv")
    found = list(samples(open_source(f"replay:{path}", hardware), 1.0))
    assert [each.time for each in found] == [each.time for each in sent]
    for each, first in zip(found, sent, strict=True):
        for name, values in first.values.items():
            assert_array_equal(each.values[name], values)
    times = log["command_rates"].time
    assert_within(times, [each.time - PERIOD for each in sent], 1e-6)
    assert set(times[1:11]) <= set(log["coordinates"].time)


@pytest.mark.quick
def test_a_machine_at_its_reset_has_its_commands(hardware):
    """Before the clock began none were in force."""
    machine = EmulatedMachine(hardware)
    log = log_of_samples(hardware, [machine.measurement, machine.step(), machine.step()])
    machine.close()
    assert log["coordinates"].time.tolist() == [0.0, 0.001, 0.002]
    for name in ("setpoint", "command_rates"):
        assert log[name].time.tolist() == [0.0, 0.001]
    home = machine.measurement.values["setpoint"]
    assert_array_equal(log["setpoint"].values, [home, home])


@pytest.mark.slow
def test_a_delay_is_found_in_the_log(hardware, motion):
    """Commands that were stamped a period late would hide as much of the delay."""
    hidden = hardware.with_(parameters={"leg.drive.delay": DELAY})
    log = emulated(hardware, hidden, motion)
    identified = identify(hardware, [log], "leg.drive.delay")
    assert abs(identified.values[0] - DELAY) < 1e-5


def unexplained(machine, path):
    """Return the force that a shadow of the exact machine does not explain [N], its rms."""
    shadow, found = Shadow(machine, thresholds=INFINITE_THRESHOLDS), []
    for sample in samples(open_source(f"replay:{path}", machine), 1.0):
        found.append(shadow.update(sample).disturbance)
    settled = np.array(found)[len(found) // 3 :]
    return float(np.sqrt(np.mean(np.square(settled))))


def test_a_simulated_log_is_replayed_as_well_as_a_recorded_one(hardware, motion, tmp_path):
    """The observer explains a period between commands and motion by a force of some 400 N."""
    own = emulated(hardware, hardware, motion)
    law = make_controller("cascade", hardware, motion)
    run = hardware.simulate(DURATION, controller=law, timestep=5e-4)
    forces = {
        name: unexplained(hardware, write_log(log, tmp_path / f"{name}.csv"))
        for name, log in (("own", own), ("simulated", log_of(run)))
    }
    assert forces["own"] < 150.0
    assert forces["simulated"] < forces["own"]


@pytest.mark.quick
def test_forces_of_motors_are_named_so_in_logs(hardware, tmp_path):
    """They overcome friction, too; replays give them back as the field of samples."""
    machine = EmulatedMachine(hardware)
    sent = [machine.measurement, machine.step(), machine.step()]
    machine.close()
    log = log_of_samples(hardware, sent)
    assert "motor_forces" in log and "forces" not in log
    path = write_log(log, tmp_path / "run.csv")
    for each, first in zip(
        samples(open_source(f"replay:{path}", hardware), 1.0), sent, strict=True
    ):
        assert_array_equal(each.values["forces"], first.values["forces"])


@pytest.mark.slow
def test_friction_is_found_in_forces_of_motors(hardware):
    """Forces on the legs have none: taken for these, they would be refused.

    The emulated legs take steps of 0.5 ms against their transmissions, which looks like a mass that
    is 0.34 kg smaller, and a quarter of it with half the step.
    """
    friction = 1.3 * hardware.parameters.leg.drive.friction_torque
    changes = {"platform.body.mass": 103.0, "leg.drive.friction_torque": friction}
    hidden = hardware.with_(parameters=changes)
    log = emulated(hardware, hidden, sines(hardware, SPEEDS, 3.0))
    found = identify(hardware, [log], ",".join(changes))
    assert found.forces is not None and found.forces.signal == "motor_forces"
    assert abs(found.forces.estimate.values[1] / friction - 1.0) < 0.02
    assert abs(found.values[0] - 103.0) < 0.005 * 103.0
