"""The shaken base: the linear model's resonance in all engines, bad input."""

import numpy as np
import pytest
from refusals import assert_all_refused
from tolerance import assert_within

import twin
from twin.analysis.frequency.linear import SweepSettings, measure_transmissibility

SWEEP = SweepSettings(low=100.0, high=300.0, length=0.2, decay=0.15)


@pytest.mark.parametrize(
    "engine", ["analytic", "mujoco", pytest.param("bullet", marks=pytest.mark.slow)]
)
def test_resonance_is_where_the_linear_model_has_it(engine):
    pytest.importorskip({"bullet": "pybullet"}.get(engine, "mujoco"))
    machine = twin.load("micro_hexapod")
    found = measure_transmissibility(machine, "y", SWEEP, acceleration=1.0, engine=engine)
    largest = int(np.abs(found.linear).argmax())
    assert np.abs(found.linear[largest]) > 5.0
    assert_within(found.measured, found.linear, 0.02 * np.abs(found.linear[largest]))


@pytest.mark.slow
def test_a_machine_on_pillars_is_shaken_along_z_alone():
    machine = twin.load("driving_simulator")
    sweep = SweepSettings(5.0, 20.0, length=0.5, decay=0.5, timestep=5e-4, holding=(1e5, 2e3))

    def measured(axis):
        return measure_transmissibility(machine, axis, sweep, acceleration=0.1, engine="analytic")

    found = measured("z")
    assert_within(found.measured, found.linear, 0.05 * np.abs(found.linear).max())
    assert_all_refused(measured, [("x", "axis"), ("y", "axis")])


def test_bad_input_is_refused():
    machine = twin.load("micro_hexapod")
    assert_all_refused(
        lambda axis, acceleration, wrong: measure_transmissibility(
            machine, axis, SWEEP._replace(**wrong), acceleration=acceleration
        ),
        [
            ("roll", 1.0, {}, "axis"),
            ("x", 0.0, {}, "acceleration"),
            ("x", 1.0, {"low": -1.0}, "low"),
            ("x", 1.0, {"decay": np.nan}, "decay"),
        ],
    )
