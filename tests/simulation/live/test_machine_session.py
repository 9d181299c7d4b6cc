"""Live runs: the same dynamics as simulated ones, whatever is changed on the way."""

from contextlib import contextmanager

import numpy as np
import pytest
from conftest import MACHINES
from numpy.testing import assert_allclose
from refusals import refused
from scipy.spatial.transform import Rotation
from tolerance import assert_within, max_abs

import twin
from twin.control import make_controller
from twin.control.controller import still_reference
from twin.engines import engine_names
from twin.errors import InputError, StateError
from twin.motion import Motion
from twin.motion.specification import MotionSpecification
from twin.simulation.live.live_machine import as_disturbance
from twin.simulation.live.machine_session import MachineSession
from twin.simulation.live.settings import (
    gain_unit,
    gains_of,
    make_controller_with_gains,
)


@contextmanager
def session(machine="stewart", **settings):
    made = MachineSession(machine, **settings)
    try:
        yield made
    finally:
        made.close()


def some_target(run, share=0.2):
    high = np.array([axis.high for axis in run.axes])
    return share * high * np.where(np.arange(len(high)) % 2, -1.0, 1.0)


def poses(run):
    return run.trajectory().pose


class Travelled(Motion):
    """The course of a session, as a motion that is known from the start."""

    def __init__(self, run, duration):
        super().__init__(run.platform.home, duration, run.steering.axes.convention)
        self._set(course=run.steering.trajectory)

    def _axes(self, time):
        return self.course.sample(time)


@pytest.mark.parametrize("controller", ["cascade", "computed_torque"])
def test_a_live_run_is_the_simulated_one(controller):
    """References in windows, renewed on the way, against one reference known from the start."""
    with session(engine="analytic", controller=controller) as run:
        run.move_to(some_target(run))
        whole = Travelled(run, 2.0)
        law = make_controller(controller, run.platform, whole)
        wanted = twin.simulate(run.platform, 1.5, controller=law, fidelity="fast")
        run.advance(1.5)
        # Rows made anew by finite differences at their edges differ by rounding.
        assert_within(poses(run), wanted.pose[:-1], 1e-11)
        assert_within(run.trajectory().signals["setpoint"], wanted.signals["setpoint"], 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", MACHINES)
def test_every_machine_goes_where_it_is_sent(name):
    with session(name) as run:
        run.move_to(some_target(run))
        run.advance(3.0)
        assert not run.message
        assert_allclose(run.setpoint, run.target, rtol=1e-9)
        last = {chart: run.history.values(chart)[-1] for chart in ("position", "rotation")}
        for values in last.values():
            wanted, measured = np.split(values, 2)
            assert_allclose(measured, wanted, rtol=0.05, atol=2e-4)
        for push in ([50.0, 0.0, 20.0], [0.0, -50.0, 20.0]):
            run.disturb(0.1 * np.array(push), duration=0.05)
            run.advance(0.3)
        assert not run.stopped


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["setpoint", "forces"])
@pytest.mark.parametrize("engine", engine_names())
def test_an_engine_beside_itself_is_the_same(engine, kind):
    """Begun in the middle of a motion, with drives and a controller that have a past."""
    with session(engine=engine, configuration="hardware") as run:
        run.move_to(some_target(run))
        run.advance(0.2)
        run.configure(comparison=engine, comparison_input=kind)
        run.disturb([200.0, 0.0, 0.0], duration=0.05)
        run.advance(0.3)
        assert np.array_equal(run.difference, [0.0, 0.0])


def test_default_constraint_settings_show_at_once():
    """What the viewer is for: the reference against MuJoCo's loops, held well and as shipped."""
    with session(engine="analytic", fidelity="accurate", comparison="mujoco") as run:
        run.move_to(some_target(run))
        run.advance(0.5)
        good = run.difference[0]
        run.configure(comparison_defaults=True)
        run.advance(0.5)
        assert run.difference[0] > 1e3 * good
        assert run.difference[0] > 1e-4
        gaps = run.history.values("loop_gap")[-1]
        assert gaps[1] > 1e-4
        assert run.comparison_scene is not None
        run.configure(comparison=None)
        assert run.difference is None
        assert run.comparison_scene is None


def test_engines_change_under_a_motion():
    with session(engine="analytic", controller="computed_torque") as run:
        motion = MotionSpecification("sine", "z", 0.01, 1.0, 2.0).motion_of(run.platform)
        assert motion is not None
        run.play(motion, loop=True)
        errors = []
        for engine in ("mujoco", "bullet", "analytic"):
            run.advance(0.5)
            before = run.scene.pose
            run.configure(engine=engine)
            assert_within(run.scene.pose, before, 1e-7)
            run.advance(0.5)
            assert len(run.trajectory()) == 500
            assert run.trajectory().engine == engine
            history = run.history.values("position")
            errors.append(max_abs(history[-10:, 2] - history[-10:, 5]))
        assert max(errors) < 1e-4
        assert run.time == pytest.approx(3.0)


