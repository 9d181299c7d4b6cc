"""Loops that are steered while they run: other references, other controllers, bounded records."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from closed_loops import angles, heave
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from refusals import assert_all_refused, refused
from tolerance import assert_within, max_abs

import twin
from twin.control import controller_names, make_controller
from twin.control.cascade import Cascade
from twin.control.controller import (
    Reference,
    Supervisor,
    reference_of,
    sample_reference,
)
from twin.control.loop import FADE_TIME, ClosedLoop
from twin.engines.base import suitable_timestep
from twin.errors import StateError
from twin.motion import SineMotion
from twin.plant.plant import Plant

PAIRS = [
    *[(name, "stewart") for name in controller_names()[:6]],
    *[(name, "micro_hexapod") for name in ("feedforward", "iff", "dvf", "hac_lac")],
    *[(name, "compliant_stewart") for name in ("cascade", "iff")],
    *[(name, "driving_simulator") for name in ("cascade", "computed_torque", "ilqr")],
    ("ilqr", "stewart"),
]
"""Controllers on rigid legs, struts, springs in series, and fewer dof than actuators."""

assert {name for name, _ in PAIRS} == set(controller_names())

PAST = 4
"""Rows before the present that a window begins with: derivatives of the first ones are one-sided,
twice taken for what transmissions wind up, and between rows a cubic looks one row back."""


class Run(NamedTuple):
    """What came of a loop, one row per step of the engine."""

    forces: NDArray[np.float64]
    efforts: NDArray[np.float64]
    loop: ClosedLoop

    @property
    def jumps(self):
        """Largest change of a motor's effort in every step."""
        return np.asarray(np.abs(np.diff(self.efforts, axis=0)).max(axis=1))

    @property
    def errors(self):
        """Largest error of an actuator in every control period."""
        signals = self.loop.signals()
        return np.asarray(np.abs(signals["setpoint"] - signals["measured"]).max(axis=1))


def run(
    platform,
    controller,
    duration,
    steer=lambda step, loop: None,
    **options,
):
    """Run a loop; `steer(step, loop)` is called before every control period."""
    loop = ClosedLoop(platform, controller, **options)
    timestep = min(5e-4, suitable_timestep(platform))
    engine = twin.make_engine("analytic", platform, timestep=timestep, fidelity="fast")
    state = engine.reset(None, None, loop.springs(None))
    loop.start(timestep, state)
    forces, efforts = [], []
    ratio = round(controller.period / timestep)
    for index in range(round(duration / timestep)):
        if index % ratio == 0:
            steer(index // ratio, loop)
        forces.append(loop.step(index, state).copy())
        efforts.append(loop.plant.efforts)
        state = engine.step(forces[-1])
    engine.close()
    return Run(np.array(forces), np.array(efforts), loop)


def window(whole, begin, end):
    """Return the rows from `begin` to `end` of a reference, of which row 0 is period 0."""
    first = max(begin, 0)
    rows = {name: getattr(whole, name)[first:end] for name in Reference._fields[1:-1]}
    return whole._replace(begin=first, **rows)


def bent(platform, period, at):
    """Return a motion, and one that leaves it smoothly for a lower place at a time [s]."""
    whole = sample_reference(platform, heave(platform, 1.2), period)
    time = period * np.arange(len(whole.time))
    u = np.clip((time - at) / 0.4, 0.0, 1.0)
    share = u**3 * (10.0 - 15.0 * u + 6.0 * u**2)
    slope = (30.0 * u**2 - 60.0 * u**3 + 30.0 * u**4) / 0.4
    curve = (60.0 * u - 180.0 * u**2 + 120.0 * u**3) / 0.16
    way = 0.5 * float(np.ptp(whole.pose[:, 2]))
    pose, twist, acceleration = (part.copy() for part in whole[2:5])
    for part, form in ((pose, share), (twist, slope), (acceleration, curve)):
        part[:, 2] -= way * form
    return whole, reference_of(platform, period, time, pose, twist, acceleration)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "machine"), [pair for pair in PAIRS if pair[0] != "dvf"])
def test_another_target_half_way_makes_no_jump(name, machine):
    """Redirected to it, a machine moves as if it had always known the other motion.

    But for the few milliseconds in which the controller would have looked ahead to it.
    """
    platform = twin.load(machine)
    period = make_controller(name, platform).period
    at, duration = 0.1, 0.16
    straight, other = bent(platform, period, at)
    step = round(at / period)

    def steer(now, loop):
        if now == step:
            loop.redirect(window(other, step - PAST, len(other.time)))

    known = run(platform, make_controller(name, platform, other), duration)
    turned = run(platform, make_controller(name, platform, straight), duration, steer)
    assert turned.loop.stopped == ""
    row = round(duration / period)
    assert np.abs(other.coordinates - straight.coordinates)[row].any()
    size = max_abs(known.forces)
    assert_within(turned.forces, known.forces, 1e-3 * size)


