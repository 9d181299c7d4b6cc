"""Edges of the closed loop: odd gains, commands and references, ends of motions, used-up parts."""

import numpy as np
import pytest
from closed_loops import heave, run
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused
from tolerance import assert_within, max_abs

import twin
from twin.control import make_controller
from twin.control.cascade import Cascade
from twin.control.controller import Controller, Reference, Supervisor, sample_reference
from twin.control.loop import RAMP_TIME
from twin.errors import SingularPoseError, StateError
from twin.motion import SineMotion
from twin.plant.plant import Plant
from twin.plant.signals import Command

HALT = 50
"""Control period in which a written controller fails."""


class Written(Controller):
    """Does what a test says."""

    name = "written"

    def __init__(self, platform, law, told=None):
        super().__init__(platform)
        self.law, self.told = law, told

    def start(self, measurement):
        """Nothing to begin."""

    def update(self, step, measurement):
        """Return what the law says."""
        return self.law(step, measurement)

    def signals(self):
        """Return what the test tells."""
        return {} if self.told is None else self.told()


@pytest.fixture(scope="module")
def hardware():
    return twin.load("stewart", "hardware")


def holding(platform):
    """Return the forces that hold a machine at home."""
    return platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6))


def still(step, measurement):
    """Return zero speeds."""
    return Command(np.zeros(6))


def failing(before):
    """Return a law that gives one command, and no numbers from period `HALT` on."""
    return lambda step, _: before if step < HALT else Command(np.full(6, np.nan))


def short_course(platform, duration=0.3):
    """Return a motion that ends on the way, with speed and acceleration."""
    return SineMotion(
        platform.home, amplitude={"z": 0.01}, frequency=1.0, duration=duration, fade_in=0.1
    )


def test_integral_times_below_a_step_are_stopped_before_anything_moves(
    subtests,
):
    for configuration in [None, "hardware"]:
        for time in [1e-320, 1e-9, 4e-4]:
            with subtests.test(f"{configuration}, {time}"):
                platform = twin.load("stewart", configuration)
                course = run(platform, Cascade(platform, heave(platform), velocity_time=time), 1.0)
                assert "integral time" in course.stopped
                assert "(at 0 s)" in course.stopped
                assert_allclose(course.lengths, course.lengths[[0]].repeat(len(course), 0), 0, 1e-6)


@pytest.mark.parametrize("feedforward", [500.0, 1e9])
def test_a_stop_takes_over_what_feedforward_gave_and_no_more(feedforward, hardware):
    """A feedforward beyond the drives' peak once pushed a stopped machine into its end stops."""
    law = failing(Command(np.zeros(6), feedforward=np.full(6, feedforward)))
    course = run(hardware, Written(hardware, law), 1.2)
    assert "not finite" in course.stopped
    at_stop = int(np.searchsorted(course.time, HALT * 1e-3))
    way = np.abs(course.lengths[-1] - course.lengths[at_stop])
    assert (way < 0.6 * RAMP_TIME * np.abs(course.rates[at_stop]) + 2e-5).all()
    assert max_abs(course.forces[at_stop:]) < 1.5 * max_abs(course.forces[:at_stop])


def test_stops_out_of_force_mode_do_not_add_unused_feedforward(hardware):
    law = failing(Command(holding(hardware), "force", np.full(6, 3000.0)))
    course = run(hardware, Written(hardware, law), 1.0)
    assert course.stopped
    assert_within(course.lengths[-1], course.lengths[0], 1e-9)