def test_controllers_and_gains_change_under_a_motion():
    with session(engine="analytic") as run:
        usual = run.gains
        assert usual["position_gain"] > 0.0
        run.move_to(some_target(run))
        run.advance(0.3)
        run.configure(gains={"position_gain": 2.0 * usual["position_gain"]})
        assert run.gains["position_gain"] == pytest.approx(2.0 * usual["position_gain"])
        run.advance(0.3)
        run.configure(controller="computed_torque")
        assert set(run.gains) == {"bandwidth", "damping", "integral_share"}
        run.advance(1.0)
        assert not run.message
        jumps = max_abs(np.diff(run.trajectory().twist[:, :3], axis=0))
        assert jumps < 0.01
        run.configure(controller="cascade")
        assert run.gains == pytest.approx(usual)


def test_a_gain_that_hardly_changes_hardly_shows():
    """The machine's file lets feedforward rise when the loop begins, and only then."""

    def largest_error(run):
        run.advance(0.6)
        shown = run.history.values("position")[-18:]
        return float(max_abs(shown[:, :3] - shown[:, 3:]))

    with session(engine="analytic") as run:
        motion = MotionSpecification("sine", "z", None, 1.0, 2.0).motion_of(run.platform)
        assert motion is not None
        run.play(motion, loop=True)
        run.advance(2.0)
        usual = largest_error(run)
        run.configure(gains={"position_gain": 1.0001 * run.gains["position_gain"]})
        assert largest_error(run) < 2.0 * usual
        assert usual < 1e-4


def test_refused_changes_change_nothing(subtests):
    for changes, field in [
        ({"engine": "newton"}, "engine"),
        ({"gains": {"nonsense": 1.0}}, "gains"),
        ({"gains": {"position_gain": float("nan")}}, "gains"),
        ({"gains": {"velocity_gain": 1e12}}, "controller"),
        ({"configuration": "nonsense"}, "configuration"),
        ({"comparison_input": "wishes"}, "comparison_input"),
        ({"colour": "red"}, "colour"),
    ]:
        with (
            subtests.test(f"{changes}"),
            session(engine="analytic") as run,
            session(engine="analytic") as other,
        ):
            for each in (run, other):
                each.move_to(some_target(each))
                each.advance(0.05)
            settings = run.settings
            with refused() as caught:
                run.configure(**changes)
            assert caught.value.field.partition(".")[0] == field
            assert run.settings == settings
            for each in (run, other):
                each.advance(0.05)
            assert np.array_equal(poses(run), poses(other))


def test_a_machine_driven_unstable_stops_says_why_and_begins_anew():
    with session() as run:
        run.configure(gains={"position_gain": 3000.0})
        run.disturb([2000.0, 0.0, 0.0], duration=0.2)
        run.advance(4.0)
        assert "at their limits" in run.stopped or "unstable" in run.stopped
        assert run.message == run.stopped
        assert run.trajectory().stopped == run.stopped
        time = run.time
        run.advance(1.0)
        assert run.time == time
        run.configure(gains={})
        assert not run.stopped
        assert run.time == 0.0
        run.advance(0.5)
        assert not run.message


def test_loops_that_open_stop_the_engine_and_not_the_program():
    with session("rss", comparison="mujoco", comparison_defaults=True) as run:
        run.disturb([1e6, 0.0, 0.0], duration=0.5)
        run.advance(2.0)
        assert run.stopped
        assert np.isfinite(run.scene.pose).all()
        assert run.comparison_scene is not None
        run.reset()
        assert not run.stopped
        assert len(run.history) == 0


def test_resets_give_the_same_run():
    with session(engine="mujoco", configuration="hardware") as run:
        runs = []
        for _ in range(2):
            run.reset()
            run.move_to(some_target(run))
            run.advance(0.2)
            runs.append(poses(run))
        assert np.array_equal(*runs)


def test_time_is_advanced_in_whole_periods_and_none_is_lost():
    with session(engine="analytic") as run:
        for _ in range(300):
            run.advance(1.0 / 3000.0)
        assert run.time == pytest.approx(0.1, abs=1e-3 + 1e-9)
        assert len(run.history) == pytest.approx(3, abs=1)
        for duration in (float("nan"), -1.0):
            with refused("duration"):
                run.advance(duration)


