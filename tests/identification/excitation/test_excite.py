"""Exciting motions: within limits, from rest to rest, and better than random ones."""

import numpy as np
import pytest
from refusals import assert_each_refused, refused
from tolerance import assert_within, max_abs

import twin
from twin.identification.excitation import (
    ExcitingMotion,
    excite,
    force_jacobian,
    motion_table,
    predictable,
)
from twin.identification.parameters import gravity_field, select, with_parameters
from twin.motion import read_recording

pytestmark = pytest.mark.quick

GROUPS = "payload, gravity, leg.drive.delay"


def determinant(found, name):
    """Return the logarithm of the determinant of the information of a motion."""
    return float(np.log1p(getattr(found, name).singular_values ** 2).sum())


@pytest.fixture(scope="module", params=["stewart", "driving_simulator"])
def found(request):
    machine = twin.load(request.param, "hardware")
    return excite(machine, select(machine, GROUPS), 6.0, rounds=12, progress=False)


@pytest.mark.slow
def test_the_motion_keeps_all_limits_and_rests_at_both_ends(found):
    assert found.feasibility.feasible
    # A motion that is much smaller than the machine allows shows less.
    assert found.feasibility.margins[0].share > 0.5
    ends = found.motion([0.0, 6.0])
    assert_within(ends.pose, np.tile(found.motion.center, (2, 1)), 1e-12)
    assert_within([ends.twist, ends.acceleration], 0.0, 1e-9)


@pytest.mark.slow
def test_it_shows_more_than_a_random_motion(found):
    assert determinant(found, "visibility") > determinant(found, "random") + 1.0
    assert (found.visibility.shares < 1.0 + 1e-12).all()


@pytest.mark.slow
def test_parameters_without_a_body_have_motions_too(subtests):
    for paths in ["sensors", "signal.forces.scale", "drives"]:
        with subtests.test(f"{paths}"):
            machine = twin.load("stewart")
            found = excite(machine, select(machine, paths), 3.0, rounds=1, progress=False)
            assert (found.visibility.shares < 1.0).all()


@pytest.mark.slow
def test_it_follows_from_the_seed(stewart):
    chosen = select(stewart, "platform.body.mass")
    one, same, other = (
        excite(stewart, chosen, 3.0, rounds=1, seed=seed, progress=False) for seed in (1, 1, 2)
    )
    assert motion_table(one.motion) == motion_table(same.motion) != motion_table(other.motion)


@pytest.mark.seconds
def test_derivatives_are_those_of_forces_of_changed_machines(stewart):
    chosen = select(stewart, "payload, gravity, signal.forces.delay, signal.forces.scale")
    amplitudes = np.full((2, 6, 2), 0.01)
    motion = ExcitingMotion(stewart, 4.0, [0.5, 1.0], amplitudes)
    rows, legs = force_jacobian(stewart, chosen, motion, 7)
    time = (np.arange(7) + 0.5) * 4.0 / 7.0
    sample = motion(time)
    nominal = np.array([each.nominal for each in chosen])
    for column, parameter in enumerate(chosen):
        found = []
        for side in (1.0, -1.0):
            values = nominal.copy()
            values[column] += side * 1e-3 * parameter.prior_std
            at = sample
            if parameter.path == "signal.forces.delay":
                at = motion(time - values[column])
            forces = with_parameters(stewart, chosen, values).inverse_dynamics(*at)
            field = gravity_field(stewart, chosen, values)
            field[2] += stewart.parameters.gravity
            slopes = stewart.inverse_dynamics_derivatives(*at).gravity
            forces = forces + slopes @ field
            found.append(forces * (values[column] if parameter.path.endswith("scale") else 1.0))
        expected = (found[0] - found[1]) / (2e-3 * parameter.prior_std)
        size = max_abs(expected)
        assert max_abs(rows[:, column].reshape(6, 7).T - expected) < 1e-5 * size, parameter.path
    assert legs.tolist() == np.repeat(range(6), 7).tolist()


def test_the_table_plays_the_same_motion(stewart, tmp_path):
    amplitudes = np.random.default_rng(0).normal(scale=0.01, size=(3, 6, 2))
    motion = ExcitingMotion(stewart, 5.0, [0.4, 1.0, 2.6], amplitudes)
    file = tmp_path / "motion.csv"
    file.write_text(motion_table(motion))
    played = read_recording(file, stewart.home)
    time = np.linspace(0.0, 5.0, 333)
    assert_within(played(time).pose, motion(time).pose, 1e-7)
    difference = played(time).acceleration - motion(time).acceleration
    # At the ends of rise and fall the third derivative jumps between two rows.
    assert max_abs(difference) < 2e-3 * max_abs(motion(time).acceleration)


def test_parameters_that_forces_do_not_show_are_refused_or_listed():
    machine = twin.load("stewart", "hardware")
    chosen = select(machine, "drives")
    known, others = predictable(machine, chosen)
    assert {each.path.rpartition(".")[2] for each in others} == {"backlash", "stiffness", "damping"}
    assert {each.path.rpartition(".")[2] for each in known} >= {"delay", "current_lag", "scale"}
    with refused(r"no motion can be made for leg.drive.backlash"):
        excite(machine, select(machine, "leg.drive.backlash"), 5.0)


def test_wrong_options_are_refused(stewart):
    payload = select(stewart, "payload")
    assert_each_refused(
        lambda **options: excite(stewart, payload, **{"duration": 5.0, "rounds": 1} | options),
        {
            "duration": [1.0],
            "high": [50.0],
            "noise": [-1.0, 1e-300],
            "rounds": [2.5, "many"],
            "seed": [-1],
        },
    )
