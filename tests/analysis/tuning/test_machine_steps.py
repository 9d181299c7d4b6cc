"""Steps of whole machines: against the closed form, tuned, and written as TOML."""

import tomllib

import pytest
from refusals import refused

import twin
from twin.analysis.tuning.steps import PositionStudy, VelocityStudy
from twin.analysis.tuning.tuning import control_snippet, step_figures, tuning_figure
from twin.machine.hardware.drive import CascadeGains
from twin.papers.stewart_thesis import heave_leg


@pytest.mark.parametrize("name", ["stewart", "srspm", "rss", "driving_simulator"])
def test_every_rigid_machine_can_be_tuned(name):
    tuning = VelocityStudy().tune(twin.load(name))
    assert tuning.search.met
    for value, gain in zip(tuning.values, tuning.gains, strict=True):
        assert gain.low <= value <= gain.high


def test_the_snippet_is_a_control_table():
    platform = twin.load("stewart")
    tuning = VelocityStudy().tune(platform)
    table = tomllib.loads(control_snippet(platform, tuning))["control"]
    gains = CascadeGains.model_validate(table)
    assert gains.velocity_gain == pytest.approx(tuning.values[0], rel=1e-3)
    assert gains.velocity_time == pytest.approx(tuning.values[1], rel=1e-3)
    assert (gains.position_gain, gains.position_integral) == (5.0, 10.0)
    assert len(tuning_figure(tuning).data) == len(tuning.search.trials) + 2


def test_bounds_scale_with_what_the_actuators_move():
    stewart, srspm = (VelocityStudy().gains(twin.load(name))[0] for name in ("stewart", "srspm"))
    assert (stewart.low, stewart.high) == (5e3, 30e3)
    masses = [heave_leg(twin.load(name)).mass for name in ("stewart", "srspm")]
    assert srspm.low / stewart.low == pytest.approx(masses[1] / masses[0], rel=1e-2)


def test_position_step_settles_in_the_thesis_time():
    time, response = PositionStudy().response(twin.load("stewart"))
    figures = step_figures(time, response, PositionStudy.specification)
    assert 1.5 < figures.settling_time < 2.0
    with refused("range"):
        PositionStudy(size=0.2).response(twin.load("stewart"))
