"""Calibration recovers known errors: exactly from exact data, within its intervals from noisy."""

from dataclasses import replace

import numpy as np
import pytest
from redundant import machine_tool
from refusals import assert_all_refused, assert_each_refused, refused
from tolerance import assert_within, max_abs

import twin
from twin.calibration import (
    Frames,
    LegErrors,
    MeasuredPoses,
    calibrate,
    poses_within,
    simulated,
)
from twin.calibration.measured import POSE_COMPONENTS
from twin.calibration.measurement_model import MeasurementModel, Residuals
from twin.calibration.pose_plan import plan
from twin.calibration.solution import gauge_of
from twin.rotations import displaced, displacement, pose

pytestmark = pytest.mark.quick

MACHINES = ("stewart", "micro_hexapod", "rss", "compliant_stewart", "driving_simulator")
"""One of every kind of leg."""

SOMEWHERE = Frames(pose(1.0, 2.0, 0.3, 0.1, 0.2, 0.5), pose(0.1, 0.15, 0.05, 0.1, -0.2, 0.3))
SPREAD = 2e-4
"""[m]"""


def true_errors(machine, seed=3):
    legs = LegErrors(machine)
    return SPREAD * legs.scales * np.random.default_rng(seed).normal(size=legs.shape)


def measured(name, frames, **settings):
    """Return a machine, its true errors, and 40 poses of it."""
    machine = twin.load(name)
    errors = true_errors(machine)
    poses = poses_within(machine, 40, seed=1)
    return machine, errors, simulated(machine, poses, errors, frames=frames, **settings)


def largest_error(found, poses):
    return float(np.nanmax(np.concatenate(found.errors_of(poses)[1])))


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name != "stewart")) for name in MACHINES],
)
@pytest.mark.parametrize("frames", ["both", "known"])
def test_exact_poses_give_the_machine(name, frames):
    given = SOMEWHERE if frames == "both" else Frames()
    machine, errors, poses = measured(name, given)
    found = calibrate(machine, poses, frames=frames, holdout=0.0)
    other = poses_within(machine, 20, seed=2)
    seen = simulated(machine, other, errors, frames=given)
    # Without noise, only what the poses do not show may be wrong; it does not move the platform.
    if not len(found.after.unobservable):
        assert largest_error(found, seen) < 1e-9
    assert largest_error(found, poses) < (1e-9 if not len(found.after.unobservable) else 1e-5)
    assert found.gauge.free >= (12 if frames == "both" else 0)


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("parts", [None, ("x", "z", "pitch"), ("yaw", "pitch", "roll")])
def test_derivatives_of_residuals(name, parts):
    machine = twin.load(name)
    settings = {"frames": SOMEWHERE, "measured": parts or POSE_COMPONENTS}
    poses = simulated(machine, poses_within(machine, 6), **settings)
    model = MeasurementModel(LegErrors(machine), SOMEWHERE, (True, True))
    residuals = Residuals(model, poses)
    random = np.random.default_rng(1)
    at, way = random.normal(size=(2, model.size)) * [[1e-3], [1.0]]
    if machine.dof < machine.n_actuators:
        at *= 0.0  # Only coordinates that do not contradict each other have exact derivatives.
    step = 1e-5
    values = [residuals.values(at + k * step * way) for k in (-2, -1, 1, 2)]
    slope = (values[0] - 8.0 * values[1] + 8.0 * values[2] - values[3]) / (12.0 * step)
    exact = residuals.slopes(at) @ way
    assert max_abs(exact) > 1.0
    assert_within(exact, slope, 1e-7 * max_abs(exact))


PARTS = {
    ("x", "y", "z"): "turn of the target",
    ("pitch", "roll"): "turn of the tracker z",
    ("yaw", "pitch", "roll"): "place of the t",
    ("x", "y", "z", "pitch", "roll"): "",
}
"""Components measured -> what they do not show while both frames are unknown."""


@pytest.mark.slow
def test_partial_measurements(subtests):
    for parts in PARTS:
        with subtests.test(f"{parts}"):
            machine, errors, poses = measured("stewart", SOMEWHERE, measured=parts)
            found = calibrate(machine, poses, holdout=0.0)
            seen = simulated(
                machine, poses_within(machine, 20, 2), errors, frames=SOMEWHERE, measured=parts
            )
            before, after = (np.nanmax(np.concatenate(each)) for each in found.errors_of(seen))
            assert after < 0.05 * before
            names = " / ".join(found.unobservable)
            assert PARTS[parts] in names
            assert bool(names) == bool(PARTS[parts])
            hidden = [k for k, name in enumerate(found.model.names) if name in found.unobservable]
            assert np.abs(found.after.unknowns[hidden]).max(initial=0.0) < 1e-15, (
                "guessed, not shown"
            )


