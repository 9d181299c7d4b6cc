"""Both stages on machines of other kinds: a light one with direct drives, one with cranks."""

import numpy as np
import pytest
from recorded_motion import AXES, moved, part, sines

import twin
from twin.identification.result.identify import identify

NUMBERS = ("platform.body.mass", "platform.body.center_of_mass.1", "leg.drive.delay")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "friction", "with_forces"),
    [("srspm", "leg.drive.friction", True), ("rss", "leg.drive.friction_torque", False)],
)
def test_hidden_numbers_are_found(name, friction, with_forces):
    """Forces alone are within their errors too, though light bodies hang on springy drives.

    At steps of 0.5 ms those of the log make the delay of `srspm` 7 us longer.
    """
    machine = twin.load(name, configuration="hardware")
    drive = machine.parameters.legs[0].drive
    body = machine.parameters.platform.body
    truth = {
        NUMBERS[0]: 1.06 * body.mass,
        NUMBERS[1]: body.center_of_mass[1] + 0.004,
        NUMBERS[2]: 1.5 * drive.delay,
        friction: 1.2 * getattr(drive, friction.rpartition(".")[2]),
    }
    motion = sines(machine, dict.fromkeys(AXES, 0.05), frequencies=np.array([0.9, 2.1, 3.7]))
    hidden = machine.with_(parameters=truth)
    log = moved(machine, truth, motion, 1.25e-4, model=hidden)
    kept = part(log, "measured", "command_forces", *["forces"] * with_forces)
    found = identify(machine, [kept], list(truth))
    error = np.abs(found.values - list(truth.values()))
    assert (found.forces is not None) == with_forces
    if found.forces is not None:
        estimate = found.forces.estimate
        left = estimate.values[:2] - list(truth.values())[:2]
        assert (np.abs(left) < 3.5 * estimate.standard_errors[:2]).all()
    assert (error < 1.5 * found.margins * found.standard_errors).all()