WAY, LENGTH = 0.02, 0.4 + FADE_TIME + 0.1
"""[m] of the motion of `heave` on `stewart`; [s] of a run with a change of controllers at 0.4 s,
when what the start leaves has gone."""


@cache
def alone(configuration, name, options=()):
    """Return a run under one controller."""
    platform = twin.load("stewart", configuration)
    motion = heave(platform, LENGTH + 0.2)
    return run(platform, make_controller(name, platform, motion, **dict(options)), LENGTH)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("configuration", "name", "other", "options"),
    [
        (None, "cascade", "computed_torque", ()),
        ("hardware", "cascade", "computed_torque", ()),
        ("hardware", "computed_torque", "cascade", ()),
        (None, "cascade", "cascade", (("position_gain", 12.0),)),
        ("hardware", "cascade", "cascade", (("velocity_gain", 10e3),)),
        (None, "cascade", "loop_shaping", ()),
        ("hardware", "lqr", "feedforward", ()),
        ("hardware", "feedforward", "observer", ()),
    ],
)
def test_another_controller_takes_over_without_a_jump(configuration, name, other, options):
    """In the first ten periods no larger change of effort than by either controller alone.

    Alone they change it by drives' friction, encoders' steps and the motion. The error that the
    other would answer to with several hundred newtons is given up slowly; what friction and
    encoders give the motors just then moves the machine by hundredths of its way.
    """
    platform = twin.load("stewart", configuration)
    motion = heave(platform, LENGTH + 0.2)
    new = make_controller(other, platform, motion, **dict(options))
    old = make_controller(name, platform, motion)

    def steer(step, loop):
        if step == 400:
            new.redirect(window(new.reference, step - PAST, len(new.reference.time)))
            loop.replace(new)

    first, second = alone(configuration, name), alone(configuration, other, options)
    both = run(platform, old, LENGTH, steer)
    assert both.loop.stopped == ""
    assert both.loop.controller is new
    usual = max(first.jumps[20:].max(), second.jumps[20:].max())
    assert both.jumps[799:820].max() <= 1.5 * usual
    assert both.errors.max() <= 1.2 * max(first.errors.max(), second.errors.max()) + 0.015 * WAY
    # Afterwards it follows as if it had always done so.
    assert both.errors[-50:].max() <= 1.2 * second.errors.max() + 0.015 * WAY


@pytest.mark.parametrize("machine", ["micro_hexapod", "compliant_stewart"])
def test_springs_do_not_feel_another_controller(machine):
    """Struts: what stretches their springs is carried over; `hac_lac` may have another period."""
    platform = twin.load(machine)
    motion = heave(platform, 0.6)
    old = make_controller("cascade", platform, motion)
    new = make_controller("hac_lac", platform, motion)

    def steer(step, loop):
        if step == 100:
            loop.replace(new)

    usual, other = (
        run(platform, make_controller(name, platform, motion), 0.15)
        for name in ("cascade", "hac_lac")
    )
    both = run(platform, old, 0.15, steer)
    assert both.loop.stopped == ""
    index = round(0.1 / 0.15 * len(both.forces))
    size = max_abs(usual.efforts)
    assert both.jumps[index - 1 : index + 20].max() <= 0.1 * size
    # The cascade lets these machines swing: a rate that is found is no rate to go on with.
    largest = max(usual.errors.max(), other.errors.max())
    assert both.errors.max() <= largest + 0.1 * np.ptp(old.reference.coordinates)


def test_records_of_another_controller_begin_anew(stewart):
    motion = heave(stewart, 0.2)
    others = {50: "computed_torque", 80: "computed_torque"}

    def steer(step, loop):
        if step in others:
            loop.replace(make_controller(others[step], stewart, motion))

    signals = run(stewart, Cascade(stewart, motion), 0.1, steer).loop.signals()
    assert "task_error" in signals
    assert {len(rows) for rows in signals.values()} == {50}
    assert_within(signals["time"], 1e-3 * np.arange(50, 100), 1e-12)