def test_rows_may_be_measured_in_different_parts():
    machine, errors, poses = measured("micro_hexapod", SOMEWHERE)
    values = poses.values.copy()
    values[::3, 3:] = np.nan
    values[1::3, :2] = np.nan
    found = calibrate(machine, replace(poses, values=values), holdout=0.0)
    seen = simulated(machine, poses_within(machine, 20, 2), errors, frames=SOMEWHERE)
    assert largest_error(found, seen) < 1e-9


@pytest.mark.slow
def test_intervals_hold_the_truth():
    scores = []
    for seed in range(10):
        machine = twin.load("stewart")
        errors = true_errors(machine, seed)
        poses = simulated(machine, poses_within(machine, 60, seed), errors, seed=seed)
        found = calibrate(machine, poses, frames=("known", "both")[seed % 2], holdout=0.0)
        model = found.model
        moved = [displacement(Frames()[k], model.frames[k]) for k in range(2)]
        truth = np.concatenate([errors.ravel(), *moved])
        off = found.after.unknowns - truth / np.where(model.scales, model.scales, np.inf)
        slopes = Residuals(model, poses).slopes(found.after.unknowns).reshape(-1, model.size)
        # Combinations that the poses show, in standard deviations.
        scores.append(np.linalg.svd(slopes @ found.gauge.basis)[0][:, :42].T @ slopes @ off)
    within = np.abs(np.concatenate(scores)) < 1.96
    assert 0.92 < within.mean() < 0.98
    assert 0.8 < np.mean(np.concatenate(scores) ** 2) < 1.2


@pytest.mark.slow
def test_a_tolerance_keeps_what_is_not_shown_near_the_file():
    machine, errors, poses = measured("rss", Frames(), seed=1)
    free = calibrate(machine, poses, frames="known")
    held = calibrate(machine, poses, frames="known", tolerance=SPREAD)
    assert np.isinf(free.standard_errors).any()
    assert (held.standard_errors < 1.01 * SPREAD * held.model.errors.scales).all()
    other = simulated(machine, poses_within(machine, 30, 2), errors)
    assert held.errors_of(other)[1].position.mean() < free.errors_of(other)[1].position.mean()


@pytest.mark.seconds
def test_wrong_poses_are_left_out():
    machine, errors, poses = measured("stewart", SOMEWHERE, seed=1)
    values = poses.values.copy()
    values[[5, 17], :3] += [[1e-3, 0.0, 0.0], [0.0, -2e-3, 0.0]]
    found = calibrate(machine, replace(poses, values=values), robust=True, holdout=0.0)
    assert found.left_out.numbers.tolist() == [6.0, 18.0]
    clean = poses.kept(np.setdiff1d(np.arange(40), [5, 17]))
    same = calibrate(machine, clean, holdout=0.0)
    assert_within(displacement(found.frames.tracker, same.frames.tracker)[:3], 0, 1e-6)
    seen = simulated(machine, poses_within(machine, 20, 2), errors, frames=SOMEWHERE)
    assert largest_error(found, seen) < 3.0 * largest_error(same, seen)


@pytest.mark.slow
def test_wrong_poses_are_found_among_those_kept_apart_and_no_others_named(stewart):
    """Two poses of sixty are 5 mm off, one of them kept apart; all others are in the final fit."""
    at = poses_within(stewart, 60, seed=3)
    poses = simulated(stewart, at, true_errors(stewart), frames=SOMEWHERE, seed=4)
    kept_apart = calibrate(stewart, poses).holdout.numbers[2]
    values = poses.values.copy()
    wrong = [int(np.flatnonzero(poses.numbers == kept_apart)[0]), 25]
    values[wrong, 0] += 5e-3
    spoilt = replace(poses, values=values)
    found = calibrate(stewart, spoilt, robust=True)
    assert found.left_out.numbers.tolist() == sorted(poses.numbers[wrong].tolist())
    assert len(found.used) == 58
    assert not len(found.suspects)
    assert np.nanmax(found.checked_errors()[1].position) < 5e-4
    named = calibrate(stewart, spoilt)
    assert named.suspects.numbers.tolist() == found.left_out.numbers.tolist()


