"""The table of an inertial sensor: units, defaults, refusals, and the data sheet of the thesis."""

import math

import pytest
from pydantic import ValidationError

import twin
from twin.machine.hardware.drive import InertialSensor


def test_the_sheet_of_the_thesis():
    sensor = twin.load("stewart", "hardware").parameters.imu
    assert sensor is not None
    assert (sensor.bandwidth, sensor.output_rate) == (75.0, 200.0)
    linear, angular = sensor.accelerometers, sensor.gyroscopes
    assert linear is not None
    assert angular is not None
    assert linear.range == pytest.approx(50.0 * 9.80665, rel=1e-12)
    assert linear.bias == pytest.approx(10e-3 * 9.80665, rel=1e-12)
    assert linear.noise == pytest.approx(5e-3 * 9.80665, rel=1e-12)
    assert (linear.scale_factor, angular.scale_factor) == (2000e-6, 500e-6)
    assert linear.misalignment == angular.misalignment == 400e-6
    hour = math.radians(1.0) / 3600.0
    assert angular.bias == pytest.approx(100.0 * hour, rel=1e-12)
    assert angular.instability == pytest.approx(5.0 * hour, rel=1e-12)
    assert angular.acceleration_sensitivity == pytest.approx(hour, rel=1e-12)
    assert angular.noise == pytest.approx(math.radians(0.5), rel=1e-12)
    assert twin.load("stewart").parameters.imu is None


def test_units_are_read():
    content = {"position": ["10 cm", 0.0, "2 mm"], "attitude": ["90 deg", 0.0, 0.0]}
    sensor = InertialSensor.model_validate({"source": "test", "bandwidth": "0.1 kHz"} | content)
    assert sensor.bandwidth == 100.0
    assert sensor.position == (0.1, 0.0, 0.002)
    assert sensor.attitude[0] == math.radians(90.0)


def test_what_is_no_sensor_is_refused(subtests):
    for content in [
        {"bandwidth": 0.0},
        {"bandwidth": "75 m"},
        {"damping_ratio": 1.0},
        {"damping_ratio": 0.0},
        {"output_rate": -1.0},
        {"gyroscopes": {"noise": 0.1}},
        {"gyroscopes": {"source": "test", "noise": -0.1}},
        {"gyroscopes": {"source": "test", "noise": math.nan}},
        {"gyroscopes": {"source": "test", "correlation_time": 0.0}},
        {"accelerometers": {"source": "test", "acceleration_sensitivity": 1.0}},
        {"accelerometers": {"source": "test", "scale_factor": 1.0}},
        {"temperature": 20.0},
    ]:
        with subtests.test(f"{content}"), pytest.raises(ValidationError):
            InertialSensor.model_validate({"source": "test"} | content)
