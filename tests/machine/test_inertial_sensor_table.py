"""The table of an inertial sensor: units, defaults, refusals, and the data sheet of the thesis."""

import math

import pytest
from pydantic import ValidationError

from twin.machine.hardware.drive import InertialSensor


def test_units_are_read():
    content = {"position": ["10 cm", 0.0, "2 mm"], "attitude": ["90 deg", 0.0, 0.0]}
    sensor = InertialSensor.model_validate({"source": "test", "bandwidth": "0.1 kHz"} | content)
    assert sensor.bandwidth == 100.0
    assert sensor.position == (0.1, 0.0, 0.002)
    assert sensor.attitude[0] == math.radians(90.0)


@pytest.mark.parametrize(
    "content",
    [
        {"bandwidth": "75 m"},
        {"damping_ratio": 1.0},
        {"gyroscopes": {"source": "test", "noise": -0.1}},
        {"accelerometers": {"source": "test", "acceleration_sensitivity": 1.0}},
        {"accelerometers": {"source": "test", "scale_factor": 1.0}},
    ],
)
def test_what_is_no_sensor_is_refused(content):
    with pytest.raises(ValidationError):
        InertialSensor.model_validate({"source": "test"} | content)
