"""A hidden machine of the catalogue, moved by a controller that knows the file alone."""

from functools import lru_cache

import numpy as np

import twin
from twin.control import make_controller
from twin.control.controller import DEFAULT_PERIOD, sample_reference
from twin.engines import make_engine
from twin.identification.parameters import gravity_field, select
from twin.link.recording import Recording
from twin.logs import Log, log_of
from twin.motion.profiles import MultiSineMotion
from twin.shadow.rehearsal import work

HIDDEN = {
    "platform.body.mass": 101.3,
    "platform.body.center_of_mass.0": 0.012,
    "leg.drive.friction_torque": 0.262,
    "leg.drive.delay": 0.003,
}

TIMESTEP = 6.25e-5
"""[s] Step of the engine: its error is well below what an identification sees."""

FREQUENCIES = np.array([0.7, 1.3, 2.9, 4.1])


@lru_cache(maxsize=1)
def nominal():
    return twin.load("stewart", configuration="hardware")


SPEEDS = {"x": 0.04, "y": 0.04, "z": 0.03, "roll": 0.06, "pitch": 0.06, "yaw": 0.08}


AXES = tuple(SPEEDS)

FAST = np.array([1.0, 1.0, 1.6, 1.6])
"""Times the speed of each sine, where the fast ones shall unload legs."""


def sines(machine, speeds, duration=2.0, *, frequencies=FREQUENCIES, fade_in=0.3, seed=0):
    """Return sines on axes; `speeds` are those of each one [m/s, rad/s] by axis."""
    return MultiSineMotion(
        machine.home,
        frequencies=frequencies,
        amplitude={axis: speed / (2.0 * np.pi * frequencies) for axis, speed in speeds.items()},
        duration=duration,
        phases="random",
        seed=seed,
        fade_in=fade_in,
    )


@lru_cache(maxsize=4)
def recorded(
    controller="computed_torque",
    duration=2.0,
    tilt=(),
    engine="analytic",
):
    """Return a run of the hidden machine along a multi-sine, on a base with tilts [rad]."""
    machine = nominal()
    motion = sines(machine, SPEEDS, duration)
    hidden = machine.with_(parameters=HIDDEN)
    law = make_controller(controller, hidden, motion)
    if not tilt:
        return hidden.simulate(duration, controller=law, timestep=TIMESTEP, engine=engine)
    # Felt on a level base that is accelerated by the difference.
    field = gravity_field(machine, select(machine, "gravity"), tilt)
    base, away = make_engine(engine, hidden, TIMESTEP), gravity_field(machine, (), ()) - field
    place = base.reset

    def reset(*start):
        place(*start)
        base.shake(away)
        return base.state

    base.reset = reset
    return hidden.simulate(duration, controller=law, engine=base)


def moved(file, truth, motion, timestep=TIMESTEP, model=None, **options):
    """Return the log of a machine that differs from its file, under a law that knows a model.

    The model is that of the file unless another one is given.
    """
    hidden = file.with_(parameters=truth)
    law = make_controller("computed_torque", hidden, motion, model=model or file)
    run = hidden.simulate(motion.duration, controller=law, timestep=timestep, **options)
    assert not run.stopped
    return log_of(run)


def emulated(file, hidden, motion, seed=0):
    """Return the log of an emulated machine that follows a motion; its readings have no noise."""
    reference = sample_reference(file, motion, DEFAULT_PERIOD)
    return log_of_samples(file, work(file, reference, hidden=hidden, noise={}, seed=seed))


def log_of_samples(machine, samples):
    """Return the log of a machine's samples."""
    recording = Recording(machine, DEFAULT_PERIOD)
    for sample in samples:
        recording.add(sample)
    return recording.log()


def part(log, *names):
    """Return some signals of a log."""
    return Log(tuple(log[name] for name in names))


def drive_forces(machine, pose, twist, acceleration):
    """Return the forces `(k, n)` [N] of motors beyond those on legs: inertia and friction."""
    drive, jacobian = machine.parameters.leg.drive.reflected(), machine.jacobian(pose)
    slopes = machine.jacobian_derivative(pose, twist)
    rates, turned, moved = (
        np.einsum("kij,kj->ki", matrix, vector)
        for matrix, vector in ((jacobian, twist), (slopes, twist), (jacobian, acceleration))
    )
    return (
        drive.inertia * (turned + moved) + drive.viscous * rates + drive.friction * np.sign(rates)
    )
