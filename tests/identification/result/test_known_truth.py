"""Machines of the rig, which share neither drives nor friction with the model."""

import numpy as np
import pytest
from recorded_motion import nominal

from twin.identification.result.identify import identify, suggested
from twin.motion.profiles import MultiSineMotion
from twin.validation.rig import Conditions, record

PARAMETERS = "platform.body.mass, platform.body.inertia.*, leg.drive.friction_torque"
TRUTH = {
    "platform.body.mass": 104.6,
    "platform.body.inertia.0.0": 1.15,
    "platform.body.inertia.2.2": 2.1,
    "leg.drive.friction_torque": 0.25,
}


def motion():
    return MultiSineMotion(
        nominal().home,
        frequencies=[0.5, 1.1, 2.3, 3.1],
        amplitude={"x": 2e-3, "y": 2e-3, "z": 2e-3, "roll": 0.01, "pitch": 0.01, "yaw": 0.01},
        duration=6.0,
        phases="random",
        fade_in=0.5,
        fade_out=0.5,
    )


def by_path(found):
    """Return values and half-widths of the intervals by the paths of the parameters."""
    paths = [each.path for each in found.parameters]
    pairs = (found.values, found.margins * found.standard_errors)
    return [dict(zip(paths, numbers, strict=True)) for numbers in pairs]


@pytest.mark.slow
def test_a_clean_machine_is_found_within_its_intervals():
    """Inertias are right within one per cent: the step of the simulation leaves no bias."""
    log = record(nominal().with_(parameters=TRUTH), motion(), model=nominal())
    found = identify(nominal(), [log], PARAMETERS)
    values, margins = by_path(found)
    for path, true in TRUTH.items():
        assert abs(values[path] - true) < 1.3 * margins[path]
        assert "friction" in path or abs(values[path] - true) < 0.01 * true
    assert found.fits[-1].after < 1.2 * 1.24e-6 / np.sqrt(12.0)
    assert found.patterns == ()
    assert np.isfinite(found.margins).all()


@pytest.mark.slow
def test_intervals_hold_on_a_base_that_resonates():
    """What is missed is small and looks like inertia in all windows."""
    conditions = Conditions(base_frequency=25.0)
    log = record(nominal().with_(parameters=TRUTH), motion(), conditions, model=nominal())
    found = identify(nominal(), [log], PARAMETERS)
    values, margins = by_path(found)
    assert any("persist" in note for note in found.notes)
    assert all(abs(values[path] - true) < margins[path] for path, true in TRUTH.items())
    assert margins["platform.body.mass"] < 0.005 * 104.6


@pytest.mark.slow
def test_a_cable_is_named_and_its_term_pays():
    conditions = Conditions(cable_stiffness=3000.0, cable_force=(20.0, 0.0, -10.0))
    heavier = nominal().with_(parameters={"platform.body.mass": 104.6})
    log = record(heavier, motion(), conditions, model=nominal())
    found = suggested(nominal(), [log], "platform.body.mass", if_unobservable="prior")
    assert any("cable kept" in note for note in found.notes)
    assert abs(found.values[0] - 104.6) < 0.005 * 104.6


@pytest.mark.slow
def test_forces_of_motors_have_no_interval_where_the_model_misses_much():
    """They pass the same drives under the same cable as the predictions."""
    conditions = Conditions(
        cable_stiffness=3000.0,
        cable_force=(20.0, 0.0, -10.0),
        motor_constants=(1.03, 0.97, 1.0, 0.98, 1.02, 1.0),
    )
    log = record(nominal(), motion(), conditions, forces="motor")
    names = "platform.body.mass, platform.body.center_of_mass.*, leg.drive.friction_torque"
    found = identify(nominal(), [log], names, if_unobservable="prior")
    assert found.forces is not None and found.forces.signal == "motor_forces"
    assert np.isinf(found.margins).all()
    assert "withheld" in " ".join(found.notes)