def test_gauge_is_that_of_the_frames(stewart):
    legs = LegErrors(stewart)
    for free, count in (((True, True), 12), ((True, False), 6), ((False, True), 6)):
        assert gauge_of(MeasurementModel(legs, Frames(), free)).free == count
    assert gauge_of(MeasurementModel(legs, Frames(), (False, False))).free == 0


def test_few_poses_are_said_to_show_little():
    machine, _, poses = measured("stewart", Frames())
    found = calibrate(machine, poses.kept(slice(3)), frames="known")
    assert found.after.rank <= 18
    assert len(found.unobservable) == 42 - found.after.rank
    again = MeasuredPoses(
        *(np.tile(a, (4, 1)) for a in (poses.coordinates[:3], poses.values[:3], poses.noise[:3])),
        np.arange(12.0),
    )
    assert calibrate(machine, again, frames="known").after.rank <= 18


def test_swapped_legs_are_named():
    machine, _, poses = measured("stewart", SOMEWHERE, seed=1)
    with refused("legs 2 and 5 seem to be swapped"):
        calibrate(machine, poses.with_legs([0, 4, 2, 3, 1, 5]))


@pytest.mark.slow
def test_poses_of_another_machine_are_refused():
    machine, _, poses = measured("stewart", SOMEWHERE)
    with refused("or --frames both"):
        calibrate(machine, poses, frames="known")
    with refused("rows belong together"):
        calibrate(machine, replace(poses, values=np.roll(poses.values, 1, axis=0)))


def test_wrong_units():
    machine, _, poses = measured("stewart", SOMEWHERE, measured=("x", "y", "z"))

    def calibrated(name, factor):
        calibrate(machine, replace(poses, **{name: factor * getattr(poses, name)}))

    assert_all_refused(
        calibrated,
        [
            ("coordinates", 1e3, "mm taken for m"),
            ("values", 1e3, "check units"),
            ("values", 1e-3, "check units"),
        ],
    )


def test_measured_poses_check_their_arrays():
    poses = MeasuredPoses(np.zeros((3, 6)), np.zeros((3, 6)), np.ones((3, 3)), np.arange(3.0))
    assert_each_refused(
        lambda **arrays: replace(poses, **arrays),
        {
            "coordinates": [np.zeros((2, 6)), "none"],
            "values": [np.zeros((3, 5))],
            "noise": [np.full((3, 3), -1.0)],
            "numbers": [[0.0, np.nan, 1.0]],
            "platform": [np.zeros((2, 7))],
        },
    )


def test_poses_without_a_measured_component_are_refused():
    machine, _, poses = measured("stewart", Frames())
    with refused("none has a measured component"):
        calibrate(machine, replace(poses, values=np.full_like(poses.values, np.nan)))


def test_wrong_options():
    machine, _, poses = measured("stewart", Frames())
    assert_each_refused(
        lambda **options: calibrate(machine, poses, **options),
        {"frames": ["none"], "tolerance": [-1.0], "holdout": [0.9], "robust": [2]},
    )
    for poses, options in ((np.zeros((1, 4, 7)), {}), (machine.home, {"frames": 0})):
        with refused():
            simulated(machine, poses, **options)


@pytest.mark.slow
def test_a_draft_of_a_machine_is_calibrated():
    """Joints up to 8 mm off in each axis move poses by more than 5 % of the arm."""
    machine = machine_tool()
    legs = LegErrors(machine)
    errors = 8e-3 * legs.scales * np.random.default_rng(1).uniform(-1.0, 1.0, legs.shape)
    steps = np.random.default_rng(2).uniform(-1.0, 1.0, (40, 6)) * np.repeat([0.1, 0.2], 3)
    places = displaced(np.tile(machine.home, (40, 1)), steps)
    poses = simulated(machine, places, errors)
    found = calibrate(machine, poses, frames="known")
    before, after = found.errors_of(found.used)
    assert np.sqrt(np.mean(before.position**2)) > 0.05 * machine.parameters.mean_arm
    # What is left are combinations of errors that these poses do not show.
    assert after.position.max() < 0.02 * before.position.mean()


def test_poses_of_the_plan_are_found_again():
    """The straight way from home to some of them passes a singular pose."""
    assert len(plan(machine_tool(), 10, measured=("x", "y", "z")).poses) == 10