def test_a_push_ends_and_moves_the_machine():
    with session(engine="analytic") as run:
        run.disturb([300.0, 0.0, 0.0], duration=0.02)
        assert run.disturbance is not None
        run.advance(0.01)
        assert run.disturbance is not None
        run.advance(0.02)
        assert run.disturbance is None
        assert max_abs(run.trajectory().twist[:, 0]) > 1e-4
        with refused("duration"):
            run.disturb([1.0, 0.0, 0.0], duration=0.0)
        with refused("force"):
            run.disturb([1.0, 0.0], duration=1.0)


def test_the_power_of_a_push_is_that_at_its_point():
    generator = np.random.default_rng(3)
    quaternion = generator.normal(size=4)
    pose = np.concatenate([[0.1, 0.2, 0.3], quaternion / np.linalg.norm(quaternion)])
    force, moment, point, velocity, turning = generator.normal(size=(5, 3))
    push = as_disturbance(force, moment, point, 0.1)
    arm = Rotation.from_quat(pose[3:], scalar_first=True).apply(point)
    power = force @ (velocity + np.cross(turning, arm)) + moment @ turning
    assert_allclose(push.wrench(pose) @ [*velocity, *turning], power, rtol=1e-12)


def test_margins_and_loads_are_shares():
    with session("stewart") as run:
        run.advance(0.1)
        assert run.utilisation.shape == run.loads.shape == (6,)
        assert ((run.utilisation > 0.0) & (run.utilisation < 1.0)).all()
        assert ((run.stroke_margin > 0.8) & (run.stroke_margin <= 1.0)).all()
        run.move_to([0.0, 0.0, run.axes[2].high, 0.0, 0.0, 0.0])
        run.advance(3.0)
        assert run.stroke_margin.min() < 0.05


def test_what_was_recorded_replays_and_saves(tmp_path):
    with session(engine="mujoco") as run:
        with pytest.raises(StateError, match="recorded"):
            run.trajectory()
        run.move_to(some_target(run))
        run.advance(0.2)
        saved = run.trajectory().save(tmp_path / "run.npz")
    found = twin.Trajectory.load(saved)
    assert len(found) == 200
    assert found.parameters_hash == run.platform.hash
    assert_allclose(np.diff(found.time), 1e-3, rtol=1e-9)
    signals = found.signals
    assert {"setpoint", "measured", "command", "reference_pose", "time"} <= set(signals)
    assert_within(signals["measured"], found.lengths, 1e-9)


def test_an_occupant_weighs_on_the_legs_and_stays():
    with session("driving_simulator", engine="analytic") as run:
        run.advance(0.2)
        empty, mass = run.loads.sum(), run.platform.parameters.platform.body.mass
        run.configure(payload="wheelchair")
        assert run.payload is not None
        run.advance(0.2)
        added = run.platform.parameters.platform.body.mass - mass
        assert added == pytest.approx(75.0 + run.payload.wheelchair.mass)
        weight = added * run.platform.parameters.gravity
        assert run.loads.sum() - empty == pytest.approx(weight, rel=1e-6)
        run.reset()
        assert run.platform.parameters.platform.body.mass == pytest.approx(mass + added)


def test_gains_can_be_read_and_given_back(subtests):
    """What a controller tells of its gains makes the same controller, and each has a known unit."""
    for name in ["cascade", "iff", "dvf", "hac_lac"]:
        with subtests.test(f"{name}"):
            platform = twin.load("compliant_stewart")
            gains = gains_of(make_controller(name, platform))
            assert gains
            again = gains_of(make_controller(name, platform, **gains))
            assert again == pytest.approx(gains, rel=1e-12)
            assert all(gain_unit(name, gain, platform) for gain in gains)


def test_a_refused_controller_hears_why():
    """Gains that it does not have are named with those that it has; another period with both."""
    platform = twin.load("compliant_stewart")
    at_2_ms, at_1_ms = (still_reference(platform, platform.home, step) for step in (2e-3, 1e-3))
    without_rows = at_1_ms._replace(time=at_1_ms.time[:0])
    for name, reference, gains, message in [
        ("dvf", at_1_ms, {"integral": 1.0}, r"gains\.integral: .* its gains are gain, stiffness$"),
        ("lqr", at_1_ms, {"weights": 1.0}, r"gains\.weights: .* lqr; it has none$"),
        ("cascade", at_2_ms, {}, "controller: cascade .* 2 ms, not the controller's 1 ms$"),
        ("cascade", without_rows, {}, f"controller: cascade .* fit {platform.name}: .* again$"),
    ]:
        with pytest.raises(InputError, match=message):
            make_controller_with_gains(name, platform, reference, gains)
