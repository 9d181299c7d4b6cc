"""Trajectories in a notebook: their origin, and an animation that obeys the kinematics."""

import dataclasses
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused

import twin
from twin.simulation.recorded.files import ARRAY_FIELDS

pytestmark = pytest.mark.quick

SPIN = [0.0, 0.0, 0.1, 0.0, 0.3, 0.2]


@pytest.fixture(scope="module")
def run(stewart):
    """Return a short motion."""
    return stewart.simulate(0.2, twist=SPIN, fidelity="fast")


def points(trace):
    """Return the points `(m, 3)` of a line."""
    return np.column_stack([trace.x, trace.y, trace.z]).astype(float)


def test_a_notebook_shows_the_origin(run):
    text = dataclasses.replace(run, stopped="<b> & more")._repr_html_()
    shown = "".join(ElementTree.fromstring(text.replace("<br>", "<br/>")).itertext())
    for word in ("stewart", "analytic", "201 times", "<b> &"):
        assert word in shown


def test_a_motion_without_rows_has_no_animation(run):
    none = dataclasses.replace(run, **{name: getattr(run, name)[:0] for name in ARRAY_FIELDS})
    with refused("no rows"):
        none.animate()


@pytest.mark.parametrize("name", twin.machine_names())
def test_lines_are_as_long_as_the_legs(name):
    platform = twin.load(name)
    run = platform.simulate(0.1, timestep=5e-4, fidelity="fast")
    figure = run.animate()
    assert len(figure.frames) == 3
    count = platform.n_actuators
    for frame, row in zip(figure.frames, (0, 100, 200), strict=True):
        assert float(frame.name) == pytest.approx(run.time[row], rel=1e-3)
        legs = [points(trace) for trace in frame.data[1 : count + 1]]
        sizes = np.array([np.linalg.norm(np.diff(leg, axis=0), axis=1) for leg in legs])
        if platform.leg.has_crank:
            leg = platform.leg
            expected = np.tile([leg.crank_length, leg.rod_length], (count, 1))
        else:
            tips = [np.linalg.norm(leg[-1] - leg[0]) for leg in legs]
            expected = np.array(tips)[:, None]
            if platform.kind == "ups":
                assert_allclose(tips, run.lengths[row], rtol=1e-6)
        assert_allclose(sizes, expected, rtol=1e-5)
        base, top = points(frame.data[0]), points(frame.data[count + 1])
        assert base.shape == top.shape == (count + 1, 3)
        assert_array_equal(base[0], base[-1])


def test_it_plays_at_the_speed_of_the_motion(run):
    figure = run.animate()
    wait = figure.layout.updatemenus[0].buttons[0].args[1]["frame"]["duration"]
    assert wait * (len(figure.frames) - 1) == pytest.approx(200.0)
    assert "stewart in analytic" in figure.to_json()


def test_the_machine_is_found_or_given(run, stewart, srspm):
    heavy = stewart.with_(payload=10.0)
    changed = heavy.simulate(0.01)
    assert len(changed.animate(heavy).frames) == 2
    with refused("with parameters that no shipped machine has"):
        changed.animate()
    with refused("has other parameters"):
        run.animate(srspm)
    assert len(run.animate("stewart").frames) == 5
