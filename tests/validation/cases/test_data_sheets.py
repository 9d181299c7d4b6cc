"""Closed forms for drives and sensors, and the tumble test of an inertial sensor."""

from math import pi

import numpy as np
import pytest
from tolerance import assert_within

from twin.plant.inertial_sensor import InertialUnit
from twin.validation.cases.inertial_sensor.case import thesis_sensor
from twin.validation.cases.inertial_sensor.data_sheet import separated_errors, sheet_measures
from twin.validation.published import typed_numbers

pytestmark = pytest.mark.quick


def test_the_motor_at_the_leg_follows_from_the_data_sheet():
    table, turns = typed_numbers("stewart")["drive_at_leg"], 2.0 * pi / 0.00508
    per_speed = 0.14 / (1000.0 * 2.0 * pi / 60.0)
    expected = 0.00047 * turns**2, 0.23 * turns, per_speed * turns**2, 8.81 * turns
    found = [table[name] for name in ("inertia", "friction", "viscous", "brake")]
    assert found == pytest.approx(expected, rel=1e-15)


def test_the_tumble_test_finds_the_errors_of_a_sensor():
    sensor = thesis_sensor()
    still = {
        name: getattr(sensor, name).model_copy(update={"noise": 0.0, "instability": 0.0})
        for name in ("accelerometers", "gyroscopes")
    }
    exact = sensor.model_copy(update=still | {"bandwidth": None, "output_rate": None})
    found = separated_errors(exact, 2)
    drawn = InertialUnit(exact, seed=1).errors
    own, diagonal = drawn.matrix[:3, :3], np.eye(3, dtype=bool)
    pairs = {
        "accelerometers.scale_factor": np.diag(own) - 1.0,
        "accelerometers.misalignment": own.T[~diagonal],
        "accelerometers.bias": drawn.bias[:3],
        "gyroscopes.acceleration_sensitivity": 9.80665 * drawn.matrix[3:, :3].T.ravel(),
        "gyroscopes.bias": drawn.bias[3:],
    }
    for name, expected in pairs.items():
        assert_within(found[name][1], expected, 1e-13)


def test_the_thesis_sensor_keeps_its_data_sheet():
    found = list(sheet_measures(thesis_sensor()))
    assert len(found) >= 16
    assert {measure.verdict for measure in found} == {"pass"}