def test_keep_bounds_the_records(stewart):
    motion = heave(stewart, 0.2)
    whole = run(stewart, Cascade(stewart, motion), 0.1).loop.signals()
    last = run(stewart, Cascade(stewart, motion), 0.1, keep=30).loop.signals()
    assert set(last) == set(whole)
    for name, rows in last.items():
        assert_array_equal(rows, whole[name][-30:])


def test_keep_is_a_number_of_periods(stewart):
    assert_all_refused(
        lambda keep: ClosedLoop(stewart, Cascade(stewart), keep=keep),
        [(0, "keep"), (2.5, "keep"), (True, "keep")],
    )


@pytest.mark.parametrize("name", controller_names()[:6])
def test_references_that_do_not_fit_change_nothing(name, stewart):
    whole = sample_reference(stewart, heave(stewart, 0.5))
    others = twin.load("driving_simulator")
    wrong = [
        sample_reference(others, heave(others, 0.5)),
        sample_reference(stewart, heave(stewart, 0.5), 2e-3),
        window(whole, 10, 10),
        whole._replace(begin=1.5),
        whole._replace(rates=np.full_like(whole.rates, np.nan)),
        heave(stewart),
    ]

    def steer(step, loop):
        if step < len(wrong):
            with refused("reference"):
                loop.redirect(wrong[step])

    quiet = run(stewart, make_controller(name, stewart, whole), 0.05)
    tried = run(stewart, make_controller(name, stewart, whole), 0.05, steer)
    assert_array_equal(tried.forces, quiet.forces)
    assert tried.loop.controller.reference is whole


def test_controllers_that_do_not_fit_change_nothing(stewart):
    motion = heave(stewart, 0.5)
    wrong = [
        "cascade",
        Cascade(twin.load("driving_simulator")),
        Cascade(stewart, motion, period=7e-4),
        Cascade(stewart, motion, velocity_gain=1e9),
    ]

    def steer(step, loop):
        if step < len(wrong):
            with refused():
                loop.replace(wrong[step])

    quiet = run(stewart, Cascade(stewart, motion), 0.05)
    tried = run(stewart, Cascade(stewart, motion), 0.05, steer)
    assert_array_equal(tried.forces, quiet.forces)


def test_stopped_machines_are_not_taken_over(stewart):
    silent = Plant(stewart, dropouts=[(0.02, 9.0)])
    stopped = run(stewart, Cascade(stewart, heave(stewart)), 0.05, plant=silent).loop
    assert stopped.stopped
    with pytest.raises(StateError, match="start the loop again"):
        stopped.replace(Cascade(stewart))


def test_the_safe_stop_keeps_its_gains_after_a_replacement():
    """With late drives the other controller's gains are on their way when the machine stops."""
    platform = twin.load("stewart", "hardware")
    assert Plant(platform).delay > 1e-3
    new = Cascade(platform, heave(platform), velocity_gain=3e3)
    silent = Plant(platform, dropouts=[(0.1, 9.0)])
    watch = Supervisor(platform, new.reference, new.period, patience=1e-6)

    def steer(step, loop):
        if step == 99:
            loop.replace(new, watch)

    plain = run(platform, Cascade(platform, heave(platform)), 0.4, plant=silent)
    again = Plant(platform, dropouts=[(0.1, 9.0)])
    taken = run(platform, Cascade(platform, heave(platform)), 0.4, steer, plant=again)
    assert taken.loop.stopped.startswith("sensor dropout")
    assert plain.loop.stopped
    assert_within(taken.efforts[-1], plain.efforts[-1], 0.3 * max_abs(plain.efforts))


def test_supervisors_follow(stewart):
    """A reference that leaves the workspace is seen, and told with the time of the loop."""
    far = SineMotion(
        stewart.home, amplitude={"z": 5.0}, frequency=1.0, duration=0.3, convention=angles(stewart)
    )
    unreachable = sample_reference(stewart, far)._replace(begin=30)
    step = 30 + int(np.argmin(unreachable.reachable))
    given = Supervisor(stewart, sample_reference(stewart, heave(stewart)), 1e-3, following=100.0)
    for watch in (None, given):

        def steer(now, loop):
            if now == step:
                loop.redirect(unreachable)

        told = run(stewart, Cascade(stewart), 0.15, steer, supervisor=watch).loop.stopped
        assert told.startswith(f"unreachable pose: the reference at {step * 1e-3:.6g} s is")


def test_rows_before_a_reference_are_its_first(stewart):
    late = sample_reference(stewart, heave(stewart, 0.1))._replace(begin=20)
    assert [late.row(step) for step in (0, 20, 21, 500)] == [0, 0, 1, 100]
    assert late._replace(begin=-20).row(0) == 20
