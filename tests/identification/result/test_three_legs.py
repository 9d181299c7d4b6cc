"""Both stages on a tip-tilt table: three legs, whose hinges leave height, roll and pitch."""

import numpy as np
import pytest
from recorded_motion import moved, part
from refusals import refused
from three_legs import LIGHT_DRIVES

import twin
from twin.identification.excitation import excite
from twin.identification.parameters import prior_std_array, select
from twin.identification.prediction.recording import recording_of
from twin.identification.prediction.rollouts import synchronised
from twin.identification.result.identify import identify

TRUTH = {
    "platform.body.mass": 2.12,
    "platform.body.center_of_mass.0": 0.003,
    "platform.body.center_of_mass.2": 0.034,
    "leg.drive.friction": 1.8,
    "leg.drive.viscous": 34.0,
}

SHOWN = "platform.body.mass, platform.body.center_of_mass.*, platform.body.inertia.0.0, " + (
    "platform.body.inertia.1.1, leg.drive.friction, leg.drive.viscous"
)

DURATION = 5.0
"""[s]"""


@pytest.fixture(scope="module")
def tripod(tmp_path_factory):
    """The table as its file has it, with drives."""
    path = tmp_path_factory.mktemp("machine") / "tripod.toml"
    path.write_text(LIGHT_DRIVES)
    return twin.load(path)


@pytest.fixture(scope="module")
def motion(tripod):
    """The motion of `twin excite`."""
    return excite(tripod, select(tripod, "payload"), DURATION, seed=0).motion


@pytest.fixture(scope="module")
def log(tripod, motion):
    """The log of the hidden table."""
    return moved(tripod, TRUTH, motion, 1.25e-4)


def check_intervals(found):
    """Assert that the intervals are finite and hold the truth."""
    truth = np.array([TRUTH.get(each.path, each.nominal) for each in found.parameters])
    half_widths = found.margins * found.standard_errors
    assert np.isfinite(half_widths).all()
    assert (np.abs(found.values - truth) < half_widths).all()


@pytest.mark.slow
def test_encoders_show_payload_and_friction_within_their_intervals(tripod, log):
    found = identify(tripod, [part(log, "measured", "command_forces")], SHOWN)
    assert found.forces is None and not found.fixed
    check_intervals(found)
    ratios = found.standard_errors / prior_std_array(found.parameters)
    assert ratios.max() < 0.05


@pytest.mark.slow
def test_what_no_stage_shows_is_named_and_the_rest_is_found(tripod, log):
    """The legs leave hardly any yaw: encoders say next to nothing of the moment about it."""
    names = "platform.body.mass, platform.body.inertia.2.2"
    known = part(log, "measured", "command_forces")
    tight = {"platform.body.inertia.2.2": 1e-4}
    with refused(r"inertia zz .* does not show.*hold"):
        identify(tripod, [known], names, spreads=tight)
    found = identify(tripod, [known], names, spreads=tight, if_unobservable="hold")
    assert [each.path for each in found.fixed] == ["platform.body.inertia.2.2"]


@pytest.mark.slow
def test_predictions_refuse_nothing_that_forces_show(motion):
    """Encoders of ideal drives show little of the payload, exact forces all of it."""
    truth = {path: value for path, value in TRUTH.items() if path.startswith("platform")}
    given = moved(twin.load("tripod"), truth, motion, 5e-4)
    found = identify(twin.load("tripod"), [given], "payload")
    assert found.forces is not None and not found.fixed
    error = found.values - [truth.get(each.path, each.nominal) for each in found.parameters]
    assert (np.abs(error) < 1e-3 * prior_std_array(found.parameters)).all()


@pytest.mark.slow
def test_commands_of_motors_that_stick_are_on_the_same_clock(tmp_path, motion):
    """They lead the motion, by more than the drives' delay."""
    path = tmp_path / "sticky.toml"
    sticky = LIGHT_DRIVES.replace('"1.5 N"', '"3 N"').replace("scale", "breakaway = 1.2\nscale")
    path.write_text(sticky)
    machine = twin.load(path)
    truth = {"platform.body.mass": 2.12, "leg.drive.friction": 3.6}
    given = part(moved(machine, truth, motion, 2.5e-4), "measured", "command_forces")
    assert synchronised(recording_of(given, machine), machine)[1] != 0.0
    found = identify(machine, [given], list(truth))
    assert not any("clocks" in note for note in found.notes)
    assert found.values == pytest.approx(list(truth.values()), rel=2e-3)