@pytest.mark.parametrize("configuration", [None, "hardware"])
def test_modes_can_be_switched_without_a_bump(configuration):
    platform = twin.load("stewart", configuration)
    held, added = holding(platform), np.full(6, 200.0)
    turns = (
        Command(held, "force", added),
        Command(np.zeros(6), feedforward=added),
        Command(held, "force"),
        Command(np.zeros(6)),
    )
    course = run(platform, Written(platform, lambda step, _: turns[step // 30 % 4]), 0.25)
    assert course.stopped == ""
    assert_within(course.lengths[-1], course.lengths[0], 1e-9)


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        np.zeros(6),
        Command(np.zeros(5)),
        Command(np.zeros(())),
        Command(["fast"] * 6),
        Command([0.0, [1.0, 2.0]]),
        Command(np.zeros(6), "torque"),
        Command(np.zeros(6), feedforward=np.zeros(2)),
        Command(np.zeros(6), brakes=np.zeros(7)),
    ],
)
def test_what_is_no_command_is_refused(wrong, hardware):
    with refused("controller"):
        run(hardware, Written(hardware, lambda step, measurement: wrong), 0.01)


def test_brakes_that_are_no_numbers_stop(hardware):
    law = failing(Command(np.zeros(6), brakes=np.zeros(6)))
    bad = Command(np.zeros(6), brakes=np.full(6, np.nan))
    course = run(hardware, Written(hardware, lambda k, m: bad if k > HALT else law(0, m)), 0.1)
    assert "brake command is not finite" in course.stopped


@pytest.mark.parametrize("configuration", [None, "hardware"])
def test_controllers_may_use_their_arrays_again(configuration):
    platform = twin.load("stewart", configuration)
    command, told = np.zeros(6), np.zeros(2)

    def law(step, measurement):
        command[:] = 1e-3 * np.sin(0.1 * step)
        told[:] = step
        measurement.coordinates[:] = measurement.rates[:] = 0.0
        return Command(command)

    used = run(platform, Written(platform, law, lambda: {"told": told}), 0.1)
    fresh = run(
        platform,
        Written(platform, lambda step, _: Command(np.full(6, 1e-3 * np.sin(0.1 * step)))),
        0.1,
    )
    assert_array_equal(used.pose, fresh.pose)
    assert_array_equal(used.lengths, fresh.lengths)
    assert_array_equal(used.signals["command"], fresh.signals["command"])
    assert_array_equal(used.signals["told"][:, 0], np.arange(100.0))


def test_signals_that_are_no_numbers_stop(stewart):
    """An estimate that ran away must not cost the whole trajectory."""
    values = iter([1.0] * 20 + [np.inf] * 2000)
    course = run(
        stewart, Written(stewart, still, lambda: {"estimate": np.array([next(values)])}), 1.0
    )
    assert "estimate is not finite" in course.stopped
    assert course.time[-1] < 1.0
    assert np.isfinite(course.signals["estimate"]).all()


@pytest.mark.parametrize("names", [["time"], ["setpoint"], ["a", "b"]])
def test_signals_keep_their_names_and_leave_those_of_the_loop(names, stewart):
    told = iter(names * 100)
    with refused("signals"):
        run(stewart, Written(stewart, still, lambda: {next(told): np.zeros(2)}), 0.01)


def test_errors_of_the_state_end_in_a_safe_stop(stewart):
    for kind in (StateError, SingularPoseError):

        def law(step, measurement, kind=kind):
            if step < HALT:
                return Command(np.zeros(6))
            raise kind("no way on")

        course = run(stewart, Written(stewart, law), 1.0)
        assert course.stopped.startswith("no way on")
        assert course.time[-1] < 1.0


@pytest.mark.parametrize("every", [1, 2])
def test_engines_that_give_up_at_once_leave_a_trajectory(every, stewart):
    for options in (
        {"wrench": np.full(6, 1e300)},
        {"wrench": lambda time, state: np.full(6, 1e300)},
    ):
        course = run(stewart, Cascade(stewart), 0.1, every=every, **options)
        assert "overflows" in course.stopped
        assert len(course) == len(course.forces) == 1
    push = Command(np.full(6, 1.5e308), feedforward=np.full(6, 1.5e308))
    course = run(stewart, Written(stewart, lambda step, _: push), 0.1, every=every)
    assert course.stopped
    assert np.isfinite(course.forces).all()


def test_kept_rows_are_rows_of_the_whole_run(subtests, hardware):
    """Also where a safe stop ends the run between two kept rows."""
    for every in [2, 5, 30]:
        with subtests.test(f"{every}"):
            controller = Cascade(hardware, heave(hardware))
            silent = Plant(hardware, dropouts=[(0.1, 9.0)])
            whole = run(hardware, controller, 1.2, plant=silent)
            kept = run(hardware, controller, 1.2, plant=silent, every=every)
            assert kept.stopped == whole.stopped
            rows = np.arange(0, len(whole), every)
            for name in ("time", "pose", "rates"):
                assert_array_equal(getattr(kept, name), getattr(whole, name)[rows])
            assert_array_equal(kept.forces[:-1], whole.forces[rows][:-1])
            assert_array_equal(kept.signals["command"], whole.signals["command"])


def test_machines_stand_where_a_motion_broke_off(subtests, stewart):
    """Speed and acceleration of the last row were held for ever: an error that stayed."""
    for name in ["computed_torque", "lqr", "cascade"]:
        with subtests.test(f"{name}"):
            course = run(stewart, make_controller(name, stewart, short_course(stewart)), 1.2)
            assert course.stopped == ""
            error = np.abs(course.signals["setpoint"] - course.signals["measured"])[-1].max()
            assert error < (1e-3 if name == "cascade" else 1e-9)


@pytest.mark.parametrize("name", ["stewart", "compliant_stewart", "micro_hexapod"])
def test_far_poses_stop_every_kind_of_leg(name):
    platform = twin.load(name)
    far = SineMotion(platform.home, amplitude={"z": 50.0}, frequency=1.0, duration=0.5)
    reference = sample_reference(platform, far)
    assert not reference.reachable.all()
    assert all(np.isfinite(part).all() for part in reference[1:])
    course = run(platform, Cascade(platform, far), 0.5)
    assert course.stopped
    assert np.isfinite(course.pose).all()


def test_references_that_cannot_be_used_are_refused(stewart):
    good = sample_reference(stewart, heave(stewart, 0.1))
    assert Cascade(stewart, good).reference is good
    for wrong in (
        {name: getattr(good, name)[:0] for name in Reference._fields[1:-1]},
        {"coordinates": good.coordinates[:-1]},
        {"coordinates": np.full_like(good.coordinates, np.nan)},
        {"rates": np.full_like(good.rates, np.inf)},
        {"pose": good.pose[:, :6]},
        {"period": 2e-3},
    ):
        with refused("motion"):
            Cascade(stewart, good._replace(**wrong))


def test_supervisors_begin_anew(stewart):
    """One that had seen nearly half a second of limits stopped the next run at once."""

    class Watched(Written):
        """Always limited, and always with the same supervisor."""

        limited = True

        def supervisor(self):
            return watch

    controller = Watched(stewart, still)
    watch = Supervisor(stewart, controller.reference, controller.period, saturation=0.05)
    for _ in range(3):
        assert run(stewart, controller, 0.04).stopped == ""
    assert "saturated" in run(stewart, controller, 0.06).stopped
